"""Each process imports at its start nothing large that only others need."""

import json
import os
import secrets
import subprocess
import sys

import pytest

from config import env

# Readers of profiles and pictures, search expressions, keys for signing in: each is imported where it is used.
BY_NOBODY = {
    "PIL",
    "celery.bin",
    "django.contrib.admin",
    "fido2",
    "google.protobuf",
    "numpy",
    "opentelemetry.proto",
    "pyarrow",
    "re2",
    "requests",
}
PAGES = {"config.urls", "evidence.views", "incidents.views", "workflows.views", "uvicorn"}
DOORS = {"integrations.slack.doors", "slack_bolt"}
VENDORS = {"httpx2", "pagerduty", "slack_sdk"}
WEB = "import config.asgi"
# A link to each page that messages link to makes Django import no page.
WORKER = """
from config import worker
made = worker.made({queues!r})
from config.process import own_loop
from evidence.models import Evidence
from incidents.models import Incident, Proposal, Summary
from reviews.models import Review

incident = Incident(codename="calm-otter")
for linked in (incident, Summary(codename="calm-otter"), Proposal(ref="a1"), Evidence(incident=incident, n=1)):
    assert linked.get_absolute_url()
assert Review(incident=incident).get_absolute_url()
"""
SAY = "\nimport json, sys; print(json.dumps(sorted(sys.modules)))"


@pytest.mark.parametrize(
    ("start", "left_out"),
    [
        pytest.param(WEB, BY_NOBODY | {"httpx2", "pagerduty"}, id="web"),
        pytest.param(WORKER.format(queues=["firekind"]), BY_NOBODY | PAGES | DOORS, id="worker"),
        pytest.param(WORKER.format(queues=["firekind", "evidence"]), BY_NOBODY | PAGES | DOORS, id="both"),
        pytest.param(WORKER.format(queues=["evidence"]), BY_NOBODY | PAGES | DOORS | VENDORS, id="evidence"),
    ],
)
def test_a_process_starts_without_what_others_need(start: str, left_out: set[str]) -> None:
    assert not left_out & loaded(start)


def loaded(start: str) -> set[str]:
    """Return the modules that a fresh process has imported after running some code."""
    given = {"DATABASE_URL": "postgresql://db", "BROKER_URL": "redis://b", "SECRET_KEY": secrets.token_urlsafe(64)}
    environ = {**os.environ, **dict.fromkeys(env.NAMES, ""), **given}
    asked = [sys.executable, "-c", start + SAY]
    done = subprocess.run(asked, env=environ, cwd=env.ROOT, capture_output=True, check=True)
    return set(json.loads(done.stdout))
