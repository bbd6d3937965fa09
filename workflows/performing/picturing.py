"""Post the picture of evidence in its message's thread; the message never waits for it.

Uploading and sharing are two effects, each a single call that cannot be undone: no one sees an uploaded file until it
is shared, and Slack shares an upload only once, so a worker may die at any point between them.
"""

from __future__ import annotations

from evidence.intake import pictures
from evidence.intake.pictures import NoPicture, Picture
from workflows.chat_port import Chat, Posted
from workflows.effects.work import Outcome, Work, made
from workflows.ports import VendorError


def upload(chat: Chat, work: Work) -> Outcome:
    """Draw the picture and upload it. Raises ``VendorError``."""
    picture = _drawn(work)
    return Outcome([made(work, external={"file": _sent(chat, picture), "title": picture.title})])


def show(chat: Chat, work: Work) -> Outcome:
    """Share the upload; a file that has expired is uploaded again."""
    own = work.external[work.effect.spec["upload"]]
    file_id = str(own["file"])
    try:
        chat.share(file_id, title=own["title"], below=_below(work))
    except VendorError as error:
        if error.code != "file_not_found":
            raise
        picture = _drawn(work)
        file_id = _sent(chat, picture)
        chat.share(file_id, title=picture.title, below=_below(work))
    return _shown(work, file_id)


def look(chat: Chat, work: Work) -> Outcome | None:
    """Check whether it is already shared."""
    file_id = str(work.external[work.effect.spec["upload"]]["file"])
    return _shown(work, file_id) if chat.is_shared(file_id, below=_below(work)) else None


def take_back(chat: Chat, work: Work) -> Outcome:
    """Delete the picture; repeating it does no harm."""
    chat.delete_file(str(work.external[work.effect.thing]["file"]))
    return Outcome(gone=[work.effect.thing])


def _shown(work: Work, file_id: str) -> Outcome:
    return Outcome([made(work, external={"file": file_id})])


def _drawn(work: Work) -> Picture:
    try:
        return pictures.draw(work.effect.incident_id, work.effect.spec["evidence"])
    except NoPicture as error:
        raise VendorError(str(error), code="no_picture", method=work.effect.method, retryable=error.passing) from error


def _sent(chat: Chat, picture: Picture) -> str:
    return chat.upload(picture.name, picture.content, alt=picture.alt)


def _below(work: Work) -> Posted:
    message = work.external[work.effect.spec["post"]]
    return Posted(channel_id=str(message["channel_id"]), ts=str(message["ts"]))
