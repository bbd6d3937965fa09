"""One HTTP POST without a thread: a minimal client for deliveries, using what uvicorn already needs."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import h11

_CHUNK = 65_536


@dataclass(slots=True)
class PostAnswer:
    """An answer; status 0 if none came."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    failure: str = ""


async def post(url: str, headers: Mapping[str, str], body: bytes, *, timeout_s: float) -> PostAnswer:
    """Send a body and wait for the answer. A failure on the way also returns an answer, with Slack's name for it."""
    try:
        async with asyncio.timeout(timeout_s):
            return await _exchange(url, headers, body)
    except TimeoutError:
        return PostAnswer(0, failure="http_timeout")
    except ssl.SSLError:
        return PostAnswer(0, failure="ssl_error")
    except (OSError, h11.ProtocolError):
        return PostAnswer(0, failure="connection_failed")


async def _exchange(url: str, headers: Mapping[str, str], body: bytes) -> PostAnswer:
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=secure or None)
    try:
        connection = h11.Connection(h11.CLIENT)
        sent = [("Host", parts.netloc), ("Connection", "close"), ("Content-Length", str(len(body))), *headers.items()]
        target = parts.path or "/"
        writer.write(connection.send(h11.Request(method="POST", target=target, headers=sent)) or b"")
        writer.write(connection.send(h11.Data(data=body)) or b"")
        writer.write(connection.send(h11.EndOfMessage()) or b"")
        await writer.drain()
        return await _read(connection, reader)
    finally:
        writer.close()


async def _read(connection: h11.Connection, reader: asyncio.StreamReader) -> PostAnswer:
    answer = PostAnswer(0)
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_CHUNK))
        elif isinstance(event, h11.Response):
            answer.status = event.status_code
            answer.headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
        elif isinstance(event, h11.Data):
            answer.body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            return answer
