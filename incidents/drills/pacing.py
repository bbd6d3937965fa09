"""When what happened is shown again: a step for each entry, and a question before each decision. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

AT_ONCE: Final = timedelta(minutes=1)  # decisions this close together are asked about once


@dataclass(frozen=True, slots=True)
class PastEntry:
    """An entry of the incident that is replayed: its number, when it happened, and whether someone decided by it."""

    n: int
    at: datetime
    decides: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Entry ``n`` is shown, or asked about before it is; in either case after at most ``after``."""

    n: int
    after: timedelta
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast: ``speed`` times as fast as it was, no silence longer than ``silence``, ``thinking`` for an answer."""

    speed: int
    silence: timedelta
    thinking: timedelta


def steps(past: Sequence[PastEntry], pace: Pace) -> tuple[Step, ...]:
    """Return the steps of a replay, in order: the first at once, each next one after what it waits."""
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

    What comes late catches up. Only the time to think about a question begins when it is really asked.
    """
    moment = shown_at
    for step in planned[shown:]:
        moment += step.after
        if moment > at:
            return
        moment = at if step.asks else moment
        yield step, moment


def next_at(planned: Sequence[Step], *, shown: int, shown_at: datetime) -> datetime | None:
    """Return when the next step is due; None when there is none left."""
    return shown_at + planned[shown].after if shown < len(planned) else None


def lasts(planned: Iterable[Step]) -> timedelta:
    """Return how long it takes when nobody brings anything forward."""
    return sum((step.after for step in planned), timedelta(0))
