"""Slack files: ours, shown in a thread, and people's, added as evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from workflows.ports import VendorError

if TYPE_CHECKING:  # a caller with a wire has already loaded Slack's SDK
    from integrations.slack.adapter.wire import Wire

ALT: Final = 1_000
GONE: Final = frozenset({"file_not_found", "file_deleted", "not_visible"})


@dataclass(frozen=True, slots=True)
class ReadableFile:
    """A file that the app may read: its name, size in bytes and URLs."""

    name: str
    size: int
    url: str
    link: str


def upload(wire: Wire, *, name: str, content: bytes, alt: str) -> str:
    """Upload a file and return its id; no one sees it until it is shared."""
    given = wire.call("files.getUploadURLExternal", filename=name, length=len(content), alt_txt=alt[:ALT])
    wire.upload(str(given["upload_url"]), content)
    return str(given["file_id"])


def share(wire: Wire, file_id: str, *, title: str, channel_id: str, thread_ts: str) -> None:
    """Show a file in a message's thread; one whose upload was completed before is fine.

    Slack completes an upload only once, so this cannot share it twice. Slack shares the file a little later; until then
    only the file itself shows that the upload was completed. Raises ``file_not_found`` for one that is gone.
    """
    files = [{"id": file_id, "title": title}]
    try:
        wire.call("files.completeUploadExternal", files=files, channel_id=channel_id, thread_ts=thread_ts)
    except VendorError as error:
        if error.code != "file_not_found" or _info(wire, file_id) is None:
            raise


def is_shared(wire: Wire, file_id: str, *, channel_id: str) -> bool:
    """Return whether one of our files was shown in a channel."""
    about = _info(wire, file_id)
    shares = (about or {}).get("shares") or {}
    return any(channel_id in (channels or ()) for channels in (*shares.values(), (about or {}).get("channels")))


def delete(wire: Wire, file_id: str) -> None:
    """Delete one of our files; one that is already deleted is fine."""
    try:
        wire.call("files.delete", file=file_id)
    except VendorError as error:
        if error.code not in GONE:
            raise


def find(wire: Wire, file_id: str) -> ReadableFile | None:
    """Return a person's file; None when it is gone or the app may not see it."""
    about = _info(wire, file_id)
    if about is None:
        return None
    url = str(about.get("url_private_download") or about.get("url_private") or "")
    link = str(about.get("permalink") or "")
    return ReadableFile(str(about.get("name") or "file"), int(about.get("size") or 0), url, link)


def fetch(wire: Wire, found: ReadableFile) -> Iterator[bytes]:
    """Yield a file's bytes in chunks."""
    return wire.download(found.url)


def _info(wire: Wire, file_id: str) -> dict[str, Any] | None:
    try:
        about: dict[str, Any] = wire.call("files.info", file=file_id)["file"]
    except VendorError as error:
        if error.code not in GONE:
            raise
        return None
    return about
