"""Receive a request's body: on disk once it is large, within the limit of its address, and within a time limit."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import IO, Any, cast

from django.conf import settings
from django.core.exceptions import RequestAborted
from django.http import HttpResponse

from config.http.arrivals import Arrival, Arrivals, NoRoom

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

PATIENCE_S = 5.0  # to let a sender finish that has not looked at the response yet
PATIENCE_BYTES = 64 << 20
PATIENCE_AT_ONCE = 32
DIGITS = 15
TURNS = 3  # of the loop: one reads a connection's end, the next reports it
SPOOL = settings.FILE_UPLOAD_TEMP_DIR
_patient = asyncio.Semaphore(PATIENCE_AT_ONCE)


class BodyTooLarge(Exception):
    """The body exceeds the limit."""


class BodyTooSlow(Exception):
    """The body did not arrive in time."""


class DiskFull(Exception):
    """There is no room on the disk for it."""


async def read(scope: Scope, receive: Receive, *, most: int, arrival: Arrival, among: Arrivals) -> IO[bytes]:
    """Return the body as a file.

    Raises ``BodyTooLarge`` before or while it is read, ``BodyTooSlow``, ``NoRoom``, ``DiskFull`` and
    ``RequestAborted``.
    """
    if _announced(scope) > most:
        raise BodyTooLarge
    file = cast("IO[bytes]", tempfile.SpooledTemporaryFile(settings.FILE_UPLOAD_MAX_MEMORY_SIZE, dir=SPOOL))  # noqa: SIM115  # closed by the code that responds
    try:
        more = True
        while more:
            chunk, more = await _piece(receive, arrival, most)
            among.came(arrival, len(chunk))
            _write(file, chunk)
    except BaseException:
        with suppress(OSError):  # flushing the rest would fail too
            file.close()
        raise
    among.complete(arrival)
    _rewind(file)
    return file


async def is_sender_gone(receive: Receive) -> bool:
    """Return whether the sender of a whole request has hung up already.

    So it did if this process stood still (paused with its host, or starved) for longer than the sender waits: then the
    system has kept the request and, right behind it, its end.
    """
    end = asyncio.ensure_future(receive())
    for _ in range(TURNS):
        await asyncio.sleep(0)
    if not end.done():
        end.cancel()
        return False
    return bool(end.result()["type"] == "http.disconnect")


def _rewind(file: IO[bytes]) -> None:
    try:
        file.seek(0)  # flushes the rest
    except OSError as error:
        with suppress(OSError):
            file.close()
        raise DiskFull from error


def _write(file: IO[bytes], chunk: bytes) -> None:
    try:
        file.write(chunk)
    except OSError as error:
        raise DiskFull from error


async def _piece(receive: Receive, arrival: Arrival, most: int) -> tuple[bytes, bool]:
    """Return the next piece of a body, and whether there are more.

    Raises ``BodyTooLarge``, ``BodyTooSlow``, ``RequestAborted``, or ``NoRoom`` once others need the room.
    """
    try:
        async with asyncio.timeout_at(arrival.until()) as arrival.patience:
            chunk, more = _content(await receive())
    except TimeoutError:
        raise NoRoom if arrival.given_up else BodyTooSlow from None
    finally:
        arrival.patience = None
    if arrival.size + len(chunk) > most:
        raise BodyTooLarge
    return chunk, more


async def refuse(response: HttpResponse, receive: Receive, send: Send, *, waits: bool = True) -> None:
    """Answer a sender that may still be sending, and let it reach the end, or read the answer.

    Closing with unread bytes resets the connection, and many clients then never see the answer. So a few senders are
    read from for a while, unless the answer is that they are too slow.
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
    more = True
    with suppress(TimeoutError, RequestAborted):
        async with asyncio.timeout(PATIENCE_S):
            while more:
                chunk, more = _content(await receive())
                left -= len(chunk)
                if left < 0 or time.monotonic() > until:  # data that never pauses never lets the time-out fire
                    break


def _content(message: Mapping[str, Any]) -> tuple[bytes, bool]:
    if message["type"] == "http.disconnect":
        raise RequestAborted
    return message.get("body", b""), message.get("more_body", False)


def header(scope: Scope, name: bytes) -> str:
    """Return a header of a request; empty if it is missing."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _announced(scope: Scope) -> int:
    length = header(scope, b"content-length")
    return int(length) if length.isdecimal() and len(length) <= DIGITS else 0
