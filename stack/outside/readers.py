"""Many readers of one event stream at very low cost: plain sockets, and one loop that waits for all."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from urllib.parse import urlsplit

HEARD, CHANGED = b"retry:", b"event: changed"
END = b"\r\n0\r\n\r\n"  # of a chunked body
PIECE = 65536


@dataclass(slots=True, eq=False)
class StreamReader:
    """One connection, and what arrived on it."""

    socket: socket.socket
    came: bytes = b""

    def reads(self, word: bytes) -> bool:
        """Read what is available, and return whether a word has arrived."""
        piece = self.socket.recv(PIECE)
        if not piece:
            raise ConnectionError(f"hung up on after {self.came!r}")
        self.came += piece
        return word in self.came


class Readers:
    """Connections that requested the same stream."""

    def __init__(self, base_url: str, path: str, *, cookies: Sequence[str], count: int) -> None:
        address = urlsplit(base_url)
        door = (str(address.hostname), address.port or 80)
        self._all = [StreamReader(socket.create_connection(door)) for _ in range(count)]
        for one, cookie in zip(self._all, cycle(cookies), strict=False):
            asking = f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nCookie: {cookie}\r\n\r\n"
            one.socket.sendall(asking.encode())

    @property
    def came(self) -> list[bytes]:
        """What each received so far."""
        return [one.came for one in self._all]

    def wait(self, word: bytes, *, patience_s: float = 60) -> float:
        """Read until everyone received a word, and return the moment. Raises TimeoutError."""
        gives_up_at = time.monotonic() + patience_s
        with selectors.DefaultSelector() as selector:
            for one in self._all:
                if word not in one.came:
                    selector.register(one.socket, selectors.EVENT_READ, one)
            while waiting := len(selector.get_map()):
                if (left := gives_up_at - time.monotonic()) < 0:
                    raise TimeoutError(f"{waiting} readers still wait for {word!r}")
                for key, _ in selector.select(left):
                    if key.data.reads(word):
                        selector.unregister(key.fileobj)
        return time.monotonic()

    def close(self) -> None:
        """Hang up."""
        for one in self._all:
            one.socket.close()


@contextmanager
def reading(base_url: str, path: str, *, cookies: Sequence[str], count: int) -> Iterator[Readers]:
    """Yield this many readers of a stream, distributed among sessions; they hang up at the end of the block."""
    readers = Readers(base_url, path, cookies=cookies, count=count)
    try:
        yield readers
    finally:
        readers.close()
