"""The worker process, `python -m config.worker`: Celery's worker without its command line's many megabytes."""

import sys
import warnings

from celery import signals
from celery.exceptions import SecurityWarning

from config import priority
from config.celery import app

# A backlog of effects never starves those who respond.
NICE = 10


def main() -> int:
    """Work until told to end; give the exit code."""
    priority.give_way(NICE)
    # Running as root is dangerous where messages may hold pickled code; here they hold JSON only.
    warnings.simplefilter("ignore", SecurityWarning)
    worker = app.Worker(quiet=True, without_gossip=True, without_mingle=True, without_heartbeat=True)
    worker.start()
    return int(worker.exitcode or 0)


@signals.worker_ready.connect
def _ready(**_: object) -> None:
    print("worker ready", flush=True)


if __name__ == "__main__":
    sys.exit(main())
