"""A worker process: Celery's worker without its command line's many megabytes.

`python -m config.worker` performs effects and plans, and with EVIDENCE_IN_WORKER captures and reads evidence, too; with
`--queue evidence` that is all it does.
"""

import argparse
import socket
import sys
import warnings
from collections.abc import Callable, Sequence

from celery import signals
from celery.apps.worker import Worker
from celery.exceptions import SecurityWarning

from config import env
from config.broker import EFFECTS, EVIDENCE
from config.celery import app, take_patiently
from config.process import garbage, priority
from incidents.claiming import keyed_executor, stopping
from incidents.outages import database_watch

# A backlog of effects must not starve the processes that people wait for.
NICE = 10
# How many tasks each kind of worker runs at once, each in a thread. Captures mostly wait for their source.
THREADS = {EFFECTS: 16, EVIDENCE: 6}
NAMES = {EFFECTS: "worker", EVIDENCE: "evidence"}


def main() -> int:
    """Work until told to end; return the exit code."""
    queues = _asked()
    priority.give_way(NICE)
    garbage.share_one_arena()
    worker = made(queues)
    database_watch.hold_nothing_for_long()
    signals.worker_shutting_down.connect(_stop, weak=False)
    signals.worker_ready.connect(_ready(NAMES[queues[0]]), weak=False)
    from config.process.own_loop import OwnLoop  # models are there to import since there is a worker

    OwnLoop({queue: NAMES[queue] for queue in queues}).start()
    worker.start()
    keyed_executor.end_lanes()
    return int(worker.exitcode or 0)


def made(queues: Sequence[str]) -> Worker:
    """Load what a worker of these queues needs, and return it, not yet started; it is named after the first queue."""
    # Running as root is dangerous if messages may hold pickled code; here they hold only JSON.
    warnings.simplefilter("ignore", SecurityWarning)
    take_patiently()
    return app.Worker(
        queues=list(queues),
        concurrency=sum(THREADS[queue] for queue in queues),
        hostname=f"{NAMES[queues[0]]}@{socket.gethostname()}",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )


def _asked() -> list[str]:
    """Return the queues to work for."""
    parser = argparse.ArgumentParser(prog="python -m config.worker", description=__doc__)
    parser.add_argument("--queue", choices=list(THREADS))
    if queue := parser.parse_args().queue:
        return [str(queue)]
    return [EFFECTS, EVIDENCE] if env.load().evidence_in_worker else [EFFECTS]


def _stop(**_: object) -> None:
    stopping.ask()


def _ready(name: str) -> Callable[..., None]:
    def say(**_: object) -> None:
        print(f"{name} ready", flush=True)

    return say


if __name__ == "__main__":
    sys.exit(main())
