"""Take a request's body in: to disk once it is large, and never more of it than its address takes."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from typing import IO, Any, cast

from django.conf import settings
from django.core.exceptions import RequestAborted
from django.http import HttpResponse

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

PATIENCE_S = 5.0  # to let a sender finish who has not looked at the answer yet
DIGITS = 15
SPOOL = settings.FILE_UPLOAD_TEMP_DIR


class BodyTooLarge(Exception):
    """There is more of it than is taken."""


async def read(scope: Scope, receive: Receive, *, most: int) -> IO[bytes]:
    """Return the body as a file; raises ``TooLarge`` before or while it is read, and ``RequestAborted``."""
    if _announced(scope) > most:
        raise BodyTooLarge
    file = cast("IO[bytes]", tempfile.SpooledTemporaryFile(settings.FILE_UPLOAD_MAX_MEMORY_SIZE, dir=SPOOL))  # noqa: SIM115  # closed by the code that responds
    try:
        async for chunk in _bounded(receive, most):
            file.write(chunk)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


async def _bounded(receive: Receive, most: int) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in _chunks(receive):
        size += len(chunk)
        if size > most:
            raise BodyTooLarge
        yield chunk


async def refuse(response: HttpResponse, receive: Receive, send: Send) -> None:
    """Answer a sender who may still be sending, and let them come to the end, or to the answer.

    Hanging up on unread bytes resets the connection, and then many clients never see what was answered.
    """
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    headers += [(b"content-length", str(len(response.content)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content, "more_body": True})
    try:
        async with asyncio.timeout(PATIENCE_S):
            until = time.monotonic() + PATIENCE_S  # a sender who is never waited for is never interrupted
            async for _ in _chunks(receive):
                if time.monotonic() > until:
                    break
    except (TimeoutError, RequestAborted):
        pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestAborted
        yield message.get("body", b"")
        more = message.get("more_body", False)


def header(scope: Scope, name: bytes) -> str:
    """Return a header of a request; empty when it did not come."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _announced(scope: Scope) -> int:
    length = header(scope, b"content-length")
    return int(length) if length.isdecimal() and len(length) <= DIGITS else 0
