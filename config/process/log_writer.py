"""Write log lines to standard error, and wait for no one who does not take them.

A log's collector may hang, and a full pipe blocks its writer: the thread that logs holds the lock of all others that
log, so that in the end the whole process stands still, with everyone who waits for its answers.
"""

from __future__ import annotations

import logging
import os
import select
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

STDERR: Final = 2
PATIENCE_MS: Final = 200  # once; as long as nothing is taken after that, lines are lost at once
PIECE: Final = select.PIPE_BUF  # what a pipe that has room at all takes without blocking
LOST: Final = "lines of this log that were lost because nothing took them: %s"


class LogWriter(logging.Handler):
    """Loses the lines that nothing takes, and says how many once something does.

    ``told`` returns what may be logged of an error in a line's own arguments; they may be what people wrote.
    """

    def __init__(self, told: Callable[[BaseException], str], *, fd: int = STDERR) -> None:
        super().__init__()
        self._told = told
        self._fd = fd
        self._rest = b""  # of a line that was taken in part
        self._lost = 0
        self._is_stuck = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record's line, or count it as lost."""
        if sys.__stderr__ is None:  # closed when the process began: its number may be that of any other file by now
            return
        try:
            if not self._written(self._line(record)):
                self._lost += 1
        except OSError:  # the reader is gone, or the disk is full: there is nowhere to say so
            self._rest = b""
            self._lost += 1

    def _written(self, line: str) -> bool:
        with _without_blocking(self._fd) as fd:
            if self._finish(fd) and self._lost and self._begin(fd, self._loss()):
                self._lost = 0
            return not self._rest and not self._lost and self._begin(fd, line)

    def _begin(self, fd: int, line: str) -> bool:
        """Write a line; return whether at least its beginning was taken: the rest goes before the next one."""
        data = self._rest = f"{line}\n".encode("utf-8", "replace")
        self._finish(fd)
        if self._rest == data:
            self._rest = b""
            return False
        return True

    def _finish(self, fd: int) -> bool:
        """Write what is left of a line; return whether all of it was taken."""
        while self._rest:
            ready = select.poll()
            ready.register(fd, select.POLLOUT)
            self._is_stuck = not ready.poll(0 if self._is_stuck else PATIENCE_MS)
            if self._is_stuck:
                return False
            with suppress(BlockingIOError):  # another process that shares the pipe was faster
                self._rest = self._rest[os.write(fd, self._rest[:PIECE]) :]
        return True

    def _line(self, record: logging.LogRecord) -> str:
        try:
            return self.format(record)
        except Exception as error:  # noqa: BLE001 (any slip in a call that logs; Python's own notice quotes its values)
            return f"ERROR {__name__}: a line of {record.name} does not fit its values\n{self._told(error)}"

    def _loss(self) -> str:
        return self.format(logging.LogRecord(__name__, logging.WARNING, __file__, 0, LOST, (self._lost,), None))


@contextmanager
def _without_blocking(fd: int) -> Iterator[int]:
    """Yield a way to a pipe that never blocks, while other processes go on using theirs; anything else as it is."""
    own = -1
    with suppress(OSError):  # no such system, or the pipe belongs to someone else
        if stat.S_ISFIFO(os.fstat(fd).st_mode):
            own = os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield fd if own < 0 else own
    finally:
        if own >= 0:
            os.close(own)
