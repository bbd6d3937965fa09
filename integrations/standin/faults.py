"""Faults in force: each at most so many times, and by chance if that was ordered."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

LATENCY: Final = "latency"  # what comes on top of anything else


class Ordered(Protocol):
    """One fault: what it does, `ms` later than usual, at most `times` times, each with `probability`."""

    times: int | None

    @property
    def id(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def probability(self) -> float: ...
    @property
    def ms(self) -> int: ...


Fault = TypeVar("Fault", bound=Ordered)


@dataclass(frozen=True, slots=True)
class Struck(Generic[Fault]):
    """What the faults in force do to one call: the seconds that it takes longer, and the fault that strikes, if any."""

    latency_s: float = 0.0
    fault: Fault | None = None

    @property
    def kind(self) -> str:
        """Return the kind of fault that strikes, or nothing."""
        return self.fault.kind if self.fault else ""


class InForce(Generic[Fault]):
    """The faults in force. Chances are drawn from a seeded source, so a run can be repeated."""

    def __init__(self, *, seed: int = 0) -> None:
        self._faults: list[Fault] = []
        self._random = random.Random(seed)  # noqa: S311 -- chances of faults, no secret
        self._last_id = 0

    def next_id(self) -> int:
        """Return the number of the next fault that is ordered."""
        self._last_id += 1
        return self._last_id

    def put(self, fault: Fault) -> Fault:
        """Put a fault in force and return it."""
        self._faults.append(fault)
        return fault

    def clear(self, id: int | None = None) -> None:
        """Lift one fault, or all."""
        self._faults = [f for f in self._faults if id is not None and f.id != id]

    def draw(self, concerns: Callable[[Fault], bool]) -> Struck[Fault]:
        """Decide what happens to one call, using up what was ordered a number of times."""
        latency_ms, hit = 0, None
        for fault in [f for f in self._faults if concerns(f)]:
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
