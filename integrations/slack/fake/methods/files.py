"""Files in three steps (a URL, the upload, completion) and canvases, just far enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from integrations.slack.fake import changes
from integrations.slack.fake.server import guards, shapes
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

from integrations.slack.fake.workspace import File

_ALT_TEXT: Final = 1_000
_SIZE: Final = 20_000_000
_CHANNELS: Final = 100
_CANVAS: Final = 1_048_576


def upload_url(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Issue the URL that a file is uploaded to."""
    length = args.number("length", 0)
    if len(args.text("alt_txt")) > _ALT_TEXT:
        raise ErrorAnswer("alt_txt_too_large")
    if not 0 < length <= _SIZE:
        raise ErrorAnswer("file_upload_size_restricted")
    file = File(
        slack.next_id("F"),
        args.text("filename"),
        length,
        caller.user,
        alt_text=args.text("alt_txt"),
        created=int(slack.now()),
    )
    slack.workspace.files[file.id] = file
    return {"upload_url": f"{slack.base_url}/upload/{file.id}", "file_id": file.id}


def complete(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Complete an upload, once, and share the files in channels; without a channel they stay private."""
    files = [_uploaded(slack, part) for part in args.json("files") or []]
    if not files:
        raise ErrorAnswer("file_not_found")
    names = [args.text("channel_id")] if "channel_id" in args else args.names("channels")
    if len(names) > _CHANNELS:
        raise ErrorAnswer("channels_limit_exceeded")
    channels = [guards.open_channel(slack, caller, name) for name in names]
    for file in files:
        file.state, file.channels = "complete", [channel.id for channel in channels]
    written = [shapes.file(file, base_url=slack.base_url) for file in files]
    for channel in channels:
        changes.share(
            slack,
            channel,
            caller.user,
            files,
            text=args.text("initial_comment"),
            thread_ts=args.text("thread_ts"),
            bot_id=slack.bot.bot_id,
        )
    return {"files": written}


def _uploaded(slack: FakeSlack, part: dict[str, Any]) -> File:
    file = slack.workspace.files.get(str(part.get("id")))
    if file is None or file.state != "uploaded":
        raise ErrorAnswer("file_not_found")
    file.title = str(part.get("title") or file.name)
    return file


def info(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Describe a file that the caller may see."""
    file = _existing(slack, args)
    if file.state != "complete" or not _may_see(slack, caller, file):
        raise ErrorAnswer("file_not_found")
    return {"file": shapes.file(file, base_url=slack.base_url, workspace=slack.workspace)}


def _may_see(slack: FakeSlack, caller: Caller, file: File) -> bool:
    """Return whether a file is the caller's own, came to them in a modal, or is in a channel they are in."""
    channels = [slack.workspace.channels[id] for id in file.channels]
    return file.user == caller.user or file.handed or any(caller.user in one.members for one in channels)


def delete(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Delete one of your own files."""
    file = _existing(slack, args)
    if file.user != caller.user:
        raise ErrorAnswer("cant_delete_file")
    changes.delete_file(slack, file)
    return {}


def _existing(slack: FakeSlack, args: Args) -> File:
    file = slack.workspace.files.get(args.text("file"))
    if file is None:
        raise ErrorAnswer("file_not_found")
    if file.state == "deleted":
        raise ErrorAnswer("file_deleted")
    return file


def create_canvas(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Give a channel its canvas; it can have only one."""
    channel = guards.member_channel(slack, caller, args.text("channel_id"), otherwise="canvas_creation_failed")
    if channel.canvas_id:
        raise ErrorAnswer("channel_canvas_already_exists")
    channel.canvas_id = slack.next_id("F")
    slack.workspace.canvases[channel.canvas_id] = _markdown(args.json("document_content"))
    return {"canvas_id": channel.canvas_id}


def edit_canvas(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Change a canvas: insert at one end, or replace all of it."""
    id = args.text("canvas_id")
    if id not in slack.workspace.canvases:
        raise ErrorAnswer("canvas_not_found")
    for change in args.json("changes") or []:
        text, old = _markdown(change.get("document_content")), slack.workspace.canvases[id]
        results = {"insert_at_start": text + old, "insert_at_end": old + text, "replace": text}
        if change.get("operation") not in results:
            raise ErrorAnswer("canvas_editing_failed")
        if len(results[change["operation"]]) > _CANVAS:
            raise ErrorAnswer("canvas_too_large")
        slack.workspace.canvases[id] = results[change["operation"]]
    return {}


def _markdown(content: Any) -> str:
    return str(content.get("markdown", "")) if isinstance(content, dict) else ""


METHODS: Final[dict[str, Method]] = {
    "files.getUploadURLExternal": upload_url,
    "files.completeUploadExternal": complete,
    "files.info": info,
    "files.delete": delete,
    "conversations.canvases.create": create_canvas,
    "canvases.edit": edit_canvas,
}
