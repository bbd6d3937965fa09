"""The claim on evidence while it is read."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from evidence.models import Evidence
from evidence.models.evidence import State
from incidents import lease_heartbeat

LEASE: Final = timedelta(seconds=15)  # a reader that died is replaced that late
BEATS: Final = 5  # in one lease, so that a slow database costs no claim


def held(evidence: Evidence) -> AbstractContextManager[None]:
    """Renew the claim on evidence for as long as the block lasts."""
    every_s = LEASE.total_seconds() / BEATS
    return lease_heartbeat.beating(lambda: renew(evidence), every_s=every_s, what=f"evidence {evidence.pk}")


def renew(evidence: Evidence) -> bool:
    """Hold the claim for one more lease; tell whether it was still held."""
    return bool(mine(evidence).update(leased_until=timezone.now() + LEASE))


def mine(evidence: Evidence) -> QuerySet[Evidence]:
    """Return the row while this worker's claim holds: no other worker took it over, and it was not withdrawn."""
    return Evidence.objects.filter(pk=evidence.pk, token=evidence.token, state=State.READING)
