"""Whatever failed for good is retried within two days exactly if its report says that it is retried automatically.

For every kind of step, every sort of error and any length of outage: the vendor is away first, then well, and the step
may fail again the same way.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, Final

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.pagerduty.protocol import error_messages as pager_words
from integrations.slack.protocol import error_messages
from integrations.slack.protocol.method_rule import RETRYABLE
from integrations.tests.duty import Duty
from workflows import ports
from workflows.effects.failing import announcements, failures, left_to_people, recovering
from workflows.effects.work import Work
from workflows.models import Effect
from workflows.planning.actions import CREATE, KINDS
from workflows.ports import VendorError

PROMISE: Final = re.compile(r"(?:etrying|etries|hecking again) automatically")
ROUNDS: Final = left_to_people.TOLD + 2
LOOKS_H: Final = (0, 1, 12, 48)  # of the regular looks, which are taken every minute
OUTAGES_H: Final = (0, 30)
SPEC: Final = {"name": "inc-x", "private": False, "text": "", "title": "Slow", "room": 1, "card": {"kind": "headline"}}
STEPS: Final = [(kind, verb) for kind, about in KINDS.items() for verb in about.methods]
SILENT: Final = {"unknown": True, "lingers": True}
# By port: the errors that pass by themselves, with their words, and one that does not.
PASSING: Final[dict[str, dict[str, str]]] = {
    "chat": {code: error_messages.words(code) for code in sorted({*RETRYABLE, "connection_failed"} - {"ratelimited"})},
    "pager": {
        code: pager_words.words(code)
        for code in ("connection_failed", "may_have_rung", "unavailable", "unreadable_answer")
    },
    "tracker": {"unavailable": "GitHub Issues did not answer. Retrying automatically."},
    "profiler": {"unreachable": "The source did not answer. Retrying automatically."},
}
FOR_GOOD: Final = {
    "chat": ("restricted_action", error_messages.words("restricted_action")),
    "pager": ("2010", pager_words.words("2010")),
    "tracker": ("http_422", "GitHub Issues rejects it."),
    "profiler": ("http_404", "The source has no such profile."),
}


ONE_OF: Final = {"chat": "bookmark", "pager": "page", "tracker": "ticket", "profiler": "capture"}


def errors(kind: str, verb: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each sort of error of a step, by name, with what makes it; one kind of each port meets all that pass."""
    port = KINDS[kind].port
    code, says = FOR_GOOD[port]
    yield "refused for good", {"says": says, "code": code}
    passing = sorted(PASSING[port])
    some = passing if (kind, verb) == (ONE_OF[port], CREATE) else random.Random(f"{kind} {verb}").sample(passing, 1)
    for one in some:
        yield f"refused for now: {one}", {"says": PASSING[port][one], "code": one, "retryable": True}
    lost = "The connection was lost. Checking and retrying automatically."
    yield "silent", {"says": lost, "code": "connection_lost", "retryable": True, **SILENT}


CASES: Final = [
    pytest.param(kind, verb, about, OUTAGES_H[n % 2], id=f"{kind}-{verb}-{name}")
    for kind, verb in STEPS
    for n, (name, about) in enumerate(errors(kind, verb))
]


class Away(SimpleNamespace):
    """A vendor that answers no one."""

    def __getattr__(self, name: str) -> Any:
        raise VendorError("It is away.", code="unavailable", method=name, retryable=True)


@pytest.mark.parametrize(("kind", "verb", "about", "outage_h"), CASES)
def test_a_report_promises_a_retry_exactly_if_there_will_be_one(
    duty: Duty, kind: str, verb: str, about: dict[str, Any], outage_h: int
) -> None:
    at = timezone.now()
    incident = lifecycle.declare("Slow", by=duty.house.person("dee"), at=at, type=duty.house.type("ambiguous"))
    method = KINDS[kind].methods[verb]
    effect = Effect.objects.create(
        incident=incident, key=f"{kind}/x#1", thing=f"{kind}/x", kind=kind, verb=verb, sentence="do it", sign="+",
        spec=SPEC, method=method, rank=1, room=1, revision=incident.revision, due_at=at, created_at=at,
    )  # fmt: skip
    for _ in range(ROUNDS):
        at = _fail(effect, VendorError(method=method, **about), at=at)
        promised = _promise(effect, incident)
        at = _watch(effect, duty, at=at, away_h=outage_h)
        assert (effect.state == Effect.State.WAITING) == promised, effect.error
        if not promised:
            return


def _fail(effect: Effect, error: VendorError, *, at: datetime) -> datetime:
    """Have the step fail until it is given up."""
    while effect.state != Effect.State.FAILED:
        effect.token += 1
        Effect.objects.filter(pk=effect.pk).update(state=Effect.State.RUNNING, token=effect.token)
        effect.refresh_from_db()
        failures.record_error(Work(effect, {}), error, at=at)
        effect.refresh_from_db()
        at += timedelta(minutes=5)
    return at


def _promise(effect: Effect, incident: Incident) -> bool:
    """Return whether people are told that it is retried, on the page and alike in the newest report."""
    report = Event.objects.filter(incident=incident, kind="failed", data__effect=effect.pk).last()
    assert report is None or bool(PROMISE.search(report.text)) == bool(PROMISE.search(effect.error))
    return bool(PROMISE.search(effect.error))


def _watch(effect: Effect, duty: Duty, *, at: datetime, away_h: int) -> datetime:
    """Let hours pass with the regular looks, the vendors away for some of them, until it is tried again."""
    away: Any = Away()
    tracker: Any = SimpleNamespace(changed_tickets=lambda _: [])
    began = at
    for hour in [*range(0, away_h, 10), *(away_h + hour for hour in LOOKS_H)]:
        at, gone = began + timedelta(hours=hour), hour < away_h
        chat, pager = (away, away) if gone else (duty.house.chat, duty.pager)
        with ports.using(chat=chat, pager=pager, tracker=away if gone else tracker):
            recovering.retry(at=at)
            announcements.retry(at=at)
        effect.refresh_from_db()
        if effect.state == Effect.State.WAITING:
            assert not gone, "no one asks a vendor that is away"
            break
    return at + timedelta(hours=1)
