"""The Celery application that the web sends hints through and the worker takes them from."""

import os

import django
from celery import Celery, signals

from config import broker
from config.messages import BROKER_URL, CONFIGURATION
from config.process import garbage

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Celery's care for Django (connections closed after each task) is the worker's need and many megabytes of code,
# so it is taken up where tasks are loaded and not where hints are sent.
app = Celery("firekind", fixups=[])
app.conf.update(CONFIGURATION)
_kept: list[object] = []  # signals hold their receivers weakly


def take_patiently() -> None:
    """Have this process, which takes messages, wait for the next one longer than a sender waits."""
    app.conf.update(broker.taking(BROKER_URL))


@signals.import_modules.connect(sender=app)
def _care_for_django(**_: object) -> None:
    from celery.fixups.django import DjangoFixup

    django.setup()
    care = DjangoFixup(app)
    care.install()
    _kept.append(care)


@signals.worker_ready.connect
def _settle(**_: object) -> None:
    garbage.leave_out_what_is_loaded()


@signals.setup_logging.connect
def _keep_logging(**_: object) -> None:
    """Keep Celery from setting up logging of its own: `config.logs` is what counts."""


app.autodiscover_tasks(["audit", "workflows", "evidence", "integrations.pagerduty", "integrations.slack"])
