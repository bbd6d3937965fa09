"""The beat process, `python -m config.beat`: rings what is due, and does itself what must not wait behind other work.

Sealing the audit and looking who is in private channels come in a queue of their own, which nobody else works on.
"""

import os
import signal
import socket
import sys
import threading
import warnings

from celery import signals
from celery.beat import Service
from celery.exceptions import SecurityWarning

from config.celery import app, take_patiently
from config.messages import KEEPING

THREADS = 3  # one for each kind of task there


def main() -> int:
    """Ring and work until told to end; give the exit code."""
    # Running as root is dangerous where messages may hold pickled code; here they hold JSON only.
    warnings.simplefilter("ignore", SecurityWarning)
    take_patiently()
    worker = app.Worker(
        queues=[KEEPING],
        concurrency=THREADS,
        hostname=f"beat@{socket.gethostname()}",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    signals.worker_ready.connect(_ready, weak=False)
    from config.process.own_loop import OwnLoop  # models are there to import since there is a worker

    OwnLoop("beat", queue=KEEPING, threads=THREADS).start()
    threading.Thread(target=_ring, name="beat", daemon=True).start()
    worker.start()
    return int(worker.exitcode or 0)


def _ring() -> None:
    """Send what is due; without it the process is of no use, so it ends and is started again."""
    try:
        Service(app, scheduler_cls=app.conf.beat_scheduler).start()
    finally:
        os.kill(os.getpid(), signal.SIGTERM)


def _ready(**_: object) -> None:
    print("beat ready", flush=True)


if __name__ == "__main__":
    sys.exit(main())
