"""What failed because a vendor took our token for nobody's: tried again once that vendor takes it again.

Each failure was told at once, with what to do. A token is one setting, and dozens of steps wait for it: nobody is to
press *Retry* on each of them after it was mended.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from workflows import ports
from workflows.effects import effect_queue
from workflows.models import Effect
from workflows.planning.actions import KINDS
from workflows.ports import VendorError

log = logging.getLogger(__name__)

# Codes of errors that say nothing of what was asked: whatever else is asked with this token is refused as well. What a
# token may not do is another matter, and that it works for something says nothing of it.
REFUSED: Final = frozenset(
    {
        *("account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked"),  # Slack's
        *("2006", "2007", "http_401"),  # PagerDuty's, and those of trackers
    }
)
# A call by which a vendor says whether it takes the token, and that changes nothing; that there is no such thing is one
# of its answers.
ASKED: Final[Mapping[str, Callable[[Any, datetime], object]]] = {
    "chat": lambda chat, at: chat.look("C0"),
    "pager": lambda pager, at: pager.look("P0"),
    "tracker": lambda tracker, at: tracker.changed_tickets(at),
}
AT_ONCE: Final = 200


def retry(*, at: datetime) -> int:
    """Try again what failed for want of a token that a vendor takes again; return how many."""
    connected = ports.connected()
    return sum(_retry_of(name, connected[name], at=at) for name in ASKED if name in connected)


def _retry_of(name: str, port: Any, *, at: datetime) -> int:
    kinds = [kind for kind, about in KINDS.items() if about.port == name]
    failed = Effect.objects.filter(state=Effect.State.FAILED, error_code__in=REFUSED, kind__in=kinds)
    effects = list(failed.order_by("pk")[:AT_ONCE])
    return effect_queue.retry_all(effects, at=at) if effects and _takes_us(name, port, at=at) else 0


def _takes_us(name: str, port: Any, *, at: datetime) -> bool:
    try:
        ASKED[name](port, at)
    except VendorError as error:
        log.info("what failed for want of a token waits on: %s", error)
        return False
    return True
