"""File transfers: uploads to the URL issued for a file, and downloads with the app's token."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from integrations.slack.fake.server import shapes

if TYPE_CHECKING:
    from integrations.slack.fake.core import FakeSlack
    from integrations.slack.fake.server.faults import FaultEffect
    from integrations.slack.fake.workspace import File

UPLOAD: Final = "files.upload"  # names for these two in faults; they are not methods of the Web API
DOWNLOAD: Final = "files.download"
SHOWN: Final = ("image/png", "image/jpeg", "image/gif")


@dataclass(slots=True)
class Transfer:
    """A file server's answer. The transport sleeps `latency_s`, and closes the connection instead if `dropped`."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    latency_s: float = 0.0
    dropped: bool = False


def upload(slack: FakeSlack, file_id: str, content: bytes) -> Transfer:
    """Receive the bytes of a file whose URL was issued before."""
    with slack.lock:
        blow = slack.strike(UPLOAD)
        before = _before(blow)
        if before is not None:
            return before
        answer = _taken(slack, slack.workspace.files.get(file_id), content)
        answer.latency_s, answer.dropped = blow.latency_s, blow.kind == "drop"
        return answer


def _taken(slack: FakeSlack, file: File | None, content: bytes) -> Transfer:
    if file is None or file.state != "waiting":
        return Transfer(404, b"no such upload")
    if len(content) != file.length:
        return Transfer(400, f"expected {file.length} bytes, got {len(content)}".encode())
    file.content, file.state = content, "uploaded"
    slack.changed()
    return Transfer(200, f"OK - {len(content)}".encode())


def download(slack: FakeSlack, file_id: str, *, token: str) -> Transfer:
    """Serve a file to the app. Without permission to read files, redirect to sign-in, as Slack does."""
    with slack.lock:
        blow = slack.strike(DOWNLOAD)
        before = _before(blow)
        if before is not None:
            return before
        answer = found(slack, file_id) if slack.may(token, "files:read") else _sign_in(slack)
        answer.latency_s, answer.dropped = blow.latency_s, blow.kind == "drop"
        return answer


def found(slack: FakeSlack, file_id: str) -> Transfer:
    """Return a file as served: pictures inline, everything else as a download."""
    file = slack.workspace.files.get(file_id)
    if file is None or file.state != "complete":
        return Transfer(404, b"no such file", {"Content-Type": "text/plain"})
    kind = str(shapes.file(file)["mimetype"])
    headers = {"X-Content-Type-Options": "nosniff", "Content-Type": kind}
    if kind not in SHOWN:
        headers |= {"Content-Disposition": "attachment", "Content-Type": "application/octet-stream"}
    return Transfer(200, file.content, headers)


def _sign_in(slack: FakeSlack) -> Transfer:
    return Transfer(302, b"", {"Location": f"{slack.base_url}/", "Content-Type": "text/html"})


def _before(blow: FaultEffect) -> Transfer | None:
    match blow.kind:
        case "drop_before":
            return Transfer(0, latency_s=blow.latency_s, dropped=True)
        case "ratelimited":
            wait = str(blow.fault.retry_after_s) if blow.fault else "1"
            return Transfer(429, b"", {"Retry-After": wait}, blow.latency_s)
        case "server_error" | "error" | "fatal_error":
            return Transfer(500, b"", latency_s=blow.latency_s)
    return None
