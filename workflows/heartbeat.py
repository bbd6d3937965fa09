"""Hold the claim on an effect for as long as it takes, however long that is beyond one lease."""

from __future__ import annotations

from contextlib import AbstractContextManager

from django.conf import settings
from django.utils import timezone

from incidents import heartbeat
from workflows import effects
from workflows.work import Work

BEATS = 3  # in one lease, so that a slow database costs no claim


def of(work: Work) -> AbstractContextManager[None]:
    """Renew a claim for as long as the block lasts."""
    return heartbeat.beating(
        lambda: effects.keep_hold(work, at=timezone.now()),
        every_s=settings.FIREKIND.lease_s / BEATS,
        what=f"effect {work.effect.pk}",
    )
