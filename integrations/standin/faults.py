"""Faults to order for calls, each a limited number of times, and with a probability if one is given."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Generic, TypeVar

LATENCY: Final = "latency"  # is added to any other fault


@dataclass(slots=True)
class OrderedFault:
    """One fault: for calls of `method` (a pattern), `ms` late, at most `times` times, each with `probability`."""

    id: int
    kind: str
    method: str = "*"
    times: int | None = None
    probability: float = 1.0
    ms: int = 0
    retry_after_s: int = 1

    @property
    def patterns(self) -> tuple[str, ...]:
        """Return the patterns that the parts of a call are matched with."""
        return (self.method,)

    def as_json(self) -> dict[str, Any]:
        """Return this fault as in the control API."""
        return asdict(self)


Fault = TypeVar("Fault", bound=OrderedFault)


@dataclass(frozen=True, slots=True)
class Struck(Generic[Fault]):
    """The effect of the active faults on one call: added seconds, and the fault that applies, if any."""

    latency_s: float = 0.0
    fault: Fault | None = None

    @property
    def kind(self) -> str:
        """Return the kind of the fault that applies, or an empty string."""
        return self.fault.kind if self.fault else ""


class InForce(Generic[Fault]):
    """The active faults. Probabilities use a seeded source, so that a run can be repeated."""

    def __init__(self, make: type[Fault], kinds: Sequence[str], *, seed: int = 0) -> None:
        self.kinds = kinds
        self._make = make
        self._faults: list[Fault] = []
        self._random = random.Random(seed)  # noqa: S311 -- chances of faults, no secret
        self._last_id = 0

    def add(self, kind: str, **settings: Any) -> Fault:
        """Activate a fault and return it. Raises ValueError for an unknown kind."""
        if kind not in self.kinds:
            raise ValueError(f"unknown fault {kind!r}; one of {', '.join(self.kinds)}")
        fault = self._make(self._last_id + 1, kind, **settings)
        self._last_id = fault.id
        self._faults.append(fault)
        return fault

    def clear(self, id: int | None = None) -> None:
        """Remove one fault, or all."""
        self._faults = [f for f in self._faults if id is not None and f.id != id]

    def strike(self, *asked: str) -> Struck[Fault]:
        """Decide what happens to one call, and use up limited faults."""
        latency_ms, hit = 0, None
        for fault in [f for f in self._faults if all(map(fnmatchcase, asked, f.patterns))]:
            if (hit and fault.kind != LATENCY) or not self._happens(fault):
                continue
            latency_ms += fault.ms
            if fault.kind != LATENCY:
                hit = fault
        return Struck(latency_ms / 1000, hit)

    def _happens(self, fault: Fault) -> bool:
        if fault.probability < 1 and self._random.random() >= fault.probability:
            return False
        if fault.times is not None:
            fault.times -= 1
            if fault.times <= 0:
                self._faults.remove(fault)
        return True

    def __iter__(self) -> Iterator[Fault]:
        return iter(list(self._faults))

    def __len__(self) -> int:
        return len(self._faults)
