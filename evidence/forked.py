"""A small clean process from which readers are forked, so that nobody waits for an interpreter and numpy each time.

``python -m evidence.forked`` takes what is to be done from the socket on its stdin: one byte that names the work, and
with it what the work reads, where it complains, and a line that both ends hold. Each piece of work is a fork, which
bounds itself; this process looks at no file. Work whose line is closed is killed. It ends when nobody holds the other
end any more, when nothing was asked for a while, and when work was ended by a signal.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn

READY, BEGUN = b"+", b"."
FILES: Final = 3  # that come with each piece of work
IDLE_S: Final = 60
# Arrow starts a thread as it is loaded, and a fork of two threads may hang: who needs it loads it.
LATER: Final = frozenset({"tests", "folded_blocks"})


def read() -> int:
    """Read the file that stdin names, as ``evidence.reading`` does."""
    from evidence import reading

    asked = json.load(sys.stdin)
    os.environ.update(asked["env"])
    return reading.main(asked["words"])


def draw() -> int:
    """Draw the tree that stdin names, as ``evidence.drawing`` does."""
    from evidence import drawing

    return drawing.main()


WORK: Final[dict[bytes, Callable[[], int]]] = {b"r": read, b"d": draw}


class Forks:
    """The work that goes on, each with its line."""

    def __init__(self, door: socket.socket) -> None:
        self.door = door
        self.lines: dict[int, socket.socket] = {}
        self.late: set[int] = set()
        self.watched = selectors.DefaultSelector()
        self.watched.register(door, selectors.EVENT_READ)
        self.ended, self.woken = socket.socketpair()
        for one in (self.ended, self.woken):
            one.setblocking(False)
        self.watched.register(self.ended, selectors.EVENT_READ)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.woken.fileno())

    @property
    def open(self) -> bool:
        """Whether more may be asked for."""
        return self.door.fileno() >= 0

    def serve(self) -> None:
        """Take work until nobody asks for more, and see what goes on to its end."""
        while self.open or self.lines:
            found = self.watched.select(None if self.lines else IDLE_S)
            if not found:
                return
            for key, _ in found:
                if key.fileobj is self.door:
                    self._take()
                elif key.fileobj is self.ended:
                    self.ended.recv(1024)
                else:
                    self._hang_up(key.data)
            self._tell()

    def _take(self) -> None:
        asked, files, _, _ = socket.recv_fds(self.door, 1, FILES)
        if len(files) != FILES:
            self._close()
            return
        given, said, line = files
        pid = os.fork()
        if not pid:
            _work(WORK[asked], given, said)
        os.close(given)
        os.close(said)
        self.lines[pid] = socket.socket(fileno=line)
        self.watched.register(self.lines[pid], selectors.EVENT_READ, pid)
        _send(self.lines[pid], BEGUN)

    def _hang_up(self, pid: int) -> None:
        """Kill work that nobody waits for any more."""
        self.watched.unregister(self.lines[pid])
        self.late.add(pid)
        os.kill(pid, signal.SIGKILL)

    def _tell(self) -> None:
        """Say of all work that has ended how it did."""
        while self.lines:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            code, line = os.waitstatus_to_exitcode(status), self.lines.pop(pid)
            with line:
                if pid in self.late:
                    self.late.remove(pid)
                else:
                    self.watched.unregister(line)
                    if code < 0:
                        self._close()  # what broke this one is given no other with the same places in memory
                _send(line, str(code).encode())

    def _close(self) -> None:
        if self.open:
            self.watched.unregister(self.door)
            self.door.close()


def main() -> int:
    """Load what readers need, say so, and fork them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    _load()
    gc.freeze()
    with socket.socket(fileno=os.dup(0)) as door:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        door.sendall(READY)
        Forks(door).serve()
    return 0


def _load() -> None:
    from PIL import Image, ImageDraw, ImageFont, PngImagePlugin  # noqa: F401 (they are loaded for what is forked)

    from evidence import calltree, formats, measures, picture, reading, sentence, thumbnail  # noqa: F401 (the same)

    for package in (formats, measures):
        for found in pkgutil.iter_modules(package.__path__):
            if found.name not in LATER:
                importlib.import_module(f"{package.__name__}.{found.name}")
    for size in picture.SIZES:
        picture.font(size)


def _work(do: Callable[[], int], given: int, said: int) -> NoReturn:
    """Do one piece of work in this fork, with nothing of the others' in its hands, and end."""
    ended = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(given, 0)
        os.dup2(said, 2)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        ended = do()
    except MemoryError:
        os.write(2, b"MemoryError")
    except BaseException:  # noqa: BLE001 (nothing of it may come back into the process that forks)
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(ended)


def _send(line: socket.socket, said: bytes) -> None:
    with suppress(OSError):  # nobody waits for it any more
        line.sendall(said)


if __name__ == "__main__":
    sys.exit(main())
