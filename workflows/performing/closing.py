"""Make a room private, count what remains in a former room, and message someone directly."""

from __future__ import annotations

from collections.abc import Collection

from incidents.models import Incident
from workflows.chat_port import UNTELLABLE, Chat
from workflows.effects.work import Outcome, Work, made
from workflows.models import Resource
from workflows.performing import lost_words, mailing
from workflows.planning.wording.card import Card
from workflows.ports import VendorError

OTHERS = "Some people or apps in the channel are not coming along, so a new private channel is created instead."


def close(chat: Chat, work: Work) -> Outcome:
    """Make the room's channel private; recorded only once the vendor shows it as private.

    Refused while someone is in it who must not be: we remove no one from a channel, so the conversation leaves it
    instead. The same happens if someone joined just before it was closed. Raises ``VendorError``.
    """
    channel = f"channel/{work.effect.room}"
    channel_id = work.channel_id(work.effect.room or 1)
    expected = {*work.effect.spec["people"], chat.self_id}
    _refuse_others(chat, work, channel_id, expected)
    closed = chat.close(channel_id)
    _refuse_others(chat, work, channel_id, expected)
    row = Resource.objects.get(incident=work.effect.incident_id, key=channel)
    kept = Resource(
        key=channel,
        kind="channel",
        room=row.room,
        label=row.label,
        spec=row.spec | {"private": True},
        external=row.external,
        external_id=row.external_id,
        state=row.state,
    )
    return Outcome([made(work, external={}), kept], says=f"made #{closed.name} private")


def _refuse_others(chat: Chat, work: Work, channel_id: str, expected: Collection[str]) -> None:
    if not chat.members(channel_id).issubset(expected):
        raise VendorError(OTHERS, code="others_inside", method=work.effect.method)


def count(chat: Chat, work: Work) -> Outcome:
    """Count what others posted in a room that the conversation left, and withdraw our words that a restore lost."""
    channel_id = work.channel_id(work.effect.room or 1)
    found = chat.remains(channel_id)
    lost_words.withdraw(chat, work.effect.incident, channel_id, found.ours)
    external = {"authors": dict(found.authors), "files": found.files, "more": found.more}
    return Outcome([made(work, external=external)])


def tell(chat: Chat, work: Work) -> Outcome:
    """Send a card to one person directly, or by email if the chat accepts no messages at all.

    Sending it twice after a crash does no harm.
    """
    spec, card = work.effect.spec, Card.from_dict(work.effect.spec["card"])
    try:
        posted = chat.tell(str(spec["person"]), card, mark=work.mark)
    except VendorError as error:
        if error.code not in UNTELLABLE or not _mailed(work, card):
            raise
        says = f"sent by email, because Slack did not accept it. {error.says}"
        return Outcome([made(work, external={"mailed": True})], says=says, data={"room": 0})
    return Outcome([made(work, external={"channel_id": posted.channel_id, "ts": posted.ts, "url": posted.url})])


def _mailed(work: Work, card: Card) -> bool:
    incident = Incident.objects.get(pk=work.effect.incident_id)
    return mailing.send(card, chat_id=str(work.effect.spec["person"]), incident=incident)
