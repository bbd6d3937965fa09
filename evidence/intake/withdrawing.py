"""Take evidence back: a file that should never have been sent, or was sent to the wrong incident."""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import transaction

from evidence.intake import made, storage
from evidence.intake.storage import StorageError
from evidence.models import Evidence, HotFunction
from evidence.models.evidence import State
from incidents import lifecycle, timeline
from incidents.lifecycle import rules
from incidents.models import Person, Source

log = logging.getLogger(__name__)


def withdraw(evidence: Evidence, *, by: Person, at: datetime, because: str = "", source: str = Source.WEB) -> None:
    """Withdraw evidence: its file and everything read from it are removed, its entry says that it was withdrawn.

    Raises ``NotThere``, and ``Refused`` unless ``by`` brought it, leads the incident, or nobody brought it (a
    capture).
    """
    with rules.changing(evidence.incident, by=by) as incident:
        evidence.incident = incident
        may(evidence, by)
        if (
            not Evidence.objects.filter(pk=evidence.pk)
            .exclude(state=State.WITHDRAWN)
            .update(
                state=State.WITHDRAWN, says="", summary={}, original="", tree="", link="", origin={}, leased_until=None
            )
        ):
            return
        HotFunction.objects.filter(evidence=evidence).delete()
        if evidence.event_n is not None:
            lifecycle.take_back(incident, n=evidence.event_n, by=by, at=at, because=because, source=source)
            timeline.index_again(incident)
        else:
            timeline.nudge_readers(incident.pk)
        transaction.on_commit(lambda: forget(evidence.original, evidence.tree))


def may(evidence: Evidence, by: Person) -> None:
    """Raise ``Refused`` when this person may not withdraw it."""
    if not evidence.is_withdrawable_by(by):
        raise lifecycle.Refused("Only the lead or the person who added this can withdraw it.")


def forget(original: str, tree: str) -> None:
    """Remove an original and a tree that no other evidence has; one that cannot be reached now is logged."""
    for field, key in (("original", original), ("tree", tree)):
        if key and not Evidence.objects.filter(**{field: key}).exists():
            try:
                storage.store().drop(key)
                if field == "tree":
                    storage.store().drop(storage.thumbnail_key(key))
                    made.forget(key)
            except StorageError:
                log.exception("a withdrawn file is still stored")
