"""Evidence whose file is still elsewhere: its row is written at once, and a worker fetches the file first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from evidence.intake import receiving, withdrawing
from evidence.intake.storage import StorageError
from evidence.models import Evidence
from evidence.models.evidence import State
from evidence.profile.errors import Unreadable
from incidents import lifecycle
from incidents.claiming.shared_clock import clock
from incidents.lifecycle import rules
from incidents.models import Incident, Person

Fetcher = Callable[[Mapping[str, Any]], Iterator[bytes]]


class FileUnavailable(Exception):
    """The file is unavailable; the message says why, for the person who added it. ``passing`` if it may be later."""

    def __init__(self, says: str, *, passing: bool = False) -> None:
        super().__init__(says)
        self.passing = passing


_fetchers: dict[str, Fetcher] = {}


def connect(via: str, fetcher: Fetcher) -> None:
    """Register the fetcher for what comes by a door; called once, by ``config``, at start. It receives the origin."""
    _fetchers[via] = fetcher


def expect(
    incident: Incident,
    *,
    ref: str,
    title: str,
    by: Person | None,
    via: str,
    at: datetime,
    file_name: str = "",
    phase: str = "",
) -> Evidence | None:
    """Write evidence whose file is fetched later by its ``ref``; None if this incident already has that file.

    Raises ``NotThere``.
    """
    with rules.changing(incident, by=by) as now:
        name = receiving.shown_name(file_name)
        known = Evidence.objects.filter(incident=now, origin__ref=ref).exclude(state=State.WITHDRAWN)
        if known.exists():
            return None
        origin = {"via": via, "ref": ref, "file_name": name}
        said = rules.title(title or name or "Evidence")
        found = Evidence(incident=now, title=said, origin=origin, phase=phase, added_by=by, added_at=clock.at(at))
        return receiving.add(found, by=by)


def fetch(evidence: Evidence) -> None:
    """Fetch and store the file of evidence that has none yet.

    Raises ``Unreadable`` if it is unavailable, ``StorageError`` if it may be available later.
    """
    fetcher = _fetchers.get(str(evidence.origin.get("via", "")))
    if fetcher is None:
        raise Unreadable("The file was never stored and can't be fetched.")
    try:
        stored = receiving.store_body(fetcher(evidence.origin))
    except FileUnavailable as error:
        if error.passing:
            raise StorageError(str(error), says=str(error)) from error
        raise Unreadable(str(error)) from error
    except lifecycle.Refused as refused:
        raise Unreadable(str(refused)) from refused
    evidence.original, evidence.size = stored.key, stored.size
    mine = Evidence.objects.filter(pk=evidence.pk, token=evidence.token, state=State.READING)
    with transaction.atomic():
        withdrawing.hold(stored.key)
        is_wanted = mine.update(original=stored.key, size=stored.size)
    if not is_wanted:
        withdrawing.forget(stored.key, "")
