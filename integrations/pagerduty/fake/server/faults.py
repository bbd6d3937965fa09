"""Faults to order: what the outside does to a caller, scripted by method and path, number of times and chance."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, get_args

from integrations.standin.faults import InForce, Struck

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


FaultEffect = Struck[Fault]


class Faults(InForce[Fault]):
    """The faults in force."""

    def add(self, kind: Kind, **settings: Any) -> Fault:
        """Put a fault in force and return it. Raises ValueError for a kind that does not exist."""
        if kind not in KINDS:
            raise ValueError(f"unknown fault {kind!r}; one of {', '.join(KINDS)}")
        return self.put(Fault(self.next_id(), kind, **settings))

    def strike(self, method: str, path: str) -> FaultEffect:
        """Decide what happens to one request."""
        return self.draw(lambda fault: fault.strikes(method, path))
