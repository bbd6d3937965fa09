"""A vendor that holds requests, and carries them out when nobody listens any more."""

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
    """The worker is killed here."""


@dataclass(slots=True)
class Late:
    """A vendor that holds the first requests of a kind for a while, and carries them out when nobody listens.

    ``fates`` says what becomes, one after the other, of whoever sends one: it waits ``patience_s``, or is killed.
    """

    hold_s: float
    fates: list[str]
    patience_s: float
    about: str = "chat.postMessage"
    now: datetime = field(default_factory=timezone.now)
    held: list[tuple[datetime, Callable[[], object]]] = field(default_factory=list)
    sent: int = 0

    def monotonic(self) -> float:
        """Return the time as a number of seconds."""
        return self.now.timestamp()

    def arrive(self) -> None:
        """Carry out what was held until now."""
        due = [request for at, request in self.held if at <= self.now]
        self.held = [one for one in self.held if one[0] > self.now]
        for request in due:
            with suppress(VendorError):  # nobody hears of it
                request()

    def take(self, request: Callable[[], Any]) -> Any:
        """Take a request that makes something. Raises ``TimeoutError`` where it was waited for in vain."""
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
        """Go from each moment at which something is due to the next until nothing is owed, whoever is killed."""
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
