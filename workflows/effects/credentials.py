"""What failed because a vendor took our token for nobody's: tried again once that vendor takes it again.

Each failure was told at once, with what to do. A token is one setting, and dozens of steps wait for it: nobody is to
press *Retry* on each of them after it was mended.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from incidents import timeline
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
    failed = Effect.objects.filter(state=Effect.State.FAILED, error_code__in=REFUSED).order_by("pk")[:AT_ONCE]
    of: dict[str, list[Effect]] = {}
    for effect in failed:
        of.setdefault(KINDS[effect.kind].port, []).append(effect)
    connected = ports.connected() if of else {}
    return sum(_again(effects, at=at) for port, effects in of.items() if _takes_us(port, connected.get(port), at=at))


def _takes_us(name: str, port: Any, *, at: datetime) -> bool:
    if port is None or name not in ASKED:
        return False
    try:
        ASKED[name](port, at)
    except VendorError as error:
        log.info("what failed for want of a token waits on: %s", error)
        return False
    return True


def _again(effects: list[Effect], *, at: datetime) -> int:
    count = 0
    for effect in effects:
        with transaction.atomic():
            timeline.hold(effect.incident_id)
            count += effect_queue.retry(effect, at=at)
    return count
