"""Renew the claims on effects for as long as they take, beyond a single lease."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from django.conf import settings
from django.utils import timezone

from incidents import lease_heartbeat
from workflows.effects import effect_queue
from workflows.effects.work import Work

BEATS = 3  # in one lease, so that a slow database costs no claim


def of(in_hand: Callable[[], Iterable[Work]], *, what: str) -> AbstractContextManager[None]:
    """Renew the claims that are in hand for as long as the block lasts, also while they wait for a free thread."""
    return lease_heartbeat.beating(lambda: _keep(in_hand()), every_s=settings.FIREKIND.lease_s / BEATS, what=what)


def _keep(works: Iterable[Work]) -> bool:
    """Renew each; go on although some are lost, for others may be claimed meanwhile."""
    for work in works:
        effect_queue.keep_hold(work, at=timezone.now())
    return True
