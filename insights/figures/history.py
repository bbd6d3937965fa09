"""One incident as figures see it: plain values."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple


class TypeStep(NamedTuple):
    """A type that an incident took, and when."""

    slug: str
    at: datetime


class EndedUntil(NamedTuple):
    """A while in which an incident had ended: since when, and when it was reopened."""

    at: datetime
    reopened_at: datetime


class AskedPage(NamedTuple):
    """A page of an incident: who it went to as the pager calls it, when it was opened, when somebody answered it."""

    name: str
    target: str
    opened_at: datetime
    answered_at: datetime | None


class OwedWork(NamedTuple):
    """A task or a follow-up that was not dropped: for when it was meant, and the seconds until it was done."""

    phase: str
    done_s: float | None


class BroughtIn(NamedTuple):
    """Someone whom a colleague brought in by name: when, and their time zone, empty where it is not known."""

    at: datetime
    zone: str


class FindingRound(NamedTuple):
    """A verdict on a hypothesis, which ``finding`` names; they come in the order in which they were given."""

    finding: str
    verdict: str


class EvidencePiece(NamedTuple):
    """A piece of evidence: how it came, where that is known, and whether a verdict rests on it."""

    via: str | None
    used: bool


class IncidentHistory(NamedTuple):
    """What figures know of one incident.

    ``steps`` are its types in order, the one it was declared as first. ``clear_at`` is when it first had a type that
    was not the default then. ``rests`` are the whiles in which it had ended, before it was reopened. ``first_type`` is
    the type it was declared as, where it was retyped and no more than that was asked for. ``first_human_at`` is the
    first entry of a person who did not declare it, ``led_at`` the first lead. ``picked`` are those who were brought in
    by name. ``seen_before`` is whether an earlier incident was hot in the same places; none without a profile. Parts
    that were not asked for are empty.
    """

    codename: str
    declared_at: datetime
    title: str = ""
    private: bool = False
    status: str = "open"
    mitigated_at: datetime | None = None
    ended_at: datetime | None = None
    steps: tuple[TypeStep, ...] = ()
    clear_at: datetime | None = None
    rests: tuple[EndedUntil, ...] = ()
    first_type: str | None = None
    first_human_at: datetime | None = None
    led_at: datetime | None = None
    picked: tuple[BroughtIn, ...] = ()
    seen_before: bool | None = None
    pages: tuple[AskedPage, ...] = ()
    followups: tuple[OwedWork, ...] = ()
    rounds: tuple[FindingRound, ...] = ()
    evidence: tuple[EvidencePiece, ...] = ()

    @property
    def declared_as(self) -> str:
        """The type that it was declared as."""
        return self.first_type or self.steps[0].slug

    @property
    def type(self) -> str:
        """The type that it has now, or had when it ended."""
        return self.steps[-1].slug

    @property
    def cleared(self) -> TypeStep | None:
        """The retype from the default to the first type that was another one; none where it was declared as such."""
        return next((step for step in self.steps[1:] if step.at == self.clear_at), None)

    @property
    def eased_at(self) -> datetime | None:
        """When it no longer hurt: mitigated, or resolved without having been mitigated before."""
        return self.mitigated_at or (self.ended_at if self.status == "resolved" else None)

    def stays(self) -> Iterator[tuple[str, float]]:
        """Give each type it had with how long in seconds, where that is over; reopened, it had it once more."""
        ends = [one.at for one in self.steps[1:]]
        for step, end in zip(self.steps, [*ends, self.ended_at], strict=True):
            begin = step.at
            for rest in self.rests:
                if begin <= rest.at and (end is None or rest.reopened_at <= end):
                    yield step.slug, between_s(begin, rest.at)
                    begin = rest.reopened_at
            if end is not None:
                yield step.slug, between_s(begin, end)

    def since_declared_s(self, at: datetime | None) -> float | None:
        """Return the seconds from the declaration to a moment; none where that never came."""
        if at is None:
            return None
        return between_s(self.declared_at, at)


def between_s(start: datetime, end: datetime) -> float:
    """Return the seconds between two moments; none where a clock that was put back has the second one first."""
    return max(0.0, (end - start).total_seconds())
