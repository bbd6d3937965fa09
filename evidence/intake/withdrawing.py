"""Withdraw evidence: a file that should never have been sent, or was sent to the wrong incident."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet

from evidence.intake import made, storage
from evidence.intake.storage import StorageError
from evidence.models import Evidence, HotFunction
from evidence.models.evidence import State
from incidents import lifecycle, timeline
from incidents.claiming import rotation, turns
from incidents.drills import replays
from incidents.indexing import word_index
from incidents.lifecycle import rules
from incidents.models import Event, Person, Source

log = logging.getLogger(__name__)
READ: Final = ("state", "original", "tree", "origin")
AT_ONCE: Final = 50
EVERY_S: Final = 5  # interval of the sweep
TURN: Final = "evidence.intake.withdrawing:"
REMOVED: Final = "The same file was being withdrawn at that moment."
STILL_STORED = Q(state=State.WITHDRAWN) & ~Q(original="", tree="")


def withdraw(evidence: Evidence, *, by: Person, at: datetime, because: str = "", source: str = Source.WEB) -> None:
    """Withdraw evidence: its file and everything read from it are removed, and its entries say that it was withdrawn.

    Raises ``NotThere``, and ``Refused`` unless ``by`` added it, leads the incident, or no one added it (a capture).
    """
    with rules.changing(evidence.incident, by=by) as incident:
        evidence.refresh_from_db(fields=READ)  # it may have been read, and announced, while this waited
        evidence.incident = incident
        may(evidence, by)
        if (
            not Evidence.objects.filter(pk=evidence.pk)
            .exclude(state=State.WITHDRAWN)
            .update(state=State.WITHDRAWN, says="", summary={}, link="", origin=_left(evidence), leased_until=None)
        ):
            return
        HotFunction.objects.filter(evidence=evidence).delete()
        entries = _entries(evidence)
        for entry in entries:
            lifecycle.take_back(incident, n=entry.n, by=by, at=at, because=because, source=source)
        if entries:
            replays.let_go(incident, [entry.n for entry in entries])
            word_index.index_again(incident)
        else:
            timeline.nudge_readers(incident.pk)
        transaction.on_commit(lambda: remove(evidence))


def _left(evidence: Evidence) -> dict[str, str]:
    """Return what to keep of its origin: the effect that owed it, because otherwise it would be captured again."""
    return {name: value for name, value in evidence.origin.items() if name == "effect"}


def _entries(evidence: Evidence) -> list[Event]:
    """Return the timeline entries of evidence; if it was read again, there may be several."""
    found = Event.objects.filter(incident=evidence.incident_id, kind="evidence", data__contains={"n": evidence.n})
    return list(found.order_by("n"))


def may(evidence: Evidence, by: Person) -> None:
    """Raise ``Refused`` if this person may not withdraw it."""
    if not evidence.is_withdrawable_by(by):
        raise lifecycle.Refused("Only the lead or the person who added this can withdraw it.")


def still_stored() -> QuerySet[Evidence]:
    """Return withdrawn evidence whose files are still stored."""
    return Evidence.objects.filter(STILL_STORED)


def owed(*, at: datetime, limit: int = AT_ONCE) -> list[Evidence]:
    """Return some of what is still stored, in turn, so that a file that cannot be removed does not block others."""
    waiting = list(still_stored().order_by("pk").values_list("pk", flat=True))
    turn = rotation.in_turn(waiting, at_once=limit, every_s=EVERY_S, at=at)
    found = Evidence.objects.in_bulk(turn)
    return [found[pk] for pk in turn if pk in found]


def remove(evidence: Evidence) -> bool:
    """Remove the files of withdrawn evidence; return whether that worked. If not, a later sweep retries."""
    original, tree = evidence.original, evidence.tree
    if not forget(original, tree):
        return False
    mine = Evidence.objects.filter(pk=evidence.pk, state=State.WITHDRAWN, original=original, tree=tree)
    mine.update(original="", tree="")
    return True


def forget(original: str, tree: str) -> bool:
    """Remove an original and a tree that no other evidence uses; return whether storage could be reached."""
    try:
        for field, key in (("original", original), ("tree", tree)):
            if key:
                _drop_unused(field, key)
    except StorageError as error:
        log.warning("a file that no one has any more is still stored: %s", error)
        return False
    return True


def _drop_unused(field: str, key: str) -> None:
    with transaction.atomic():
        turns.take(TURN + key)
        if Evidence.objects.exclude(state=State.WITHDRAWN).filter(**{field: key}).exists():
            return
        storage.store().drop(key)
        if field == "tree":
            storage.store().drop(storage.thumbnail_key(key))
            with storage.refusals_told():
                made.forget(key)


def hold(*keys: str) -> None:
    """Keep stored what a row is about to name, until the end of the caller's transaction.

    The same content may belong to other evidence that is being withdrawn: its removal either sees the row, or came
    first and the file is gone. Raises ``StorageError`` in that case: the file has to be stored again.
    """
    turns.take(TURN + keys[0])
    if missing := [key for key in keys if not storage.store().has(key)]:
        raise StorageError(f"{missing[0]} was removed as other evidence was withdrawn.", says=REMOVED)
