"""Attempts are calls that ended in an error; waiting, a lease taken over, or a rate limit is not one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Incident
from incidents.tests import shipped
from workflows.effects import effect_queue
from workflows.effects.failing import failures
from workflows.effects.work import Outcome, Work
from workflows.models import Effect, Limit, Planned
from workflows.ports import VendorError

STEPS = ["claim", "claim", "lapse", "lapse", "error", "error", "unknown", "limited", "put_back", "late_error", "final"]
steps = st.one_of(st.sampled_from(STEPS), st.just("done"))


@dataclass(slots=True)
class Story:
    """One effect, and its current and former holders: only the last one's claim may still hold."""

    pk: int
    now: datetime
    held: Work | None = None
    lost: list[Work] = field(default_factory=list)
    errors: int = 0
    final: bool = False
    tokens: list[int] = field(default_factory=list)

    @property
    def effect(self) -> Effect:
        return Effect.objects.get(pk=self.pk)

    def take(self, step: str) -> None:
        """Make one thing happen, if it can happen now."""
        self.now += timedelta(hours=1)
        Limit.objects.all().delete()
        getattr(self, step)()

    def claim(self) -> None:
        for work in effect_queue.claim(self.effect.incident_id, at=self.now, limit=1):
            if self.held is not None:
                self.lost.append(self.held)
            self.held = work
            self.tokens.append(work.effect.token)

    def lapse(self) -> None:
        """Its holder is slow or dead: an hour later another worker takes it over."""
        if self.held is not None:
            self.claim()

    def error(self, *, retryable: bool = True, unknown: bool = False, after: float | None = None) -> None:
        if self.held is None:
            return
        failures.record_error(self.held, wrong(retryable=retryable, unknown=unknown, retry_after=after), at=self.now)
        self.errors += 1 if after is None else 0
        self.final |= not retryable
        self.held = None

    def unknown(self) -> None:
        self.error(unknown=True)

    def limited(self) -> None:
        self.error(after=3.0)

    def final_error(self) -> None:
        self.error(retryable=False)

    def put_back(self) -> None:
        if self.held is not None:
            effect_queue.put_back(self.held, until=self.now)
            self.held = None

    def late_error(self) -> None:
        """A worker that lost the claim comes back with an error; the current holder continues."""
        if self.lost:
            failures.record_error(self.lost.pop(), wrong(), at=self.now)

    def done(self) -> None:
        if self.held is not None:
            effect_queue.record_done(self.held, Outcome(), at=self.now)
            self.held = None


def wrong(*, retryable: bool = True, unknown: bool = False, retry_after: float | None = None) -> VendorError:
    return VendorError(
        "It went wrong.", code="wrong", method="m", retryable=retryable, unknown=unknown, retry_after=retry_after
    )


@pytest.fixture
def incident(db: None) -> Incident:
    """The incident of the effect, the same for all stories."""
    return lifecycle.declare("Slow", by=None, at=timezone.now(), type=shipped.bring()["internal"])


@contextmanager
def story(incident: Incident) -> Iterator[Story]:
    """One effect that is ready; everything is rolled back afterwards."""
    with transaction.atomic():
        at = timezone.now()
        effect = _ready(incident, at=at)
        yield Story(effect.pk, at)
        transaction.set_rollback(True)


def _ready(incident: Incident, *, at: datetime) -> Effect:
    revision = Incident.objects.get(pk=incident.pk).revision
    Planned.objects.update_or_create(incident=incident, defaults={"revision": revision, "at": at})
    values = {"kind": "topic", "verb": "create", "sign": "+", "rank": 1, "room": 1, "revision": revision}
    return Effect.objects.create(
        incident=incident, key="topic/1#1", thing="topic/1", method="m", due_at=at, created_at=at, **values
    )


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(steps, max_size=60))
def test_attempts_are_the_calls_that_ended_in_an_error(incident: Incident, steps: list[str]) -> None:
    with story(incident) as told:
        for step in steps:
            told.take("final_error" if step == "final" else step)
            effect = told.effect
            assert effect.attempt == told.errors
            assert (effect.state == "failed") <= (told.final or told.errors >= failures.ATTEMPTS)
        assert len(told.tokens) == len(set(told.tokens)), "a fence is never used twice"
