"""Retry what failed because of a vendor as a whole, not because of what was asked, once that vendor works again.

The vendor rejected our token, or was down for longer than a step is retried. Each failure was reported at once, with
what to do. Hundreds of steps may be waiting, and no one should have to press *Retry* on each of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from django.db.models import Q

from workflows import ports
from workflows.effects.failing import failures, left_to_people
from workflows.models import Effect
from workflows.planning.actions import KINDS
from workflows.ports import VendorError

log = logging.getLogger(__name__)

# For each vendor, a read-only call that shows whether it accepts the token. *Not found* is a valid answer.
ASKED: Final[Mapping[str, Callable[[Any, datetime], object]]] = {
    "chat": lambda chat, at: chat.look("C0"),
    "pager": lambda pager, at: pager.look("P0"),
    "tracker": lambda tracker, at: tracker.changed_tickets(at),
}
AT_ONCE: Final = 200
WORTH_IT: Final = Q(error_code__in=left_to_people.REFUSED) | ~left_to_people.LEFT_TO_PEOPLE


def retry(*, at: datetime) -> int:
    """Retry what failed because of a vendor that works again; return how many."""
    connected = ports.connected()
    return sum(_retry_of(name, connected[name], at=at) for name in ASKED if name in connected)


def _retry_of(name: str, port: Any, *, at: datetime) -> int:
    kinds = [kind for kind, about in KINDS.items() if about.port == name]
    codes = left_to_people.REFUSED | left_to_people.AWAY
    failed = Effect.objects.filter(WORTH_IT, state=Effect.State.FAILED, error_code__in=codes, kind__in=kinds)
    effects = list(failed.order_by("-pk")[:AT_ONCE])[::-1]  # oldest failure first: later ones may be consequences
    return failures.retry_all(effects, at=at) if effects and _is_well(name, port, at=at) else 0


def _is_well(name: str, port: Any, *, at: datetime) -> bool:
    try:
        ASKED[name](port, at)
    except VendorError as error:
        log.info("what failed because of the vendor waits on: %s", error)
        return False
    return True
