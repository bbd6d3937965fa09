"""The processes of a throwaway stack, forked from one that has imported what all of them need.

``python -m stack.supervisor.preloaded`` imports it once, with its stack's settings, and serves forks: each runs the
requested command in its own session and with its own standard streams, as if an interpreter had been started with it.
That saves a second of processor time for each process and each management command.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from config.env import ROOT
from evidence.reader import forking
from stack.errors import StackError
from stack.processes import stepped_clock
from stack.processes.guard import Guard

SUPPORTED: Final = sys.platform == "linux"  # elsewhere the imported libraries do not survive a fork
START_S: Final = 60
# Settings that may differ from those that were loaded, because they are read later.
LATE: Final = frozenset({"FIREKIND_CRASH_AT"})
MODULES: Final = (
    "audit.tasks",
    "celery.apps.worker",
    "celery.concurrency.thread",
    "celery.fixups.django",
    "celery.worker.components",
    "celery.worker.consumer",
    "config.asgi",
    "config.celery",
    "config.process.priority",
    "django.core.management.commands.shell",
    "evidence.tasks",
    "integrations.pagerduty.adapter.current",
    "integrations.pagerduty.tasks",
    "integrations.sandbox.app",
    "integrations.profilers.current",
    "integrations.slack.doors.bolt",
    "integrations.slack.adapter.current",
    "integrations.slack.tasks",
    "kombu.transport.redis",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
    "workflows.tasks",
)


class Forked:
    """One process, with the interface of `subprocess.Popen`."""

    def __init__(self, line: socket.socket, pid: int, stdout: IO[str] | None = None) -> None:
        self.pid = pid
        self.stdout = stdout
        self.returncode: int | None = None
        self._line = line
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self._hear(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ended, and return the exit code."""
        code = self._hear(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def _hear(self, timeout: float | None) -> int | None:
        with self._lock:
            if self.returncode is None:
                self._line.settimeout(timeout)
                try:
                    code = forking.heard(self._line)
                except (TimeoutError, BlockingIOError):
                    return None
                self.returncode = -9 if code is None else code
                self._line.close()
            return self.returncode


class Preloaded:
    """The fork server."""

    def __init__(self, env: Mapping[str, str], *, guard: Guard) -> None:
        self.env = dict(env)
        self._door, theirs = socket.socketpair()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the process)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "stack.supervisor.preloaded"],
                cwd=ROOT,
                env=self.env,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                start_new_session=True,
            )
        guard.watch(self._process.pid)
        self._guard = guard
        self._door.settimeout(START_S)
        if self._door.recv(1) != forking.READY:
            self._stderr.seek(0)
            said = self._stderr.read().decode(errors="replace")
            self.close()
            raise StackError(f"The stack could not be loaded: {said[-2000:]}")

    def close(self) -> None:
        """End it, and what it still runs."""
        self._door.close()
        self._process.kill()
        self._process.wait()
        self._guard.forget(self._process.pid)
        self._stderr.close()

    def again(self, env: Mapping[str, str]) -> Preloaded:
        """Load everything again, with other settings; what this one runs continues."""
        return Preloaded(env, guard=self._guard)

    def takes(self, argv: Sequence[str], env: Mapping[str, str]) -> bool:
        """Return whether a fork can run this command with these settings."""
        differ = {name for name in {*env, *self.env} if env.get(name) != self.env.get(name)}
        return argv[0] == sys.executable and differ <= LATE

    def start(self, argv: Sequence[str], env: Mapping[str, str], *, lend: Sequence[int] = ()) -> Forked:
        """Start a command whose output is read as it arrives."""
        read, write = os.pipe()
        stdout = os.fdopen(read, encoding="utf-8", errors="replace")
        try:
            line, pid = self._begin(argv, env, write, write, lend=lend)
        except BaseException:
            stdout.close()
            raise
        finally:
            os.close(write)
        return Forked(line, pid, stdout)

    def run(self, argv: Sequence[str], *, check: bool) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, and return its output."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            code = Forked(*self._begin(argv, self.env, out.fileno(), err.fileno())).wait()
            said = []
            for one in (out, err):
                one.seek(0)
                said.append(one.read().decode(errors="replace"))
        done = subprocess.CompletedProcess(list(argv), code, *said)
        if check:
            done.check_returncode()
        return done

    def _begin(
        self, argv: Sequence[str], env: Mapping[str, str], out: int, err: int, *, lend: Sequence[int] = ()
    ) -> tuple[socket.socket, int]:
        over = {name: env[name] for name in LATE if name in env}
        with tempfile.TemporaryFile() as given:
            given.write(json.dumps({"argv": list(argv[1:]), "env": over, "lend": list(lend)}).encode())
            given.seek(0)
            asked = forking.ask(self._door, b"x", given.fileno(), out, err, *lend, timeout_s=START_S)
        if asked is None:
            raise StackError("The process that forks is gone.")
        return asked


def main() -> None:
    """Load everything, report readiness, and serve forks."""
    _load()
    gc.freeze()
    asked = forking.serve()
    if asked is not None:
        _become(asked)


def _load() -> None:
    import django
    from django.conf import settings

    from config.process import priority
    from stack.supervisor import prepare

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    priority.give_way = _keep_up
    prepare.gather(Path(settings.STATIC_ROOT))  # first: the web looks for them at import
    for name in MODULES:
        importlib.import_module(name)
    assert threading.active_count() == 1, threading.enumerate()


def _keep_up(nice: int) -> None:
    """Run no worker at low priority: a test waits for it as people do for pages, and other tests would starve it."""


def _become(asked: forking.ForkRequest) -> None:
    """Run a command in this fork as its own process would."""
    os.setsid()
    given, out, err, *lent = asked.files
    with os.fdopen(given, "rb") as file:
        words = json.load(file)
    os.dup2(out, 1)
    os.dup2(err, 2)
    _lay(lent, words["lend"])
    kept = {0, 1, 2, *words["lend"]}
    for one in (int(name) for name in os.listdir("/proc/self/fd")):  # noqa: PTH208 (numbers, not paths)
        if one not in kept:
            with suppress(OSError):  # the folder being listed
                os.close(one)
    os.environ.update(words["env"])
    stepped_clock.install(words["argv"])
    _run(words["argv"])


def _lay(lent: Sequence[int], wanted: Sequence[int]) -> None:
    """Give inherited sockets the numbers that the command expects."""
    import fcntl

    aside = [fcntl.fcntl(one, fcntl.F_DUPFD, 512) for one in lent]
    for one, number in zip(aside, wanted, strict=True):
        os.dup2(one, number, inheritable=True)


def _run(argv: list[str]) -> None:
    if argv[0] == "-m":
        sys.argv = argv[1:]
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = argv
        runpy.run_path(argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
