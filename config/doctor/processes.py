"""The broker, and whether each kind of process answers through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kombu.exceptions import OperationalError

from config.celery import app
from integrations.check_result import CheckResult, wrong

PATIENCE_S: Final = 2
WITHOUT: Final = {
    "worker": "nothing is carried out in Slack and PagerDuty",
    "evidence": "no evidence is read and nothing is captured",
    "beat": "nothing that was missed is found, and the audit is not sealed",
}


def findings() -> Iterator[CheckResult]:
    """Yield whether the broker answers, and then each kind of process."""
    try:
        alive = {name.partition("@")[0] for answer in ping() for name in answer}
    except (OperationalError, OSError):
        yield wrong("The broker does not answer. Start Redis, or set REDIS_URL to where it is.")
        return
    yield CheckResult("The broker answers.")
    for name, without in WITHOUT.items():
        if name in alive:
            yield CheckResult(f"A process {name} is alive.")
        else:
            yield wrong(f"No process {name} answers: {without}. Start `python -m stack {name}`, and look at its log.")


def ping() -> Sequence[Mapping[str, object]]:
    """Ask every process behind the broker whether it is there; return answers by name. Raises OperationalError."""
    with app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=PATIENCE_S)
    return app.control.ping(timeout=PATIENCE_S) or []
