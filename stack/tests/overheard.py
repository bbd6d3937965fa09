"""What a stack leaks while it runs: log lines, broker messages, process arguments, file names."""

from __future__ import annotations

import base64
import re
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psutil
from redis import Redis

LOOK_EVERY_S: Final = 0.2
# Celery writes a task's arguments in base64, quoted as often as it is wrapped.
BODY: Final = re.compile(rb'body\\*": *\\*"([A-Za-z0-9+/=]+)')
READ: Final = {
    "string": lambda broker, key: broker.get(key),
    "list": lambda broker, key: broker.lrange(key, 0, -1),
    "set": lambda broker, key: broker.smembers(key),
    "hash": lambda broker, key: broker.hgetall(key),
    "zset": lambda broker, key: broker.zrange(key, 0, -1, withscores=True),
    "stream": lambda broker, key: broker.xrange(key),
}


@dataclass(slots=True)
class Overheard:
    """Everything overheard so far."""

    lines: list[str] = field(default_factory=list)
    commands: bytearray = field(default_factory=bytearray)
    arguments: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    def line(self, process: str, line: str) -> None:
        """Take a log line."""
        self.lines.append(f"{process}: {line}")

    @property
    def bodies(self) -> list[str]:
        """Return the tasks' arguments as they passed through the broker."""
        return read(bytes(self.commands))

    @contextmanager
    def listening(self, broker_url: str) -> Iterator[None]:
        """Listen to every command that the broker receives, and look at processes, until the block ends."""
        ended, ready = threading.Event(), threading.Event()
        threads = [
            threading.Thread(target=self._listen, args=(address(broker_url), ready, ended), daemon=True),
            threading.Thread(target=self._watch, args=(ended,), daemon=True),
        ]
        for one in threads:
            one.start()
        assert ready.wait(60), "the broker lets nobody listen"
        try:
            yield
        finally:
            ended.set()
            for one in threads:
                one.join()

    def _listen(self, path: str, ready: threading.Event, ended: threading.Event) -> None:
        with socket.socket(socket.AF_UNIX) as broker:
            broker.settimeout(LOOK_EVERY_S)
            broker.connect(path)
            broker.sendall(b"MONITOR\r\n")
            ready.set()
            while not ended.is_set():
                try:
                    self.commands += broker.recv(1 << 16)
                except TimeoutError:
                    continue

    def _watch(self, ended: threading.Event) -> None:
        while not ended.wait(LOOK_EVERY_S):
            self.names.update(one.name for one in Path(tempfile.gettempdir()).iterdir())
            for one in psutil.Process().children(recursive=True):
                try:
                    self.arguments.add(" ".join(one.cmdline()))
                except psutil.NoSuchProcess:
                    continue


def address(broker_url: str) -> str:
    """Return the socket of an embedded broker."""
    return urlsplit(broker_url).path


def held(broker_url: str) -> dict[str, str]:
    """Read every key of the broker with its content, and the arguments of waiting tasks."""
    with Redis(unix_socket_path=address(broker_url)) as broker:
        found = {}
        for key in broker.scan_iter():
            value = repr(READ[broker.type(key).decode()](broker, key))
            found[key.decode()] = "\n".join([value, *read(value.encode())])
    return found


def read(text: bytes) -> list[str]:
    """Extract the bodies of messages from the surrounding text."""
    return [base64.b64decode(one).decode() for one in BODY.findall(text)]


def files(folder: Path) -> Iterator[str]:
    """Yield the names of everything in a folder, as they are on the disk."""
    return (str(one.relative_to(folder)) for one in folder.rglob("*"))
