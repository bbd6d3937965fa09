"""Which account the pager is connected to. Ids of pages, people and targets are valid only in that account.

When another account is connected, pages stay open in the previous one, and that alone pages no one again. When the
previous one is connected again, they continue as they are.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final
from weakref import WeakKeyDictionary, WeakSet

from django.db import connection
from django.db.models import F, Q

from incidents.claiming.recent import is_recent
from incidents.claiming.shared_clock import clock
from incidents.lifecycle import rules
from incidents.models import Incident
from workflows.models import Effect, Page, PagerRead, PagerUser
from workflows.pager_port import Pager
from workflows.planning.actions import KINDS

PAGER: Final = tuple(name for name, kind in KINDS.items() if kind.port == "pager")
# A page is in the account that lists its service or its target.
MOVE: Final = """
    UPDATE workflows_page SET elsewhere = NOT elsewhere
    WHERE elsewhere = (service_id = ANY(%(listed)s) OR split_part(target, '/', 2) = ANY(%(listed)s))
"""

HELD_AT_MOST: Final = timedelta(seconds=20)  # how long pages are held back while the account is read
READ_AGAIN: Final = timedelta(minutes=2)  # at most this often for changed settings: processes may differ in them

_known: Final[WeakSet[Pager]] = WeakSet()
_held: Final[WeakKeyDictionary[Pager, datetime]] = WeakKeyDictionary()  # since when
_read: Final[WeakKeyDictionary[Pager, datetime]] = WeakKeyDictionary()


def is_known(pager: Pager, *, at: datetime) -> bool:
    """Return whether pages may be opened and changed; False until an account that may be a different one is read.

    Paging does not wait if the account cannot be read, nor for long: it is nearly always the same account.
    """
    if pager in _known:
        return True
    read = PagerRead.objects.first()
    if read is None or read.directory_at is None or read.failed_at is not None:
        return True
    if read.connection == pager.connection:
        _known.add(pager)
    return not is_another(pager, read) or not is_recent(_held.setdefault(pager, at), at=at, within=HELD_AT_MOST)


def is_another(pager: Pager, read: PagerRead) -> bool:
    """Return whether the pager's settings differ from those with which it was last read."""
    return read.connection not in {"", pager.connection}


def is_unread(pager: Pager, read: PagerRead, *, at: datetime) -> bool:
    """Return whether people and targets must be read because settings changed; not if this process just did."""
    return is_another(pager, read) and not is_recent(_read.get(pager), at=at, within=READ_AGAIN)


def arrive(pager: Pager, listed: Collection[str], *, people: Collection[str], at: datetime) -> bool:
    """Record which pages are in another account, given what the pager lists now; return whether the account changed.

    Runs in the caller's transaction, before the previous listing is forgotten. An account never replaces all its
    people, and a key always belongs to one account.
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
