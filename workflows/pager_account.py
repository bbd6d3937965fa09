"""Which account the pager is connected to: pages, people and targets are known by ids that mean something there alone.

Once another one is connected, pages stay open in the one before, and nobody is paged anew by that. Once that one is
connected again, they go on as they are.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final
from weakref import WeakKeyDictionary, WeakSet

from django.db import connection
from django.db.models import F, Q

from incidents.claiming.shared_clock import clock
from incidents.lifecycle import rules
from incidents.models import Incident
from workflows.models import Effect, Page, PagerRead, PagerUser
from workflows.pager_port import Pager
from workflows.planning.actions import KINDS

PAGER: Final = tuple(name for name, kind in KINDS.items() if kind.port == "pager")
# A page is where its service is, or whom it pages: both were listed there.
MOVE: Final = """
    UPDATE workflows_page SET elsewhere = NOT elsewhere
    WHERE elsewhere = (service_id = ANY(%(listed)s) OR split_part(target, '/', 2) = ANY(%(listed)s))
"""

HELD_AT_MOST: Final = timedelta(seconds=20)  # what is to be paged, while it is read
READ_AGAIN: Final = timedelta(minutes=2)  # at most so often because of other settings: processes may differ in them

_known: Final[WeakSet[Pager]] = WeakSet()
_held: Final[WeakKeyDictionary[Pager, datetime]] = WeakKeyDictionary()  # since when
_read: Final[WeakKeyDictionary[Pager, datetime]] = WeakKeyDictionary()


def is_known(pager: Pager, *, at: datetime) -> bool:
    """Return whether pages may be opened and changed: not before an account that may be another one was read.

    Whoever is to be paged does not wait for that while it cannot be read, nor for long: mostly it is the same account.
    """
    if pager in _known:
        return True
    read = PagerRead.objects.first()
    if read is None or read.directory_at is None or read.failed_at is not None:
        return True
    if read.connection == pager.connection:
        _known.add(pager)
    return not is_another(pager, read) or at - _held.setdefault(pager, at) >= HELD_AT_MOST


def is_another(pager: Pager, read: PagerRead) -> bool:
    """Return whether other settings lead to the pager than those by which it was read."""
    return read.connection not in {"", pager.connection}


def is_unread(pager: Pager, read: PagerRead, *, at: datetime) -> bool:
    """Return whether people and targets are to be read because of other settings, and this process has not just."""
    last = _read.get(pager)
    return is_another(pager, read) and (last is None or at - last >= READ_AGAIN)


def arrive(pager: Pager, listed: Collection[str], *, people: Collection[str], at: datetime) -> bool:
    """Note which pages are in another account, given what the pager lists now; return whether it is another one.

    In the caller's transaction, before what was listed before is forgotten. An account never exchanges all its people,
    and a key is never one of another account.
    """
    _read[pager] = at
    if PagerRead.objects.filter(connection=pager.connection).exists():
        return False
    before = set(PagerUser.objects.filter(gone=False).values_list("pager_id", flat=True))
    if not before or before & set(people):
        return False
    opened = Page.objects.exclude(status=Page.Status.RESOLVED).values("incident")
    touched = Incident.objects.filter(Q(active=True) | Q(private=True) | Q(pk__in=opened))
    rules.hold_several()
    list(touched.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))  # before their pages
    touched.update(revision=F("revision") + 1)
    with connection.cursor() as cursor:
        cursor.execute(MOVE, {"listed": [*listed, *people]})
    Effect.objects.filter(kind__in=PAGER, state=Effect.State.WAITING, unsure=True).update(due_at=clock.at(at))
    return True
