"""Run jobs in a separate process, without our secrets and with none of our files open: see ``fork_server``."""

from __future__ import annotations

import atexit
import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from evidence.reader import forking

# The environment variables it needs; any other may hold a secret.
INHERITED: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
# numpy and Arrow would start threads, each with memory of its own.
SINGLE: Final = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
HOME: Final = Path(__file__).resolve().parents[2]
START_S: Final = 60
END_S: Final = 30
PROGRAM: Final = ("-s", "-m", "evidence.reader.fork_server")
# How a system says that it has no process, memory or file to spare: this passes, and says nothing about a job.
SHORT: Final = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
# What says nothing about a job: the disk or the machine failed it.
OF_THE_MACHINE: Final = SHORT - {errno.ENOMEM} | {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
TRIES: Final = 3
TAIL: Final = 4096


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended: its exit code, negative for the signal that killed it, and its error output.

    ``cpu_s`` is the processor time it took, in whole seconds; 0 if unknown.
    """

    code: int
    said: str
    cpu_s: int = 0


class Late(Exception):
    """It exceeded its time and was killed."""


class Gone(Exception):
    """The fork server could not be started, or ended; the message is its output."""


def run(work: bytes, given: bytes, *, room: Path, timeout_s: float) -> Ended:
    """Run a job with ``given`` on its stdin; its files, which have no name, are in the folder ``room``.

    Raises ``Late``, ``Gone``, and ``OSError`` if the machine has no room for it, such as one of ``SHORT``, or if the
    disk or the machine failed it.
    """
    with tempfile.TemporaryFile(dir=room) as stdin, tempfile.TemporaryFile(dir=room) as stderr:
        stdin.write(given)
        stdin.seek(0)
        line, pid = _forker.begun(work, stdin, stderr, room=room)
        with line:
            line.settimeout(timeout_s)
            try:
                code = forking.heard(line)
                cpu_s = forking.heard(line)
            except TimeoutError:
                line.shutdown(socket.SHUT_WR)  # it is killed
                line.settimeout(END_S)
                with suppress(OSError):
                    forking.heard(line)
                raise Late from None
        if code is None:  # the fork server is gone, and would leave its fork behind
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if code is not None and (failed := code - forking.FAILED) in OF_THE_MACHINE:
            raise OSError(failed, os.strerror(failed))
        return Ended(-signal.SIGKILL if code is None else code, _tail(stderr), cpu_s or 0)


def environment() -> dict[str, str]:
    """Return the environment for the fork server."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**inherited, **SINGLE, "HOME": os.devnull, "PYTHONUTF8": "1"}


class Forker:
    """The fork server, started for the first job, and again when it has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._door: socket.socket | None = None
        self._started: list[subprocess.Popen[bytes]] = []

    def begun(self, work: bytes, *files: IO[bytes], room: Path) -> tuple[socket.socket, int]:
        """Start a job; return the line that reports how it ended, and its pid.

        Raises ``Gone`` if the fork server has ended, and ``OSError`` as ``run`` does.
        """
        for _ in range(TRIES):
            with self._lock:
                door = self._door or self._start(room)
                self._door = door
            if asked := forking.ask(door, work, *(one.fileno() for one in files), timeout_s=START_S):
                return asked
            with self._lock:
                if self._door is door:
                    self._leave()
        raise Gone("It ends before it begins anything")

    def end(self) -> None:
        """End it; running jobs are waited for first."""
        with self._lock:
            self._leave()
            for one in self._started:
                one.wait()
            self._started.clear()

    def _leave(self) -> None:
        if self._door:
            self._door.close()
            self._door = None

    def _start(self, room: Path) -> socket.socket:
        self._started = [one for one in self._started if one.poll() is None]
        ours, theirs = socket.socketpair()
        with ExitStack() as unless_ready, theirs, tempfile.TemporaryFile(dir=room) as stderr:
            unless_ready.callback(ours.close)
            argv = [sys.executable, *PROGRAM]
            started = subprocess.Popen(
                argv, cwd=HOME, env=environment(), stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=stderr
            )
            theirs.close()
            if not _is_ready(ours):
                raise _unstarted(_ended(started), _tail(stderr))
            unless_ready.pop_all()
        self._started.append(started)
        return ours


_forker = Forker()
atexit.register(_forker.end)


def _is_ready(door: socket.socket) -> bool:
    door.settimeout(START_S)
    with suppress(OSError):
        return door.recv(1) == forking.READY
    return False


def _ended(started: subprocess.Popen[bytes]) -> int:
    """Return the exit code of a fork server that is ending; 0 if it has to be killed because it does nothing."""
    with suppress(subprocess.TimeoutExpired):
        return started.wait(END_S)
    started.kill()
    started.wait()
    return 0


def _unstarted(code: int, said: str) -> Gone | OSError:
    """Say why the fork server did not start: killed or short of memory, or a bug of ours."""
    if code < 0 or "MemoryError" in said or any(os.strerror(one) in said for one in SHORT):
        return OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
    return Gone(said)


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - TAIL))
    return file.read().decode("utf-8", "replace")
