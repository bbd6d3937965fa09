"""The Celery application: the web sends hints through it, and the worker takes them from it."""

import os

import django
from celery import Celery, signals

from config import broker
from config.messages import BROKER_URL, CONFIGURATION
from config.process import garbage

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Celery's support for Django (closing connections after each task) is needed only by the worker and is many megabytes
# of code, so it is loaded where tasks are loaded and not where hints are sent.
app = Celery("firekind", fixups=[])
app.conf.update(CONFIGURATION)
_kept: list[object] = []  # signals hold their receivers weakly


def take_patiently() -> None:
    """Have this process, which takes messages, wait longer for the next one than a sender does."""
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
    """Keep Celery from configuring logging itself: `config.logs` does that."""


app.autodiscover_tasks(["audit", "workflows", "evidence", "integrations.pagerduty", "integrations.slack"])
