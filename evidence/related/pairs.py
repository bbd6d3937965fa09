"""Which measurements belong together: before and after, or variants of the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from evidence.models import Evidence
from evidence.models.evidence import Kind, Phase, State
from evidence.profile import fractions

COMPARED = {Kind.PROFILE, Kind.BENCHMARK, Kind.LOAD, Kind.COUNTS}


@dataclass(frozen=True, slots=True)
class Pair:
    """One measurement during the impact and its counterpart after the fix."""

    during: Evidence
    after: Evidence

    @property
    def url(self) -> str:
        """The URL that shows both side by side."""
        base = reverse("evidence-list", args=[self.during.incident.codename])
        return f"{base}compare/?control={self.during.n}&with={self.after.n}"


def of(newest_first: Sequence[Evidence]) -> list[Pair]:
    """Return each newest measurement after the fix with the newest one before it from the same source and kind."""
    found: list[Pair] = []
    taken: set[Any] = set()
    for place, after in enumerate(newest_first):
        if after.phase != Phase.AFTER or after.state != State.READY or _like(after) in taken:
            continue
        for one in newest_first[place + 1 :]:
            if one.phase == Phase.DURING and one.state == State.READY and _like(one) == _like(after):
                found.append(Pair(one, after))
                taken.add(_like(after))
                break
    return found


def comparable(found: Sequence[Evidence]) -> bool:
    """Return whether there are two measurements that may be compared."""
    kinds = [one.kind for one in found if one.state == State.READY and one.kind in COMPARED]
    return any(kinds.count(kind) > 1 for kind in COMPARED)


def _like(one: Evidence) -> tuple[Any, ...]:
    """Return what two measurements of the same thing have in common; for profiles, their first sample type.

    Other sample types may occur on just one side: a Java recording has those that happened while it ran.
    """
    types = [(kind["name"], fractions.whole(str(kind["unit"]))[1]) for kind in one.summary.get("sample_types", [])]
    first = types[int(one.summary.get("default_type", 0))] if types else ()
    return one.kind, one.origin.get("source", ""), one.origin.get("kind", ""), one.format, first
