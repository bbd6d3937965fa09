"""Servers shared by several machines, and the machines: each has its own settings, data folder and processes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from socket import socket
from typing import Final

from stack.processes import ports
from stack.processes.guard import Guard
from stack.processes.process import Hear
from stack.services import object_server, pgbouncer, postgres_pair, rabbitmq, redis, services
from stack.services.object_server import ObjectServer
from stack.services.pgbouncer import Pooler
from stack.services.postgres_pair import ServerPair
from stack.services.rabbitmq import RabbitNode
from stack.supervisor import prepared, surroundings
from stack.supervisor.running import Stack

LEASE_S: Final = 5  # after which another host takes over the claims of one that is suspended
POOL: Final = 12  # connections to PostgreSQL that all machines share
MISSING: Final = {
    "RabbitMQ (apt-get install rabbitmq-server); Redis is the broker": rabbitmq.find,
    "PgBouncer (apt-get install pgbouncer); connections are not pooled": pgbouncer.find,
    f"object storage ({object_server.GETTING}); evidence is in a shared folder": object_server.find,
}


@dataclass(slots=True)
class Fleet:
    """Servers, and the machines by name. ``pooler``, ``rabbit`` and ``objects`` are None if not installed."""

    settings: dict[str, str]
    folder: Path
    guard: Guard
    hear: Hear
    pair: ServerPair
    pooler: Pooler | None
    rabbit: RabbitNode | None
    objects: ObjectServer | None
    machines: dict[str, Stack] = field(default_factory=dict)

    @property
    def first(self) -> Stack:
        """The machine that Slack and PagerDuty send to."""
        return next(iter(self.machines.values()))

    def add(self, name: str, *processes: str, doors: Mapping[str, socket]) -> Stack:
        """Start a machine that runs these processes; its web listens on its door."""
        own = {"FIREKIND_DATA_DIR": str(self.folder / name)}
        if "web" in doors:
            own["PORT"] = str(ports.number(doors["web"]))
        machine = Stack(self.settings | own, doors=doors, guard=self.guard, hear=self._hearing(name))
        self.machines[name] = machine
        if len(self.machines) == 1:
            machine.prepare()
        machine.start(*processes)
        return machine

    def close(self) -> None:
        """Kill what runs on the machines: no one inspects what is left."""
        for machine in self.machines.values():
            machine.close(gently=False)

    def _hearing(self, name: str) -> Hear:
        return lambda process, line: self.hear(f"{name} {process}", line)


def missing() -> list[str]:
    """List the programs that are not installed, each with its replacement."""
    return [says for says, find in MISSING.items() if find() is None]


@contextmanager
def opened(*, hear: Hear) -> Iterator[Fleet]:
    """Yield two machines with shared servers; everything ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="firekind-machines-"))
    folder.chmod(0o755)
    with ExitStack() as exits:
        exits.callback(rmtree, folder, ignore_errors=True)
        guard = Guard()
        exits.callback(guard.close)
        web, sandbox = (exits.enter_context(one) for one in ports.listen_pair())
        fleet = _servers(folder, guard, hear, web, exits)
        exits.callback(fleet.close)
        fleet.add("a", "sandbox", "web", "worker", "evidence", doors={"web": web, "sandbox": sandbox})
        more = exits.enter_context(ports.listen(0, what="the second web host", advice="try again"))
        fleet.add("b", "web", "worker", doors={"web": more})
        yield fleet


def _servers(folder: Path, guard: Guard, hear: Hear, web: socket, exits: ExitStack) -> Fleet:
    sockets = exits.enter_context(services.sockets(folder))
    sockets.chmod(0o755)
    prepared.lay(folder / "postgres" / "first", guard=guard)
    pair = postgres_pair.start(folder / "postgres", sockets=sockets, guard=guard)
    exits.callback(pair.stop)
    port = ports.number(web)
    settings = surroundings.blank() | surroundings.with_sandbox(data_dir=folder / "a", port=port)
    settings |= {"FIREKIND_BASE_URL": f"http://{ports.LOOPBACK}:{port}", "WEB_WORKERS": "1", "DATABASE_URL": pair.url}
    settings["FIREKIND_LEASE_S"] = str(LEASE_S)
    pooler = rabbit = objects = None
    if pgbouncer.find():
        pooler = pgbouncer.start(sockets / "pool", sockets=pair.sockets[0], size=POOL, guard=guard)
        exits.callback(pooler.server.stop)
        settings |= {"DATABASE_URL": pooler.url, "DATABASE_DIRECT_URL": pair.url}
    if rabbitmq.find():
        rabbit = rabbitmq.start(folder / "rabbitmq", guard=guard)
        exits.callback(rabbit.stop)
        settings["BROKER_URL"] = rabbit.url
    else:
        exits.callback(redis.start(sockets, guard=guard).stop)
        settings["BROKER_URL"] = redis.url(sockets)
    if object_server.find():
        objects = object_server.start(folder / "objects", guard=guard)
        exits.callback(objects.server.stop)
        settings |= objects.settings
    else:
        settings["EVIDENCE_STORAGE_URL"] = str(folder / "evidence")
    return Fleet(settings, folder, guard, hear, pair, pooler, rabbit, objects)
