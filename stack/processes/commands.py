"""The command line of each kind of process: one table, for supervised stacks, the Procfile and containers."""

import sys
from collections.abc import Callable, Mapping

from config.env import ROOT

PYTHON = sys.executable
# How long event streams may delay a web process that was asked to stop.
GRACE_S = 2
UVICORN = f"--timeout-graceful-shutdown {GRACE_S} --log-level warning --no-access-log --no-server-header"
# Connections of one web process: each open page holds one. If there are more, `config.http.connections` makes room, so
# that idle ones keep no one out, and it limits headers and times, which uvicorn does not.
CONNECTIONS = "--http config.http.connections:Connection --ws none --limit-concurrency 1000"


def web(env: Mapping[str, str]) -> list[str]:
    """Serve pages, Slack's doors and live updates."""
    believed = ["--forwarded-allow-ips", env.get("FORWARDED_ALLOW_IPS", "")]  # uvicorn already trusts the loopback
    several = ["--workers", env.get("WEB_WORKERS", "1")]
    options = [*UVICORN.split(), *CONNECTIONS.split(), *believed, *several, *_address(env, after=0)]
    return [PYTHON, "-m", "uvicorn", "config.asgi:application", *options]


def worker(env: Mapping[str, str]) -> list[str]:
    """Perform effects, and with EVIDENCE_IN_WORKER also what `evidence` does; automatically yields to pages."""
    return [PYTHON, "-m", "config.worker"]


def evidence(env: Mapping[str, str]) -> list[str]:
    """Capture and read evidence, which takes long, separately from the effects."""
    return [PYTHON, "-m", "config.worker", "--queue", "evidence"]


def socket(env: Mapping[str, str]) -> list[str]:
    """Receive what Slack sends in Socket Mode, if it cannot reach the web."""
    return [PYTHON, str(ROOT / "manage.py"), "slack_socket"]


def sandbox(env: Mapping[str, str]) -> list[str]:
    """Stand in for Slack."""
    return [PYTHON, "-m", "integrations.sandbox", *_address(env, after=1)]


def lent(argv: list[str], *, fd: int) -> list[str]:
    """Make a server listen on an inherited socket instead of its own."""
    kept = argv[: argv.index("--host")]
    if "--workers" in kept:  # the stack itself starts several processes, each in its own group
        del kept[kept.index("--workers") :]
    return [*kept, "--fd", str(fd)]


def _address(env: Mapping[str, str], *, after: int) -> list[str]:
    """Return the arguments for host and port; last, so that `lent` can remove them."""
    return ["--host", env.get("HOST", "127.0.0.1"), "--port", str(int(env.get("PORT", "8000")) + after)]


PROCESSES: dict[str, Callable[[Mapping[str, str]], list[str]]] = {
    "sandbox": sandbox,
    "web": web,
    "worker": worker,
    "evidence": evidence,
    "socket": socket,
}
