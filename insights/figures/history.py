"""One incident as figures see it: plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple


class TypeStep(NamedTuple):
    """A type that an incident took, and when."""

    slug: str
    at: datetime


class EndedUntil(NamedTuple):
    """A period in which an incident had ended: when it ended, and when it was reopened."""

    at: datetime
    reopened_at: datetime


class AskedPage(NamedTuple):
    """A page of an incident: its target as the pager names it, when it was opened, and when someone answered it."""

    name: str
    target: str
    opened_at: datetime
    answered_at: datetime | None


class OwedWork(NamedTuple):
    """A task or a follow-up that was not dropped: its phase, and the seconds until it was done."""

    phase: str
    done_s: float | None


class BroughtIn(NamedTuple):
    """Someone brought in by name by a colleague: when, and their time zone, empty if it is not known."""

    at: datetime
    zone: str


# As they are read, because there are tens of thousands.
# A hypothesis, a space and a verdict on it; verdicts are in the order they were given.
FindingRound = str
APART: Final = " "
# How a piece of evidence came, if that is known; whether a verdict cites it; and the digests of what it is hot in.
EvidencePiece = Sequence[Any]


class IncidentHistory(NamedTuple):
    """What figures know about one incident.

    ``steps`` are its types in order, starting with the one it was declared as. ``clear_at`` is when it first had a type
    that was not the default then. ``rests`` are the periods in which it had ended, before it was reopened.
    ``first_type`` is the type it was declared as, if it was retyped and ``steps`` were not requested.
    ``first_human_at`` is the first entry of a person who did not declare it, ``led_at`` the first lead. ``picked`` are
    those who were brought in by name. ``seen_before`` is whether an earlier incident was hot in the same places; None
    without a profile. Parts that were not requested are empty.
    """

    codename: str
    declared_at: datetime
    steps: tuple[TypeStep, ...] = ()
    title: str = ""
    private: bool = False
    status: str = "open"
    mitigated_at: datetime | None = None
    ended_at: datetime | None = None
    clear_at: datetime | None = None
    rests: tuple[EndedUntil, ...] = ()
    first_type: str | None = None
    first_human_at: datetime | None = None
    led_at: datetime | None = None
    picked: tuple[BroughtIn, ...] = ()
    seen_before: bool | None = None
    pages: tuple[AskedPage, ...] = ()
    followups: tuple[OwedWork, ...] = ()
    rounds: Sequence[FindingRound] = ()
    evidence: Sequence[EvidencePiece] = ()

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
        """The retype from the default to the first other type; None if it was declared as another type."""
        return next((step for step in self.steps[1:] if step.at == self.clear_at), None)

    @property
    def eased_at(self) -> datetime | None:
        """When the impact stopped: mitigated, or resolved without being mitigated before."""
        return self.mitigated_at or (self.ended_at if self.status == "resolved" else None)

    def stays(self) -> Iterator[tuple[str, float]]:
        """Yield each type with the seconds it was held, if that is over; a reopened incident held it again."""
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
        """Return the seconds from the declaration to a moment; None if there is no such moment."""
        if at is None:
            return None
        return between_s(self.declared_at, at)


def between_s(start: datetime, end: datetime) -> float:
    """Return the seconds between two moments; 0 if the second is earlier because a clock was set back."""
    return max(0.0, (end - start).total_seconds())
