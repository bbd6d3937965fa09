"""A network between a browser and Firekind that has one fault at a time."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from stack.processes import ports

T = TypeVar("T")
PORTAL: Final = (
    "<!doctype html><html><head><title>Welcome to Hotel Wi-Fi</title></head><body><main>"
    '<h1 class="foreign">Accept our terms to go online</h1></main>'
    '<div id="newest" hx-swap-oob="true" class="foreign">Our offers</div></body></html>'
)
STREAM: Final = b"text/event-stream"
HOP: Final = {b"connection", b"keep-alive", b"transfer-encoding", b"content-length"}
PATIENCE_S: Final = 30


@dataclass(frozen=True, slots=True)
class NetworkFault:
    """What a network does to requests of ``method`` (all if empty) and to their responses.

    ``answers`` is the status of a page of its own; with ``late``, Firekind receives the request first. ``loses`` names
    headers that it removes from responses. Streams end after ``cuts_s`` seconds, and are kept back with ``holds``.
    """

    answers: int = 0
    late: bool = False
    delays_s: float = 0
    holds: bool = False
    cuts_s: float = 0
    loses: frozenset[bytes] = frozenset()
    zips: bool = False
    http10: bool = False
    method: str = ""


NONE: Final = NetworkFault()


@dataclass(slots=True)
class Head:
    """The first line and the headers of a request or a response."""

    line: bytes
    headers: list[tuple[bytes, bytes]]

    def get(self, name: bytes) -> bytes:
        """Return a header's value, or nothing."""
        return next((value for key, value in self.headers if key.lower() == name), b"")

    def written(self, *added: tuple[bytes, bytes], without: frozenset[bytes] | set[bytes] = frozenset()) -> bytes:
        """Return it as it is sent, with other headers instead of those left out."""
        kept = [*((key, value) for key, value in self.headers if key.lower() not in without), *added]
        return b"\r\n".join([self.line, *(b"%s: %s" % one for one in kept), b"", b""])


class Network:
    """A proxy on this machine; assign ``fault`` at any time.

    ``forget`` loses every connection that is open now, without a word to either side.
    """

    def __init__(self, to: str, fault: NetworkFault) -> None:
        self.fault, self.url = fault, ""
        self.forwarded: list[str] = []  # methods and paths of the requests that Firekind got
        self.streams = 0  # open now
        self._to = urlsplit(to)
        self._generation = 0
        self._clients: set[asyncio.Task[None] | None] = set()  # without it, one whose browser went away is collected
        self._loop = asyncio.new_event_loop()

    def forget(self) -> None:
        """Lose the connections that are open."""
        self._generation += 1

    @contextmanager
    def running(self) -> Iterator[Network]:
        """Run it in a thread of its own."""
        thread = threading.Thread(target=self._loop.run_forever)
        thread.start()
        try:
            server = self._wait_for(asyncio.start_server(self._client, ports.LOOPBACK, 0))
            self.url = "http://{}:{}".format(*server.sockets[0].getsockname())
            yield self
        finally:
            self._loop.call_soon_threadsafe(server.close)
            self._wait_for(self._end())
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(PATIENCE_S)
            self._loop.close()

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    async def _end(self) -> None:
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for one in others:
                one.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await asyncio.sleep(0.05)  # connections close, and those accepted meanwhile have their task

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        born, task = self._generation, asyncio.current_task()
        self._clients.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                while await self._one(reader, writer, born):
                    pass
        finally:
            writer.transport.abort()
            self._clients.discard(task)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, born: int) -> bool:
        head = await _head(reader)
        body = await reader.readexactly(int(head.get(b"content-length") or 0))
        if born != self._generation:
            await asyncio.Event().wait()
        method, path, _ = head.line.decode().split(" ", 2)
        fault = self.fault if self.fault.method in ("", method) else NONE
        await asyncio.sleep(fault.delays_s)
        if fault.answers and not fault.late:
            return await _own(writer, fault.answers)
        there, back = await asyncio.open_connection(self._to.hostname, self._to.port)
        try:
            version = b"HTTP/1.0" if fault.http10 else b"HTTP/1.1"
            head.line = b" ".join([*head.line.split(b" ")[:2], version])
            back.write(head.written((b"Connection", b"close"), without={b"connection"}) + body)
            self.forwarded.append(f"{method} {urlsplit(path).path}")
            answer = await _head(there)
            if fault.answers:
                await there.read()
                return await _own(writer, fault.answers)
            if answer.get(b"content-type").startswith(STREAM) and not answer.get(b"content-length"):
                self.streams += 1
                try:
                    await self._stream(answer, there, writer, fault, born)
                finally:
                    self.streams -= 1
                return False
            return await self._whole(answer, await _body(answer, there), writer, fault, born)
        finally:
            back.transport.abort()

    async def _whole(
        self, answer: Head, body: bytes, writer: asyncio.StreamWriter, fault: NetworkFault, born: int
    ) -> bool:
        if born != self._generation:
            await asyncio.Event().wait()
        added = [(b"Content-Length", b"%d" % len(body))]
        if fault.zips and not answer.get(b"content-encoding") and body:
            body = gzip.compress(body)
            added = [(b"Content-Length", b"%d" % len(body)), (b"Content-Encoding", b"gzip")]
        if b" 204 " in answer.line or b" 304 " in answer.line:
            added = []
        if fault.http10:
            answer.line = answer.line.replace(b"HTTP/1.1", b"HTTP/1.0")
            added.append((b"Connection", b"close"))
        writer.write(answer.written(*added, without=HOP | fault.loses) + body)
        await writer.drain()
        return not fault.http10

    async def _stream(
        self, answer: Head, there: asyncio.StreamReader, writer: asyncio.StreamWriter, fault: NetworkFault, born: int
    ) -> None:
        """Hand on a stream until it ends; its body may be in chunks, which end with the connection here."""
        chunked = answer.get(b"transfer-encoding") == b"chunked" and not fault.http10
        head = answer.written((b"Connection", b"close"), without=HOP | fault.loses)
        with suppress(TimeoutError):
            async with asyncio.timeout(fault.cuts_s or None):
                if not fault.holds:
                    writer.write(head)
                while part := await (_chunk(there) if chunked else there.read(1 << 16)):
                    if not fault.holds and born == self._generation:
                        writer.write(part)
        if born != self._generation:
            await asyncio.Event().wait()


async def _head(reader: asyncio.StreamReader) -> Head:
    line, *rest = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
    pairs = (one.partition(b":") for one in rest)
    return Head(line, [(key, value.strip()) for key, _, value in pairs])


async def _body(head: Head, reader: asyncio.StreamReader) -> bytes:
    if head.get(b"transfer-encoding") != b"chunked":
        return await reader.read()
    parts = []
    while part := await _chunk(reader):
        parts.append(part)
    return b"".join(parts)


async def _chunk(reader: asyncio.StreamReader) -> bytes:
    size = int(await reader.readline() or b"0", 16)
    return (await reader.readexactly(size + 2))[:-2] if size else b""


async def _own(writer: asyncio.StreamWriter, status: int) -> bool:
    body = PORTAL.encode()
    line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()
    head = Head(line, [(b"Content-Type", b"text/html"), (b"Content-Length", b"%d" % len(body))])
    writer.write(head.written() + body)
    await writer.drain()
    return True


def network(to: str, fault: NetworkFault = NONE) -> AbstractContextManager[Network]:
    """Run a network in front of an address."""
    return Network(to, fault).running()
