"""Take a request's body in: to disk once it is large, never more than its address takes, and not for ever."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import IO, Any, cast

from django.conf import settings
from django.core.exceptions import RequestAborted
from django.http import HttpResponse

from config.http.arrivals import Arrival, Arrivals, NoRoom

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

PATIENCE_S = 5.0  # to let a sender finish who has not looked at the answer yet
PATIENCE_BYTES = 64 << 20
PATIENCE_AT_ONCE = 32
DIGITS = 15
SPOOL = settings.FILE_UPLOAD_TEMP_DIR
_patient = asyncio.Semaphore(PATIENCE_AT_ONCE)


class BodyTooLarge(Exception):
    """There is more of it than is taken."""


class BodyTooSlow(Exception):
    """It did not come in time."""


class DiskFull(Exception):
    """There is no room on the disk to take it in."""


async def read(scope: Scope, receive: Receive, *, most: int, arrival: Arrival, among: Arrivals) -> IO[bytes]:
    """Return the body as a file.

    Raises ``BodyTooLarge`` before or while it is read, ``BodyTooSlow``, ``NoRoom``, ``DiskFull`` and
    ``RequestAborted``.
    """
    if _announced(scope) > most:
        raise BodyTooLarge
    file = cast("IO[bytes]", tempfile.SpooledTemporaryFile(settings.FILE_UPLOAD_MAX_MEMORY_SIZE, dir=SPOOL))  # noqa: SIM115  # closed by the code that responds
    try:
        async for chunk in _bounded(receive, most, arrival):
            among.came(arrival, len(chunk))
            _write(file, chunk)
    except BaseException:
        with suppress(OSError):  # what is left of it does not fit either
            file.close()
        raise
    among.complete(arrival)
    _rewind(file)
    return file


def _rewind(file: IO[bytes]) -> None:
    try:
        file.seek(0)  # which writes what is left
    except OSError as error:
        with suppress(OSError):
            file.close()
        raise DiskFull from error


def _write(file: IO[bytes], chunk: bytes) -> None:
    try:
        file.write(chunk)
    except OSError as error:
        raise DiskFull from error


async def _bounded(receive: Receive, most: int, arrival: Arrival) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in _chunks(_timely(receive, arrival)):
        size += len(chunk)
        if size > most:
            raise BodyTooLarge
        yield chunk


def _timely(receive: Receive, arrival: Arrival) -> Receive:
    """Return how to receive what still comes in time; raises ``BodyTooSlow``, or ``NoRoom`` once others need it."""

    async def received() -> Mapping[str, Any]:
        try:
            async with asyncio.timeout_at(arrival.until()) as arrival.patience:
                return await receive()
        except TimeoutError:
            raise NoRoom if arrival.given_up else BodyTooSlow from None
        finally:
            arrival.patience = None

    return received


async def refuse(response: HttpResponse, receive: Receive, send: Send, *, waits: bool = True) -> None:
    """Answer a sender who may still be sending, and let them come to the end, or to the answer.

    Hanging up on unread bytes resets the connection, and then many clients never see what was answered. So a few are
    listened to for a while, unless the answer is that they take too long.
    """
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    headers += [(b"content-length", str(len(response.content)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content, "more_body": True})
    if waits and not _patient.locked():
        async with _patient:
            await _let_come(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _let_come(receive: Receive) -> None:
    until, left = time.monotonic() + PATIENCE_S, PATIENCE_BYTES
    with suppress(TimeoutError, RequestAborted):
        async with asyncio.timeout(PATIENCE_S):
            async for chunk in _chunks(receive):
                left -= len(chunk)
                if left < 0 or time.monotonic() > until:  # a sender who is never waited for is never interrupted
                    break


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
