"""A listener that is not a web server, as if a port was mistaken or a proxy is broken."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread


@contextmanager
def speaking_no_http() -> Iterator[str]:
    """Answer every connection with something other than HTTP; return the address."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = Thread(target=_speak, args=(door,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{door.getsockname()[1]}/"
        thread.join(30)


def _speak(door: socket.socket) -> None:
    asked, _ = door.accept()
    with asked:
        asked.recv(65_536)
        asked.sendall(b"220 mail.example ESMTP\r\n\r\n")
