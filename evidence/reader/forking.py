"""Forks of a process that has loaded what they need: how it serves them, and how it is asked for them.

A piece of work is one byte and some files, the last of them a line that both ends hold. The line says the pid of the
fork when it begins, and how it ended when it did, with the seconds of processor time that it took. Whoever closes the
line, or dies, has the fork killed.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

READY: Final = b"+"
NUMBER: Final = struct.Struct("!i")
MOST_FILES: Final = 8


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """What a fork is to do: the byte that names it, and its files."""

    work: bytes
    files: Sequence[int]


class Door:
    """The socket on stdin at which work is asked for, and the work that goes on, each with its line."""

    def __init__(self, *, until_killed: bool) -> None:
        self.until_killed = until_killed
        self.door = socket.socket(fileno=os.dup(0))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self.lines: dict[int, socket.socket] = {}
        self.late: set[int] = set()
        self.watched = selectors.DefaultSelector()
        self.watched.register(self.door, selectors.EVENT_READ)
        self.ended, self.woken = socket.socketpair()
        for one in (self.ended, self.woken):
            one.setblocking(False)
        self.watched.register(self.ended, selectors.EVENT_READ)

    @property
    def open(self) -> bool:
        """Whether more may be asked for."""
        return self.door.fileno() >= 0

    def serve(self, idle_s: float | None) -> ForkRequest | None:
        """Take work until nobody asks for more, and see what goes on to its end. In a fork: return what it is to do."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.woken.fileno())
        self.door.sendall(READY)
        while self.open or self.lines:
            found = self.watched.select(None if self.lines else idle_s)
            if not found:
                break
            for key, _ in found:
                if key.fileobj is self.door:
                    if asked := self._take():
                        return asked
                elif key.fileobj is self.ended:
                    self.ended.recv(1024)
                else:
                    self._hang_up(key.data)
            self._tell()
        return None

    def close(self) -> None:
        """Take no more work; what goes on is seen to its end."""
        if self.open:
            self.watched.unregister(self.door)
            self.door.close()

    def _take(self) -> ForkRequest | None:
        work, files, _, _ = socket.recv_fds(self.door, 1, MOST_FILES)
        if not files:
            self.close()
            return None
        *files, line = files
        pid = os.fork()
        if not pid:
            self._leave(line)
            return ForkRequest(work, files)
        for one in files:
            os.close(one)
        self.lines[pid] = socket.socket(fileno=line)
        self.watched.register(self.lines[pid], selectors.EVENT_READ, pid)
        _send(self.lines[pid], pid)
        return None

    def _leave(self, line: int) -> None:
        """Let go, in a fork, of what is the door's."""
        signal.set_wakeup_fd(-1)
        for one in (signal.SIGCHLD, signal.SIGINT):
            signal.signal(one, signal.default_int_handler if one == signal.SIGINT else signal.SIG_DFL)
        self.watched.close()
        for held in (self.door, self.ended, self.woken, *self.lines.values()):
            held.close()
        os.close(line)

    def _hang_up(self, pid: int) -> None:
        """Kill work that nobody waits for any more."""
        self.watched.unregister(self.lines[pid])
        self.late.add(pid)
        os.kill(pid, signal.SIGKILL)

    def _tell(self) -> None:
        """Say of all work that has ended how it did."""
        while self.lines:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if not pid:
                return
            code, line = os.waitstatus_to_exitcode(status), self.lines.pop(pid)
            with line:
                if pid in self.late:
                    self.late.remove(pid)
                else:
                    self.watched.unregister(line)
                    if code < 0 and self.until_killed:
                        self.close()
                _send(line, code, int(used.ru_utime + used.ru_stime))


def serve(*, idle_s: float | None = None, until_killed: bool = False) -> ForkRequest | None:
    """Serve forks at the socket on stdin; return None when it is over, and in each fork what it is to do.

    It is over when the other end is closed, when nothing was asked for in `idle_s`, and, `until_killed`, when a fork
    was ended by a signal that its asker had not sent.
    """
    return Door(until_killed=until_killed).serve(idle_s)


def ask(door: socket.socket, work: bytes, *files: int, timeout_s: float) -> tuple[socket.socket, int] | None:
    """Ask for a piece of work; return its line and its pid, or None when nobody takes it any more."""
    line, theirs = socket.socketpair()
    with theirs, suppress(OSError):
        socket.send_fds(door, [work], [*files, theirs.fileno()])
    line.settimeout(timeout_s)
    with suppress(OSError):
        if (pid := heard(line)) is not None:
            return line, pid
    line.close()
    return None


def heard(line: socket.socket) -> int | None:
    """Hear a number from a line; None when nobody says one any more. Raises ``TimeoutError``."""
    said = line.recv(NUMBER.size)
    return int(NUMBER.unpack(said)[0]) if len(said) == NUMBER.size else None


def _send(line: socket.socket, *numbers: int) -> None:
    with suppress(OSError):  # nobody waits for it any more
        line.sendall(b"".join(map(NUMBER.pack, numbers)))
