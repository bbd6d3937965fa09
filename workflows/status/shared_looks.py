"""Regular looks that one process takes for all: whoever asks first, once it is due, has it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Now

from workflows.models import SharedLook


def claim(every_s: Mapping[str, float]) -> list[str]:
    """Return the looks that are due and now the caller's to take; each is due again so many seconds from now.

    One query while nothing is due. By the database's clock: those of the processes may differ. One that lies further
    ahead than it can, because that clock was put back, is due.
    """
    known: set[str] = set()
    mine = []
    for look in SharedLook.objects.filter(task__in=every_s).annotate(now=Now()):
        known.add(look.task)
        every = timedelta(seconds=every_s[look.task])
        if look.now < look.due_at <= look.now + 2 * every:  # somebody else may have asked a moment later
            continue
        # Of several that see it due, one finds it unchanged.
        if SharedLook.objects.filter(Q(pk=look.pk, due_at=look.due_at)).update(due_at=Now() + every):
            mine.append(look.task)
    if new := every_s.keys() - known:
        SharedLook.objects.bulk_create([SharedLook(task=one, due_at=Now()) for one in new], ignore_conflicts=True)
    return mine
