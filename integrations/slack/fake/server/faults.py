"""The faults that can be ordered for calls to Slack, or for its events on their way to the app."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from integrations.standin.faults import OrderedFault, Struck

EVENT_LOST, EVENT_LATE, EVENT_AGAIN = ON_THE_WAY = (
    "event_lost",  # an event never arrives
    "event_late",  # it arrives `ms` late, after newer events
    "event_again",  # it arrives, and again `ms` later, as when Slack did not get our first answer
)
KINDS: Final = (
    "latency",  # the answer takes `ms` longer
    "ratelimited",  # HTTP 429 with Retry-After, nothing done
    "server_error",  # HTTP 500, nothing done
    "error",  # ok: false with `error`, nothing done
    "fatal_error",  # the work is done, then ok: false fatal_error
    "drop",  # the work is done, then the connection is closed without an answer
    "drop_before",  # the connection is closed, nothing done
    *ON_THE_WAY,
)
CALL, EVENT = "call", "event"


@dataclass(slots=True)
class Fault(OrderedFault):
    """One fault, for calls of `method` or events of that type. For kind `error`, `error` is Slack's code."""

    error: str = "service_unavailable"

    @property
    def patterns(self) -> tuple[str, ...]:
        """Return what a fault's patterns are matched with: the kind, a call or an event, and the name."""
        return (EVENT if self.kind in ON_THE_WAY else CALL, self.method)


FaultEffect = Struck[Fault]
