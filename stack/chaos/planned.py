"""The plan of a run, as values: what people do, what breaks, and all of it together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class PlannedAct:
    """What someone does at a moment: ``word`` is in its text and nowhere else."""

    n: int
    at_s: float
    incident: int
    kind: str
    who: str
    word: str
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """What breaks at a moment, for how long, in one of the lanes whose faults follow one another."""

    n: int
    at_s: float
    lane: str
    kind: str
    length_s: float
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """All of a run, in order of time."""

    seed: int
    minutes: float
    acts: tuple[PlannedAct, ...]
    faults: tuple[PlannedFault, ...]

    @property
    def digest(self) -> str:
        """A digest of this scenario: equal digests mean equal scenarios."""
        plain = {"acts": [asdict(one) for one in self.acts], "faults": [asdict(one) for one in self.faults]}
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def incidents(self) -> int:
        """How many incidents will be declared."""
        return sum(one.kind == "declare" for one in self.acts)


def word(seed: int, n: int) -> str:
    """Return a word that no one writes by chance: letters only, so that nothing escapes or links it."""
    letters = hashlib.sha256(f"{seed} {n}".encode()).hexdigest()[:12]
    return "zq" + letters.translate(str.maketrans("0123456789", "ghijklmnop"))
