"""What people said they would do, next to what was done. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from incidents.timeline import TimelineEntry


@dataclass(slots=True)
class Beside:
    """One question of a replay: its answers, and the entry it was asked before, once that is shown."""

    asked: TimelineEntry
    said: list[TimelineEntry] = field(default_factory=list)
    done: TimelineEntry | None = None


def compare(entries: Iterable[TimelineEntry]) -> list[Beside]:
    """Return the questions of a replay in the order they were asked."""
    found: list[Beside] = []
    for one in sorted(entries, key=lambda one: one.event.n):
        if one.event.kind == "replay_asked":
            found.append(Beside(one))
        elif found and one.event.kind == "would_do" and one.stands:
            found[-1].said.append(one)
        elif found and one.event.kind == "replayed" and found[-1].done is None:
            found[-1].done = one
    return found
