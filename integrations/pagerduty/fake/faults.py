"""Faults to order: what the outside does to a caller, scripted by method and path, number of times and chance."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, get_args

Kind = Literal[
    "latency",  # the answer takes `ms` longer
    "ratelimited",  # HTTP 429, code 2020, nothing done
    "server_error",  # HTTP 500, nothing done
    "error_after",  # the work is done, then HTTP 500
    "drop",  # the work is done, then the connection is closed without an answer
    "drop_before",  # the connection is closed, nothing done
    "timeout",  # the work is done, then no answer ever comes
]
KINDS: Final[tuple[str, ...]] = get_args(Kind)


@dataclass(slots=True)
class Fault:
    """One fault: for requests of `method` to `path` (patterns), at most `times` times, each with `probability`."""

    id: int
    kind: Kind
    path: str = "*"
    method: str = "*"
    times: int | None = None
    probability: float = 1.0
    ms: int = 0
    retry_after_s: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return this fault as the control API shows it."""
        return asdict(self)

    def strikes(self, method: str, path: str) -> bool:
        """Say whether this fault is about such a request."""
        return fnmatchcase(method, self.method) and fnmatchcase(path, self.path)


@dataclass(frozen=True, slots=True)
class Blow:
    """What the faults in force do to one request."""

    latency_s: float = 0.0
    fault: Fault | None = None

    @property
    def kind(self) -> str:
        """Return the kind of fault that strikes, or nothing."""
        return self.fault.kind if self.fault else ""


class Faults:
    """The faults in force. Chances are drawn from a seeded source, so a run can be repeated."""

    def __init__(self, *, seed: int = 0) -> None:
        self._faults: list[Fault] = []
        self._random = random.Random(seed)  # noqa: S311 -- chances of faults, no secret
        self._last_id = 0

    def add(self, kind: Kind, **settings: Any) -> Fault:
        """Put a fault in force and return it. Raises ValueError for a kind that does not exist."""
        if kind not in KINDS:
            raise ValueError(f"unknown fault {kind!r}; one of {', '.join(KINDS)}")
        self._last_id += 1
        fault = Fault(self._last_id, kind, **settings)
        self._faults.append(fault)
        return fault

    def clear(self, id: int | None = None) -> None:
        """Lift one fault, or all."""
        self._faults = [f for f in self._faults if id is not None and f.id != id]

    def strike(self, method: str, path: str) -> Blow:
        """Decide what happens to one request, using up what was ordered a number of times."""
        latency_ms, hit = 0, None
        for fault in [f for f in self._faults if f.strikes(method, path)]:
            if (hit and fault.kind != "latency") or not self._happens(fault):
                continue
            latency_ms += fault.ms
            if fault.kind != "latency":
                hit = fault
        return Blow(latency_ms / 1000, hit)

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
