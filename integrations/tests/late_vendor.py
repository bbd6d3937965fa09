"""A vendor that delays requests, and carries them out after the caller has given up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils import timezone

from incidents.models import Incident
from workflows.models import Effect
from workflows.performing import perform
from workflows.ports import VendorError
from workflows.reconcile import reconcile, sweep

FATES: Final = ("timed out", "killed", "killed, timed out", "timed out, killed")


class Killed(BaseException):
    """Kills the worker at this point."""


@dataclass(slots=True)
class Late:
    """A vendor that delays the first requests of a kind, and carries them out after the caller has given up.

    ``fates`` says what happens to the senders in turn: each waits ``patience_s``, or is killed.
    """

    hold_s: float
    fates: list[str]
    patience_s: float
    about: str = "chat.postMessage"
    now: datetime = field(default_factory=timezone.now)
    held: list[tuple[datetime, Callable[[], object]]] = field(default_factory=list)
    sent: int = 0

    def monotonic(self) -> float:
        """Return the time in seconds."""
        return self.now.timestamp()

    def arrive(self) -> None:
        """Carry out the delayed requests that are due."""
        due = [request for at, request in self.held if at <= self.now]
        self.held = [one for one in self.held if one[0] > self.now]
        for request in due:
            with suppress(VendorError):  # no one gets the answer
                request()

    def take(self, request: Callable[[], Any]) -> Any:
        """Receive a request that creates something. Raises ``TimeoutError`` if the caller gave up waiting."""
        self.sent += 1
        fate = self.fates.pop(0) if self.fates else ""
        if fate == "killed":
            self.held.append((self.now + timedelta(seconds=self.hold_s), request))
            raise Killed
        if fate and self.hold_s > self.patience_s:
            self.held.append((self.now + timedelta(seconds=self.hold_s), request))
            self.now += timedelta(seconds=self.patience_s)
            raise TimeoutError
        self.now += timedelta(seconds=min(self.hold_s, self.patience_s))
        self.arrive()
        return request()

    def work_once(self, incident: Incident) -> None:
        """Plan, and let one worker do what it can before it is killed."""
        reconcile.reconcile(incident.pk, at=self.now)
        with suppress(Killed):
            perform.drain(incident.pk, side_by_side=False)

    def live_on(self, incident: Incident, *, until: datetime | None = None) -> None:
        """Advance to each time at which something is due until nothing is owed, even if workers are killed."""
        for _ in range(99):
            if incident.pk in sweep.unplanned(at=self.now):
                reconcile.reconcile(incident.pk, at=self.now)
            with suppress(Killed):
                perform.drain(incident.pk, side_by_side=False)
            owed = Effect.objects.filter(incident=incident, state__in=["waiting", "running"])
            moments = [one.leased_until if one.state == "running" else one.due_at for one in owed]
            if not moments and incident.pk not in sweep.unplanned(at=self.now):
                self.now = until or self.now + timedelta(minutes=5)
                self.arrive()
                return
            later = max(self.now, min((at for at in moments if at), default=self.now)) + timedelta(seconds=1)
            if until is not None and later > until:
                self.now = until
                return
            self.now = later
        raise AssertionError("it does not settle")
