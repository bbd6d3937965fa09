"""The beat process, `python -m config.beat`: it only sends names, so it loads neither Django nor the tasks."""

import signal
import sys

from celery import Celery
from celery.beat import Service

from config.messages import CONFIGURATION


def main() -> None:
    """Send what is due until told to end."""
    app = Celery("firekind", fixups=[])
    app.conf.update(CONFIGURATION)
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: sys.exit(0))
    print("beat ready", flush=True)
    Service(app, scheduler_cls=app.conf.beat_scheduler).start()


if __name__ == "__main__":
    main()
