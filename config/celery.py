"""The Celery application that the web sends hints through and the worker takes them from."""

import os

from celery import Celery, signals

from config.messages import CONFIGURATION

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("firekind")
app.conf.update(CONFIGURATION)
app.autodiscover_tasks()


@signals.setup_logging.connect
def _keep_logging(**_: object) -> None:
    """Keep Celery from setting up logging of its own: `config.logs` is what counts."""
