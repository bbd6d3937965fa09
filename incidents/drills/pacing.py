"""When each past entry is shown again: one step for each entry, and a question before each decision. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

AT_ONCE: Final = timedelta(minutes=1)  # decisions this close together share one question


@dataclass(frozen=True, slots=True)
class PastEntry:
    """An entry of the incident being replayed: its number, when it happened, and whether it records a decision."""

    n: int
    at: datetime
    decides: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Show entry ``n``, or ask about it before it is shown; either way at most ``after`` from the previous step."""

    n: int
    after: timedelta
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast to replay: ``speed`` is the speed-up, ``silence`` the longest pause, ``thinking`` the time for an
    answer.
    """

    speed: int
    silence: timedelta
    thinking: timedelta


def steps(past: Sequence[PastEntry], pace: Pace) -> tuple[Step, ...]:
    """Return the steps of a replay in order: the first is immediate, each later one waits after the previous."""
    return tuple(_steps(past, pace))


def _steps(past: Sequence[PastEntry], pace: Pace) -> Iterator[Step]:
    for before, one in zip((None, *past), past, strict=False):
        if before is None:
            yield Step(one.n, timedelta(0))
            continue
        lasted = max(one.at - before.at, timedelta(0))
        waits = min(lasted / pace.speed, pace.silence)
        if one.decides and not (before.decides and lasted < AT_ONCE):
            yield Step(one.n, waits, asks=True)
            waits = pace.thinking
        yield Step(one.n, waits)


def due(planned: Sequence[Step], *, shown: int, shown_at: datetime, at: datetime) -> Iterator[tuple[Step, datetime]]:
    """Yield the steps that are due by now after the first ``shown``, each with its moment.

    A late step catches up. Only the time to think about a question starts when the question is really asked.
    """
    moment = shown_at
    for step in planned[shown:]:
        moment += step.after
        if moment > at:
            return
        moment = at if step.asks else moment
        yield step, moment


def next_at(planned: Sequence[Step], *, shown: int, shown_at: datetime) -> datetime | None:
    """Return when the next step is due, or None if none is left."""
    return shown_at + planned[shown].after if shown < len(planned) else None


def lasts(planned: Iterable[Step]) -> timedelta:
    """Return how long a replay takes if no one skips ahead."""
    return sum((step.after for step in planned), timedelta(0))
