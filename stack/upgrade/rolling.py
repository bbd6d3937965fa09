"""A stack with two versions running on the same tables, broker and evidence, with stand-ins of no version."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from socket import socket
from typing import Final

from stack.processes import commands, ports, process
from stack.processes.guard import Guard
from stack.processes.ports import LOOPBACK
from stack.processes.process import Hear, Process
from stack.services import services
from stack.supervisor import running, surroundings
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import ALL
from stack.upgrade import versions
from stack.upgrade.balancer import Balancer
from stack.upgrade.versions import CodeVersion

OLD: Final = "old-"
# A web process logs each request that it answered, because the answers are part of the verdict.
TELLS: Final = {"--no-access-log": "--access-log", "warning": "info"}


class RollingStack(Stack):
    """Processes of both versions, the older ones under names of their own, behind one address."""

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        doors: Mapping[str, socket],
        balancer: Balancer,
        guard: Guard,
        hear: Hear,
        old: CodeVersion,
    ) -> None:
        super().__init__(env, doors={name: doors[name] for name in ("web", "sandbox")}, guard=guard, hear=hear)
        self.processes["web"].argv = _telling(self.processes["web"].argv)
        self.old, self.new = old, versions.here()
        self.tree = old.tree
        self.balancer = balancer
        self._at = {name: ports.number(door) for name, door in doors.items()}
        for kind, argv in old.commands(self.env).items():
            name, lend = OLD + kind, list[int]()
            if kind == "web":
                lend = [doors[name].fileno()]
                argv = _telling(commands.lent(argv, fd=lend[0]))  # noqa: PLW2901
            starting = partial(process.started, cwd=old.tree)
            self.processes[name] = Process(
                name, argv, env=self.env, guard=guard, hear=hear, lend=lend, starting=starting
            )

    @property
    def old_names(self) -> Sequence[str]:
        """Return the older version's processes in the order in which they are replaced, the web last."""
        return sorted((name for name in self.processes if name.startswith(OLD)), key=lambda name: name == f"{OLD}web")

    @property
    def new_names(self) -> Sequence[str]:
        """Return the names of this version's processes."""
        return [name for name in ALL if name not in versions.STAND_INS]

    def move_on(self) -> None:
        """Migrate with this version, and run every command with it from now on."""
        self.tree = self.new.tree
        self.prepare()

    def send_to(self, *names: str) -> None:
        """Send new requests to these web processes."""
        self.balancer.send_to(*(self._at[name] for name in names))

    def _healthy(self, name: str) -> bool:
        kind = name.removeprefix(OLD)
        if kind == "web":
            return running.answers(f"http://{LOOPBACK}:{self._at[name]}/health")
        return super()._healthy(name) if kind == "sandbox" else self.processes[name].has_said(f"{kind} ready")


def _telling(argv: Sequence[str]) -> list[str]:
    return [TELLS.get(word, word) for word in argv]


@contextmanager
def opened(old: CodeVersion, *, hear: Hear) -> Iterator[RollingStack]:
    """Yield a stack on which only the older version's processes serve; all of it ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="firekind-upgrade-"))
    with ExitStack() as exits:
        exits.callback(shutil.rmtree, folder, ignore_errors=True)
        guard = Guard()
        exits.callback(guard.close)
        front, sandbox = (exits.enter_context(one) for one in ports.listen_pair())
        doors = {"sandbox": sandbox}
        for name in ("web", f"{OLD}web"):
            doors[name] = exits.enter_context(ports.listen(0, what=f"the {name}", advice="try again"))
        balancer = Balancer(front)
        exits.callback(balancer.close)
        urls = exits.enter_context(services.running({}, data_dir=folder, guard=guard, durable=False))
        settings = surroundings.blank() | surroundings.with_sandbox(data_dir=folder, port=ports.number(front))
        settings |= {"WEB_WORKERS": "1", **urls}
        stack = RollingStack(settings, doors=doors, balancer=balancer, guard=guard, hear=hear, old=old)
        exits.callback(stack.close, gently=False)
        stack.prepare()
        stack.send_to(f"{OLD}web")
        stack.start(*versions.STAND_INS, *stack.old_names)
        yield stack
