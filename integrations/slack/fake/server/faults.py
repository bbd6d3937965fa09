"""What may be ordered to go wrong with a call to Slack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from integrations.standin.faults import OrderedFault, Struck

KINDS: Final = (
    "latency",  # the answer takes `ms` longer
    "ratelimited",  # HTTP 429 with Retry-After, nothing done
    "server_error",  # HTTP 500, nothing done
    "error",  # ok: false with `error`, nothing done
    "fatal_error",  # the work is done, then ok: false fatal_error
    "drop",  # the work is done, then the connection is closed without an answer
    "drop_before",  # the connection is closed, nothing done
)


@dataclass(slots=True)
class Fault(OrderedFault):
    """One fault, for calls of `method`; where its kind is `error`, the one that Slack answers with."""

    error: str = "service_unavailable"


FaultEffect = Struck[Fault]
