"""The faults that can be ordered for requests to PagerDuty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from integrations.standin.faults import OrderedFault, Struck

KINDS: Final = (
    "latency",  # the answer takes `ms` longer
    "ratelimited",  # HTTP 429, code 2020, nothing done
    "forbidden",  # HTTP 403, code 2010, nothing done: the key lacks permission
    "server_error",  # HTTP 500, nothing done
    "error_after",  # the work is done, then HTTP 500
    "drop",  # the work is done, then the connection is closed without an answer
    "drop_before",  # the connection is closed, nothing done
    "timeout",  # the work is done, then no answer ever comes
)


@dataclass(slots=True)
class Fault(OrderedFault):
    """One fault, for requests of `method` to `path` (patterns)."""

    path: str = "*"

    @property
    def patterns(self) -> tuple[str, ...]:
        """Return the patterns that a request's method and path are matched with."""
        return self.method, self.path


FaultEffect = Struck[Fault]
