"""Which turns are overrides. Read a few schedules at a time; it only marks turns and pages no one."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import F

from incidents.claiming.recent import recently
from workflows import ports
from workflows.models import PagerTarget, ShiftOverride
from workflows.pager_port import Pager
from workflows.ports import VendorError

log = logging.getLogger(__name__)

EVERY: Final = timedelta(minutes=15)
AT_ONCE: Final = 10  # schedules; a full round of an account of 200 takes a quarter of an hour


def refresh(schedules: Collection[str], *, at: datetime, since: datetime, until: datetime) -> None:
    """Read the overrides of some of these schedules: of those that are due, the ones read longest ago.

    A failed read is retried when the next one would be due; what was marked stays marked.
    """
    pager, ids = ports.pager(), due(schedules, at=at)
    if pager is not None and ids:
        _read(pager, ids[:AT_ONCE], since=since, until=until)
        PagerTarget.objects.filter(pager_id__in=ids[:AT_ONCE]).update(overrides_at=at)


def due(schedules: Collection[str], *, at: datetime) -> list[str]:
    """Return the schedules whose overrides were not read lately, least recently read first."""
    lately = recently("overrides_at", at=at, within=EVERY)
    ordered = PagerTarget.objects.filter(~lately, pager_id__in=schedules).order_by(
        F("overrides_at").asc(nulls_first=True), "pager_id"
    )
    return list(ordered.values_list("pager_id", flat=True))


def _read(pager: Pager, ids: Sequence[str], *, since: datetime, until: datetime) -> None:
    try:
        told = set(pager.overrides(schedules=ids, since=since, until=until))
    except VendorError as error:
        log.warning("could not read which turns are overrides: %s", error)
        return
    with transaction.atomic():
        ShiftOverride.objects.filter(schedule__in=ids).delete()
        ShiftOverride.objects.bulk_create(
            ShiftOverride(schedule=one.subject, user=one.user, start_at=one.start, end_at=one.end) for one in told
        )
