"""A running stack: services, processes and the handles to drive them."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from socket import socket

from config.env import ROOT
from config.parsing import addresses
from stack.errors import StackError
from stack.processes import commands, ports
from stack.processes.guard import Guard
from stack.processes.ports import LOOPBACK
from stack.processes.process import Hear, Process, Running, started
from stack.services import postgres, services
from stack.supervisor import prepared, surroundings
from stack.supervisor.preloaded import Preloaded

HEALTHY_S = 60
STOP_S = 6.0
SAYS = "firekind: "
STRAIGHT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # our own processes are not behind a proxy


class Stack:
    """Named processes with a database and a broker, and the environment they share."""

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        doors: Mapping[str, socket],
        guard: Guard,
        hear: Hear | None = None,
        loaded: Preloaded | None = None,
    ) -> None:
        self.env = dict(env)
        self.tree = ROOT  # the code from which commands are run
        self._loaded = loaded
        self._loaded_later: list[Preloaded] = []
        given = {name: value for name, value in env.items() if value}
        self.processes: dict[str, Process] = {}
        self.servers: dict[str, Process] = {}  # the embedded ones
        self._more_doors: list[socket] = []
        for name, command in commands.PROCESSES.items():
            for one in _copies(name, int(given.get("WEB_WORKERS", "1"))):
                argv, lend = command(given), [self._door(doors[name], one, name)] if name in doors else []
                argv = commands.lent(argv, fd=lend[0]) if lend else argv
                self.processes[one] = Process(
                    one, argv, env=self.env, guard=guard, hear=hear, lend=lend, starting=self._started
                )

    def _door(self, door: socket, one: str, name: str) -> int:
        """Return the socket number of one process: the first gets the door itself, each copy gets its own."""
        if one != name:
            door = ports.beside(door)
            self._more_doors.append(door)
        return door.fileno()

    def _started(self, argv: Sequence[str], env: Mapping[str, str], lend: Sequence[int]) -> Running:
        if self._loaded and self._loaded.takes(argv, env):
            return self._loaded.start(argv, env, lend=lend)
        return started(argv, env, lend)

    def close(self, *, gently: bool = True) -> None:
        """End everything; by force if no one will inspect what is left."""
        if gently:
            self.stop()
        for process in self.processes.values():
            process.kill9()
        for door in self._more_doors:
            door.close()
        for loaded in self._loaded_later:
            loaded.close()

    @property
    def base_url(self) -> str:
        """The URL of the web process."""
        return f"http://{addresses.asked_at(self.env.get('HOST', ''))}:{self.env['PORT']}"

    @property
    def sandbox_url(self) -> str:
        """The URL of the sandbox."""
        return f"http://{LOOPBACK}:{int(self.env['PORT']) + 1}"

    @property
    def database_url(self) -> str:
        """The database, for reading and meddling from outside: as the owner if it is ours."""
        return postgres.owner_url(self.env.get("DATABASE_DIRECT_URL") or self.env["DATABASE_URL"])

    def set(self, **settings: str) -> None:
        """Start everything from now on with other settings."""
        self.env |= settings
        for process in self.processes.values():
            process.env |= settings
        if self._loaded:
            self._loaded = self._loaded.again(self.env)
            self._loaded_later.append(self._loaded)

    def start(self, *names: str, env: Mapping[str, str] | None = None) -> None:
        """Start processes, with settings overlaid on the usual ones, and wait until they serve."""
        for name in names:
            self.processes[name].start(env=env)
        for name in names:
            self._wait(name)

    def wait_ready(self) -> None:
        """Wait until declarations would be carried out. Raises StackError naming the missing parts."""
        deadline = time.monotonic() + HEALTHY_S
        while not answers(f"{self.base_url}/ready", timeout_s=5):
            if time.monotonic() > deadline:
                raise StackError(f"Firekind did not become ready within {HEALTHY_S} s: see {self.base_url}/ready.")
            time.sleep(0.1)

    def copies(self, name: str) -> list[str]:
        """Return the names of all processes of one kind: there may be several for the web."""
        return [one for one in self.processes if one.split("-")[0] == name]

    def stop(self, *names: str) -> None:
        """Ask processes to end, all at once; kill those that do not."""
        asked = [self.processes[name] for name in names or self.processes]
        for process in asked:
            process.ask_to_stop()
        deadline = time.monotonic() + STOP_S
        for process in asked:
            process.stop(patience_s=max(0.0, deadline - time.monotonic()))

    def kill9(self, name: str) -> None:
        """Kill one process as a crash would."""
        self.processes[name].kill9()

    def wait_exit(self, name: str, *, timeout_s: float = 30) -> int:
        """Wait until a process has exited, and return its exit code."""
        deadline = time.monotonic() + timeout_s
        while (code := self.processes[name].exit_code) is None:
            if time.monotonic() > deadline:
                raise StackError(f"{name} is still running after {timeout_s:g} s.")
            time.sleep(0.02)
        return code

    def manage(self, *words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """Run a management command in this stack and return its output."""
        argv = [sys.executable, str(self.tree / "manage.py"), *words]
        return self._loaded.run(argv, check=check) if self._loaded else self._run(argv, check=check)

    def prepare(self) -> None:
        """Bring database, types and static files up to date. Raises StackError with the reason."""
        asked = {"DATABASE_URL": self.database_url, "DATABASE_DIRECT_URL": ""}
        done = self._run([sys.executable, "-m", "stack.supervisor.prepare"], check=False, env=asked)
        if done.returncode:
            raise StackError(f"Could not prepare the database: {last_lines(done.stderr)}")
        if self.database_url != self.env["DATABASE_URL"]:
            postgres.grant(self.database_url, rights=self.tree / postgres.GRANTS.relative_to(ROOT))

    def fill(self) -> None:
        """Create the sample incidents, once per database. Raises StackError with the reason."""
        done = self._run([sys.executable, "-m", "stack.samples"], check=False)
        if done.returncode:
            raise StackError(f"Could not make the sample incidents: {last_lines(done.stderr)}")

    def _run(
        self, argv: Sequence[str], *, check: bool, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        settings = self.env | dict(env or {})
        return subprocess.run(
            argv, env=settings, cwd=self.tree, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=check
        )

    def _wait(self, name: str) -> None:
        deadline = time.monotonic() + HEALTHY_S
        while not self._healthy(name):
            process = self.processes[name]
            if not process.alive:
                raise StackError(f"{name} exited while starting: {last_lines(process.output)}")
            if time.monotonic() > deadline:
                raise StackError(f"{name} did not respond within {HEALTHY_S} s: {last_lines(process.output)}")
            time.sleep(0.03)

    def _healthy(self, name: str) -> bool:
        if name.startswith("web"):
            return answers(f"{self.base_url}/health")
        if name == "sandbox":
            return answers(f"{self.sandbox_url}/health")
        return self.processes[name].has_said(f"{name} ready")


def last_lines(text: str, *, most: int = 12) -> str:
    """Return the end of a process's output, where the reason is."""
    lines = text.strip().splitlines()
    if lines and lines[-1].startswith(SAYS):  # its own one-sentence reason, whatever libraries wrote before
        return lines[-1].removeprefix(SAYS)
    return "\n".join(lines[-most:]) or "no output"


def answers(url: str, *, timeout_s: float = 1) -> bool:
    """Return whether this URL serves a page."""
    try:
        with STRAIGHT.open(url, timeout=timeout_s) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _copies(name: str, workers: int) -> list[str]:
    """Return the names of the processes of one kind: web, web-2, web-3 if there should be several."""
    return [name, *(f"web-{n}" for n in range(2, workers + 1))] if name == "web" else [name]


@contextmanager
def opened(
    env: Mapping[str, str],
    *,
    data_dir: Path,
    doors: Mapping[str, socket],
    processes: Sequence[str],
    hear: Hear | None = None,
    durable: bool = True,
    laid: bool = False,
    preloaded: bool = False,
    pool: int = 0,
) -> Iterator[Stack]:
    """Bring up services, database and processes; end all of it with the block.

    PgBouncer holds a `pool` of that many connections. With `laid`, the database is a copy of one prepared before; with
    `preloaded`, processes are forks instead of programs. `stack.processes.stepped_clock` shifts only the clocks of
    forks.
    """
    with ExitStack() as exits:
        held = exits.enter_context(services.lock(data_dir))
        if env.get("DATABASE_URL"):
            postgres.require(env["DATABASE_URL"])
        guard = Guard(holds=held)
        exits.callback(guard.close)
        servers: dict[str, Process] = {}
        found = services.running(
            {name: value for name, value in env.items() if value},
            data_dir=data_dir,
            guard=guard,
            durable=durable,
            servers=servers,
            pool=pool,
        )
        if laid:
            prepared.lay(data_dir / "postgres", guard=guard)
        settings = {**env, **exits.enter_context(found)}
        exits.enter_context(surroundings.told(settings, data_dir=data_dir))
        loaded = exits.enter_context(closing(Preloaded(settings, guard=guard))) if preloaded else None
        stack = Stack(settings, doors=doors, guard=guard, hear=hear, loaded=loaded)
        stack.servers = servers
        exits.callback(stack.close, gently=durable)
        if not (laid and preloaded):
            stack.prepare()
        stack.start(*[one for name in processes for one in stack.copies(name)])
        yield stack
