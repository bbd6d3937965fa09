"""Forks of a process that has already imported what they need: serving them, and requesting them.

A job is one byte and some files, the last of them a line that both ends hold. On the line the server sends the fork's
pid when it begins and, when it ends, how it ended and the seconds of processor time it took. If the system has no
process for it, the server sends that error's number instead, negative. Closing the line, or dying, gets the fork
killed.
"""

from __future__ import annotations

import errno
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
FAILED: Final = 64  # with the number of the error that ended a job added, as a full disk takes no words about it


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """What a fork should do: the byte that names it, and its files."""

    work: bytes
    files: Sequence[int]


class Door:
    """The socket on stdin that takes jobs, and the running jobs, each with its line."""

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
        """Whether more may be requested."""
        return self.door.fileno() >= 0

    def serve(self, idle_s: float | None) -> ForkRequest | None:
        """Take jobs until no one requests any, and wait for running ones. In a fork: return its job."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
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
        """Take no more jobs; running ones are waited for."""
        if self.open:
            self.watched.unregister(self.door)
            self.door.close()

    def _take(self) -> ForkRequest | None:
        work, files, _, _ = socket.recv_fds(self.door, 1, MOST_FILES)
        if not files:
            self.close()
            return None
        *files, line = files
        try:
            pid = os.fork()
        except OSError as error:  # there may be one to spare later; others' jobs go on
            with socket.socket(fileno=line) as unbegun:
                _send(unbegun, -(error.errno or errno.EAGAIN))
            for one in files:
                os.close(one)
            return None
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
        """In a fork, close what belongs to the door."""
        signal.set_wakeup_fd(-1)
        for one in (signal.SIGCHLD, signal.SIGINT):
            signal.signal(one, signal.default_int_handler if one == signal.SIGINT else signal.SIG_DFL)
        self.watched.close()
        for held in (self.door, self.ended, self.woken, *self.lines.values()):
            held.close()
        os.close(line)

    def _hang_up(self, pid: int) -> None:
        """Kill a job that no one waits for any more."""
        self.watched.unregister(self.lines[pid])
        self.late.add(pid)
        os.kill(pid, signal.SIGKILL)

    def _tell(self) -> None:
        """Report how each finished job ended."""
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
    """Serve forks from the socket on stdin; return None when it is over, and in each fork its job.

    It is over when the other end is closed, when nothing was requested for `idle_s`, and, with `until_killed`, when a
    fork was killed by a signal that its requester had not sent.
    """
    return Door(until_killed=until_killed).serve(idle_s)


def ask(door: socket.socket, work: bytes, *files: int, timeout_s: float) -> tuple[socket.socket, int] | None:
    """Request a job; return its line and its pid, or None if no one takes it any more.

    Raises ``OSError`` if the system has no process to spare for it.
    """
    line, theirs = socket.socketpair()
    with theirs, suppress(OSError):
        socket.send_fds(door, [work], [*files, theirs.fileno()])
    line.settimeout(timeout_s)
    pid = None
    with suppress(OSError):
        if (pid := heard(line)) is not None and pid > 0:
            return line, pid
    line.close()
    if pid is not None:
        raise OSError(-pid, os.strerror(-pid))
    return None


def heard(line: socket.socket) -> int | None:
    """Read a number from a line; None if it was closed. Raises ``TimeoutError``."""
    said = line.recv(NUMBER.size)
    return int(NUMBER.unpack(said)[0]) if len(said) == NUMBER.size else None


def _send(line: socket.socket, *numbers: int) -> None:
    with suppress(OSError):  # no one waits for it any more
        line.sendall(b"".join(map(NUMBER.pack, numbers)))
