"""Files over real HTTP: where the token goes, how a sign-in page is recognised, and what the errors say."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from integrations.slack.adapter import transfer
from integrations.slack.adapter.wire import Wire
from workflows.ports import VendorError

TOKEN = "xoxb-test"
Answer = tuple[int, dict[str, str], bytes]


@dataclass
class Server:
    """A file server with its answers, and the requests it got."""

    url: str = ""
    asked: list[tuple[str, str, bytes]] = field(default_factory=list)
    answer: Callable[[], Answer] = lambda: (200, {"Content-Type": "application/octet-stream"}, b"a file")

    @property
    def wire(self) -> Wire:
        return Wire(api_url=f"{self.url}/api/", token=TOKEN, timeout_s=30)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Files(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            state.asked.append((self.path, self.headers.get("Authorization", ""), body))
            status, headers, answer = state.answer()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "Content-Length" not in headers:
                self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    state.url = f"http://127.0.0.1:{http.server_port}"
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield state
    http.shutdown()
    http.server_close()


def failed(fetch: Callable[[], object]) -> VendorError:
    with pytest.raises(VendorError) as caught:
        fetch()
    return caught.value


def test_a_file_is_fetched_piece_by_piece_with_the_token(server: Server) -> None:
    content = b"x" * (3 * transfer.CHUNK + 1)
    server.answer = lambda: (200, {"Content-Type": "text/plain"}, content)
    pieces = list(server.wire.download(f"{server.url}/files/F1/a"))
    assert b"".join(pieces) == content
    assert max(map(len, pieces)) <= transfer.CHUNK
    assert server.asked == [("/files/F1/a", f"Bearer {TOKEN}", b"")]


def test_an_upload_goes_without_the_token_to_the_address_that_carries_its_own(server: Server) -> None:
    server.wire.upload(f"{server.url}/upload/F1", b"\x89PNG")
    assert server.asked == [("/upload/F1", "", b"\x89PNG")]


@pytest.mark.parametrize(
    "url", ["https://files.example/x", "http://127.0.0.1:1/x", "file:///etc/passwd", "", "http://["]
)
def test_nothing_goes_to_an_address_that_is_not_slacks(server: Server, url: str) -> None:
    assert failed(lambda: list(server.wire.download(url))).code == "foreign_address"
    assert failed(lambda: server.wire.upload(url, b"x")).code == "foreign_address"


@pytest.mark.parametrize(
    ("url", "is_slacks"),
    [
        ("https://files.slack.com/files-pri/T1-F1/a", True),
        ("https://slack.com/x", True),
        ("http://files.slack.com/x", False),
        ("https://files.slack.com.example/x", False),
        ("https://notslack.com/x", False),
        ("https://files.slack.com:444/x", False),
        ("https://slack.com@files.example/x", False),
    ],
)
def test_what_is_slacks(url: str, is_slacks: bool) -> None:
    known = transfer.FileTransfer(api_url="https://slack.com/api/", token=TOKEN, timeout_s=1, tls=None)
    assert known.is_slacks(url) is is_slacks


@pytest.mark.parametrize(
    "answer",
    [
        (302, {"Location": "/sign-in", "Content-Type": "text/html"}, b""),
        (200, {"Content-Type": "text/html; charset=utf-8"}, b"<title>Sign in</title>"),
        (403, {}, b""),
    ],
)
def test_a_sign_in_is_told_from_the_file_and_not_followed(server: Server, answer: Answer) -> None:
    server.answer = lambda: answer
    error = failed(lambda: list(server.wire.download(f"{server.url}/files/F1/a")))
    assert (error.code, error.retryable) == ("sign_in", False)
    assert "files:read" in error.says
    assert [path for path, _, _ in server.asked] == ["/files/F1/a"]


def test_a_page_that_somebody_shared_is_a_file(server: Server) -> None:
    """For example a flame graph of async-profiler, which writes HTML by default."""
    content = b"<!DOCTYPE html><title>Flame graph</title>"
    kind = {"Content-Type": "text/html", "Content-Disposition": 'attachment; filename="cpu.html"'}
    server.answer = lambda: (200, kind, content)
    assert b"".join(server.wire.download(f"{server.url}/files/F1/a")) == content


def test_what_passes_is_tried_again_and_what_does_not_is_not(server: Server) -> None:
    def ask() -> None:
        server.wire.upload(f"{server.url}/upload/F1", b"x")

    server.answer = lambda: (429, {"Retry-After": "7"}, b"")
    limited = failed(ask)
    assert (limited.retry_after, limited.method) == (7.0, transfer.UPLOAD)
    server.answer = lambda: (503, {}, b"")
    assert failed(ask).retryable
    server.answer = lambda: (400, {}, b"")
    assert not failed(ask).retryable


def test_a_download_that_breaks_off_is_not_taken_for_whole(server: Server) -> None:
    server.answer = lambda: (200, {"Content-Type": "text/plain", "Content-Length": "100"}, b"half")
    error = failed(lambda: list(server.wire.download(f"{server.url}/files/F1/a")))
    assert (error.code, error.retryable) == ("connection_lost", True)


def test_nobody_there_did_nothing(server: Server) -> None:
    wire = Wire(api_url="http://127.0.0.1:1/api/", token=TOKEN, timeout_s=1)
    error = failed(lambda: wire.upload("http://127.0.0.1:1/upload/F1", b"x"))
    assert (error.code, error.retryable, error.unknown) == ("connection_failed", True, False)
