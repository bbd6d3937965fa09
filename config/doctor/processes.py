"""The broker, and whether each kind of process was seen recently; uses the same checks as `/ready`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.utils import timezone

from config.http import readiness
from config.process import broker_probe
from incidents.claiming.shared_clock import clock
from integrations.check_result import CheckResult, note, wrong
from workflows.status import workers

WITHOUT: Final = {
    workers.WORKER: "nothing is carried out in Slack and PagerDuty",
    workers.EVIDENCE: "no evidence is read and nothing is captured",
}
UNWRITTEN: Final = "Workers can't report that they are alive, because PostgreSQL is read-only. Fix that first."
PRECONDITION_FAILED: Final = 406  # RabbitMQ's code
OTHERS_QUEUE: Final = (
    "RabbitMQ has a queue of Firekind's name that was made differently, perhaps by another application: name a virtual "
    "host of Firekind's own in BROKER_URL, or delete the queue. Until then workers look for work themselves."
)
UNHEARD: Final = (
    "No Socket Mode process was seen recently: start `python -m stack socket`, or remove SLACK_APP_TOKEN if Slack "
    "sends its requests over HTTP. Without one, Slack's commands get no answer."
)


def findings() -> Iterator[CheckResult]:
    """Yield whether the broker responds, then a finding for each kind of process."""
    error = broker_probe.error()
    if error is None:
        yield CheckResult("The broker answers.")
    else:
        yield wrong(f"{mend_of(error)}{_in_its_words(error)}")
    if not workers.can_report():
        yield wrong(UNWRITTEN)
        return
    clock.measure()
    now = timezone.now()
    living = workers.living(at=now)
    for name, without in WITHOUT.items():
        if name in living:
            yield CheckResult(f"A process {name} is alive.")
        else:
            yield wrong(f"{readiness.MENDS[name]} Without one, {without}.")
    slack = settings.FIREKIND.slack
    if slack is not None and slack.app_token:
        yield CheckResult("Slack is heard in Socket Mode.") if workers.SOCKET in living else wrong(UNHEARD)
    alone_since = workers.now(at=now).alone_since
    if alone_since is not None:
        yield note(f"A worker has heard nothing from the broker since {alone_since:%H:%M:%S} UTC. Look at its log.")


def mend_of(error: BaseException) -> str:
    """Return what to do about a broker's error."""
    return (
        OTHERS_QUEUE if getattr(error, "reply_code", None) == PRECONDITION_FAILED else readiness.MENDS[readiness.BROKER]
    )


def _in_its_words(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f" It was: {lines[0].rstrip('.')}." if lines else ""
