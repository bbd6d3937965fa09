"""The beat process, `python -m config.beat`: rings what is due, and does itself what must not wait behind other work.

Sealing the audit and looking who is in private channels are its own: they need no message and no worker.
"""

import signal
import sys
import threading

import django
from celery.beat import Service

from config.celery import app
from config.process import garbage


def main() -> int:
    """Ring and work until told to end; give the exit code."""
    ended, fell = threading.Event(), threading.Event()
    for asked in (signal.SIGTERM, signal.SIGINT):
        signal.signal(asked, lambda *_: ended.set())
    django.setup()
    app.loader.import_default_modules()
    from config.process.own_loop import OwnLoop  # models are there to import from here on

    garbage.leave_out_what_is_loaded()
    loop = OwnLoop("beat", queue=None)
    loop.start()
    threading.Thread(target=_ring, args=(ended, fell), name="beat", daemon=True).start()
    print("beat ready", flush=True)
    ended.wait()
    loop.stop()
    return 1 if fell.is_set() else 0


def _ring(ended: threading.Event, fell: threading.Event) -> None:
    """Send what is due; without it the process is of no use, so it ends and is started again."""
    try:
        Service(app, scheduler_cls=app.conf.beat_scheduler).start()
    finally:
        fell.set()
        ended.set()


if __name__ == "__main__":
    sys.exit(main())
