"""One child process: started in its own group, its output read, and ended by its own pid."""

import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Protocol

from stack.processes.guard import Guard

Hear = Callable[[str, str], None]


class Running(Protocol):
    """What we need from a started process; `subprocess.Popen` has it."""

    pid: int
    stdout: IO[str] | None

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ended, and return the exit code. Raises `subprocess.TimeoutExpired`."""
        ...


Start = Callable[[Sequence[str], Mapping[str, str], Sequence[int]], Running]
REMEMBERED_LINES = 200
HEARD_S = 2.0


class Process:
    """A named command that can be started, ended and started again."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str | Path],
        *,
        env: Mapping[str, str],
        guard: Guard,
        hear: Hear | None = None,
        lend: Sequence[int] = (),
        starting: Start | None = None,
    ) -> None:
        self.name = name
        self.argv = [str(part) for part in argv]
        self.env = dict(env)
        self.lines: deque[str] = deque(maxlen=REMEMBERED_LINES)
        self._said: deque[str] = deque(maxlen=REMEMBERED_LINES)  # in its current run
        self._guard = guard
        self._hear = hear
        self._lend = lend
        self._starting = starting or started
        self._running: Running | None = None
        self._killing = threading.Lock()
        self._listening: threading.Thread | None = None

    @property
    def pid(self) -> int:
        """The pid of the process, which is also its group's number."""
        assert self._running is not None, f"{self.name} was never started"
        return self._running.pid

    @property
    def alive(self) -> bool:
        """Whether it runs right now."""
        return self._running is not None and self._running.poll() is None

    @property
    def exit_code(self) -> int | None:
        """The exit code, None while it runs."""
        return self._running.poll() if self._running else None

    @property
    def output(self) -> str:
        """The last lines it wrote."""
        return "\n".join(self.lines)

    def has_said(self, line: str) -> bool:
        """Return whether it wrote a line since it was last started."""
        if not self.alive and self._listening:
            self._listening.join(HEARD_S)  # the last words of an ended process
        return line in list(self._said)

    def start(self, *, env: Mapping[str, str] | None = None) -> None:
        """Start it, with settings overlaid on its usual ones."""
        assert not self.alive, f"{self.name} runs already"
        self._running = self._starting(self.argv, self.env | dict(env or {}), self._lend)
        self._guard.watch(self.pid)
        self._said = deque(maxlen=REMEMBERED_LINES)
        self._listening = threading.Thread(target=self._listen, args=(self._running, self._said), daemon=True)
        self._listening.start()

    def ask_to_stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Signal it to exit, without waiting."""
        if self.alive:
            os.kill(self.pid, how)

    def stop(self, how: signal.Signals = signal.SIGTERM, *, patience_s: float = 5) -> None:
        """End it and everything it started; kill them once patience runs out."""
        if self._running is None:
            return
        self.ask_to_stop(how)
        with suppress(subprocess.TimeoutExpired):
            self._running.wait(patience_s)
        self.kill9()

    def kill9(self) -> None:
        """Kill its whole group at once, as a crash or the kernel would. Several threads may do so at the same time."""
        with self._killing:
            if self._running is None:
                return
            with suppress(ProcessLookupError, PermissionError):  # macOS returns EPERM for a group of dead processes
                os.killpg(self.pid, signal.SIGKILL)
            self._running.wait()
            self._guard.forget(self.pid)
            self._running = None

    def _listen(self, running: Running, said: deque[str]) -> None:
        assert running.stdout is not None
        with running.stdout:
            for line in running.stdout:
                for heard in (self.lines, said):
                    heard.append(line.rstrip())
                if self._hear:
                    self._hear(self.name, line.rstrip())


def started(
    argv: Sequence[str],
    env: Mapping[str, str],
    lend: Sequence[int],
    *,
    cwd: Path | None = None,
    user: Mapping[str, Any] = MappingProxyType({}),
) -> "subprocess.Popen[str]":
    """Start a program in its own group; optionally in another folder and as another user."""
    return subprocess.Popen(
        argv,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        pass_fds=lend,
        **user,
    )
