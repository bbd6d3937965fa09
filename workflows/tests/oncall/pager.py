"""An in-memory pager: its people, its targets, a rota of turns, and an error to raise instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from workflows.pager_port import OpenIncident, PageRequest, PagerPerson, PageStatus, Target, Turn
from workflows.ports import VendorError

NINE = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)

DOWN = VendorError("PagerDuty does not answer.", code="unreachable", method="oncalls", retryable=True)
FORBIDDEN = VendorError("The key may not read services.", code="forbidden", method="services")


def hours(count: float) -> datetime:
    """Return the moment this many hours after nine."""
    return NINE + timedelta(hours=count)


@dataclass(slots=True, eq=False, weakref_slot=True)
class LittlePager:
    """Returns what it was set up with, and counts the calls."""

    known: list[PagerPerson] = field(default_factory=list)
    listed: list[Target] = field(default_factory=list)
    rota: list[Turn] = field(default_factory=list)
    overridden: list[Turn] = field(default_factory=list)
    fails: dict[str, VendorError] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    subjects: tuple[Sequence[str], Sequence[str]] = ((), ())

    @property
    def connection(self) -> str:
        return "little"

    def people(self) -> Sequence[PagerPerson]:
        self._ask("people")
        return self.known

    def targets(self) -> Sequence[Target]:
        self._ask("targets")
        return self.listed

    def turns(
        self, *, policies: Sequence[str], schedules: Sequence[str], since: datetime, until: datetime
    ) -> Sequence[Turn]:
        self._ask("turns")
        self.subjects = (policies, schedules)
        within = [one for one in self.rota if one.subject in {*policies, *schedules}]
        return [one for one in within if (not one.start or one.start < until) and (not one.end or one.end > since)]

    def overrides(self, *, schedules: Sequence[str], since: datetime, until: datetime) -> Sequence[Turn]:
        self._ask("overrides")
        return [one for one in self.overridden if one.subject in schedules]

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if what in self.fails:
            raise self.fails[what]

    # Opening pages is not needed here.

    def ring(self, ring: PageRequest) -> PageStatus:
        raise NotImplementedError

    def find(
        self, key: str, *, service: str, since: datetime, codename: str = "", first: bool = False
    ) -> PageStatus | None:
        raise NotImplementedError

    def twins(self, id: str, *, key: str, since: datetime) -> Sequence[PageStatus]:
        raise NotImplementedError

    def open_incidents(self, *, since: datetime) -> Sequence[OpenIncident]:
        self._ask("open_incidents")
        return []

    def look(self, id: str) -> PageStatus | None:
        raise NotImplementedError

    def retitle(self, id: str, title: str, *, key: str = "", codename: str = "") -> bool:
        raise NotImplementedError

    def fallback_service(self) -> str:
        """There is no fallback."""
        return ""

    def resolve(self, id: str, *, key: str, via: str, codename: str = "") -> bool:
        raise NotImplementedError

    def acknowledge(self, id: str, *, by: str) -> PageStatus:
        self._ask("acknowledge")
        raise NotImplementedError

    def note(self, id: str, text: str) -> None:
        raise NotImplementedError


def small() -> LittlePager:
    """Return a pager with two people, a policy with two levels and a schedule that is handed over at nine."""
    return LittlePager(
        known=[
            PagerPerson("PANN", "Ann", "ann@example.com", "https://pager.example/users/PANN"),
            PagerPerson("PBEN", "Ben", "ben@example.com"),
        ],
        listed=[
            Target("policy", "POL", "Major incident", service="SRV", levels=2),
            Target("service", "SRV", "Checkout", policy="POL"),
            Target("schedule", "SCH", "Platform leadership"),
        ],
        rota=[
            Turn("SCH", 0, "PANN", hours(-24), NINE),
            Turn("SCH", 0, "PBEN", NINE, hours(24)),
            Turn("POL", 1, "PANN", hours(-24), NINE),
            Turn("POL", 1, "PBEN", NINE, hours(24)),
            Turn("POL", 2, "PBEN", None, None),
        ],
    )
