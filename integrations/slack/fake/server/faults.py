"""What may be ordered to go wrong with a call to Slack, or with an event of it on its way to the app."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from integrations.standin.faults import OrderedFault, Struck

EVENT_LOST, EVENT_LATE, EVENT_AGAIN = ON_THE_WAY = (
    "event_lost",  # an event never comes
    "event_late",  # it comes `ms` later, after others that happened since
    "event_again",  # it comes, and `ms` later once more, as when our answer to the first did not reach Slack
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
    """One fault, for calls of `method` or events of that type; of kind `error`, the one that Slack answers with."""

    error: str = "service_unavailable"

    @property
    def patterns(self) -> tuple[str, ...]:
        """Return what is held against what was asked: whether it is a call or an event, and of which name."""
        return (EVENT if self.kind in ON_THE_WAY else CALL, self.method)


FaultEffect = Struck[Fault]
