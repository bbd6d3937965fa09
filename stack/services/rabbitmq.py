"""RabbitMQ as Debian packages it, for a rehearsal with several machines: its own node on the loopback.

Its quorum queues are on disk, so it may be killed and restarted. Erlang's port mapper, which usually outlives the node
that starts it, is also a child of ours.
"""

import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from stack.errors import StackError
from stack.processes import ports
from stack.processes.guard import Guard
from stack.processes.process import Process
from stack.services import server_user

# The package's own script; the one on the PATH switches to the package's user first.
PROGRAM: Final = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
CONTROL: Final = PROGRAM.with_name("rabbitmqctl")
PATH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"
START_S: Final = 90
NODE: Final = "firekind@localhost"
CONFIG: Final = """\
listeners.tcp.1 = 127.0.0.1:{port}
loopback_users.guest = true
log.console = false
log.file.level = warning
vm_memory_high_watermark.absolute = 256MB
disk_free_limit.absolute = {free}
"""
FREE, MORE_THAN_THERE_IS = 64_000_000, 1 << 60  # bytes that must be free on its disk for it to accept messages
CONTROL_S: Final = 60


@dataclass(slots=True)
class RabbitNode:
    """One node and its port mapper, which faults can be applied to like to any server."""

    mapper: Process
    server: Process
    port: int

    @property
    def url(self) -> str:
        """Its URL for Celery."""
        return f"amqp://guest:guest@{ports.LOOPBACK}:{self.port}//"

    def start(self) -> None:
        """Start it, or restart it on the same files, and wait until it responds."""
        if not self.mapper.alive:
            self.mapper.start()
        self.server.start()
        _wait(self)

    def fill(self, *, full: bool) -> None:
        """Make it believe that its disk is full, so that it stops reading from publishers; or undo that."""
        free = MORE_THAN_THERE_IS if full else FREE
        self.control("set_disk_free_limit", str(free))

    def control(self, *words: str) -> None:
        """Run a control command on the node, such as adding a user."""
        argv = [str(CONTROL), "--node", NODE, *words]
        subprocess.run(argv, env=self.server.env, check=True, capture_output=True, timeout=CONTROL_S)

    def stop(self) -> None:
        """End it and its port mapper."""
        self.server.kill9()
        self.mapper.kill9()


def find() -> Path | None:
    """Return the program, if the package is installed."""
    return PROGRAM if PROGRAM.exists() and shutil.which("epmd", path=PATH) else None


def start(folder: Path, *, guard: Guard) -> RabbitNode:
    """Start a node that stores everything in `folder` and listens only on the loopback. Raises StackError."""
    program = find()
    if program is None:
        raise StackError("RabbitMQ is not installed (Debian: apt-get install rabbitmq-server).")
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    port, distribution, mapping = _free_ports(3)
    (folder / "rabbitmq.conf").write_text(CONFIG.format(port=port, free=FREE), encoding="ascii")
    (folder / "enabled_plugins").write_text("[].\n", encoding="ascii")
    server_user.own(folder)
    env = {
        "PATH": PATH,
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "ERL_EPMD_PORT": str(mapping),
        "ERL_EPMD_ADDRESS": ports.LOOPBACK,
        "RABBITMQ_NODENAME": NODE,
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        # One scheduler, which sleeps as soon as it is idle; the port mapper is ours.
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none -start_epmd false "
        "-kernel inet_dist_use_interface {127,0,0,1}",
    }
    starting = partial(server_user.start, folder=folder)
    words = ["-address", ports.LOOPBACK, "-port", str(mapping)]
    mapper = Process("epmd", [str(shutil.which("epmd", path=PATH)), *words], env=env, guard=guard, starting=starting)
    node = RabbitNode(mapper, Process("rabbitmq", [program], env=env, guard=guard, starting=starting), port)
    node.start()
    return node


def _free_ports(count: int) -> list[int]:
    taken = [socket.create_server((ports.LOOPBACK, 0)) for _ in range(count)]
    try:
        return [ports.number(one) for one in taken]
    finally:
        for one in taken:
            one.close()


def _wait(node: RabbitNode) -> None:
    deadline = time.monotonic() + START_S
    while node.server.alive and time.monotonic() < deadline:
        if _answers(node.port):
            return
        time.sleep(0.1)
    said = node.mapper.output + node.server.output
    node.stop()
    raise StackError(f"RabbitMQ did not start: {said[-500:] or 'no output'}")


def _answers(port: int) -> bool:
    """Offer a protocol version that does not exist: it responds with its own version and hangs up."""
    try:
        with socket.create_connection((ports.LOOPBACK, port), timeout=2) as client:
            client.sendall(b"AMQP\0\0\0\0")
            return client.recv(4) == b"AMQP"
    except OSError:
        return False
