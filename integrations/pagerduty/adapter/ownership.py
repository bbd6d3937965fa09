"""Decide whose an incident is, before it is treated as a page of ours, renamed or resolved.

A service that groups alerts puts our event into someone else's open incident, and people merge incidents. PagerDuty
finds all of these by our key. Resolving one resolves every alert in it, including those that are not ours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # importing the wire loads PagerDuty's client, so only code that makes requests does it
    from integrations.pagerduty.adapter.wire import Wire


@dataclass(frozen=True, slots=True)
class Ownership:
    """Which parts of an incident are ours. ``alert`` is the status of our alert in it, empty when there is none.

    ``is_named``: the incident or one of its alerts has our key. ``is_titled``: its title is ours. ``has_others``:
    someone else's alerts are in it.
    """

    is_named: bool
    is_titled: bool
    has_others: bool
    alert: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing in it is anyone else's, so that it may be resolved."""
        return self.is_named and not self.has_others

    @property
    def is_ours(self) -> bool:
        """Whether our page opened it, so that it may be treated as the page and renamed."""
        return self.is_whole or (self.is_named and self.is_titled)


def of(wire: Wire, incident: Mapping[str, Any], *, key: str, codename: str = "") -> Ownership:
    """Decide whose an incident is. Reads its alerts if it has any, at most twice. Raises ``VendorError``.

    Without a key, only an incident with no alerts counts as ours, because then nothing in it can be anyone else's.
    """
    title = str(incident.get("title") or "")
    is_titled = bool(codename) and codename in title
    count = (incident.get("alert_counts") or {}).get("all")
    if count == 0:
        is_named = not key or incident.get("incident_key") == key
        return Ownership(is_named, is_titled, has_others=False)
    mine, others = _counted(wire, str(incident["id"]), key=key, count=count)
    has_key = bool(key) and incident.get("incident_key") == key
    if is_titled and mine and others and not has_key:
        is_titled = _began_with(wire, incident, key=key)
    return Ownership(bool(mine) or has_key, is_titled, has_others=others, alert=_status(mine))


def _counted(wire: Wire, id: str, *, key: str, count: int | None) -> tuple[list[Mapping[str, Any]], bool]:
    """Return our alerts of an incident, and whether there are others. All are read only if no count is given."""
    query = {"alert_key": key} if key and count is not None else {}
    listed = list(wire.pages("/incidents/{id}/alerts", of="alerts", id=id, query=query))
    mine: list[Mapping[str, Any]] = [one for one in listed if key and one.get("alert_key") == key]
    return mine, (len(listed) if count is None else count) > len(mine)


def _began_with(wire: Wire, incident: Mapping[str, Any], *, key: str) -> bool:
    """Return whether an incident began with our alert: our event may have joined another Firekind's, of our codename.

    An incident has the title of the alert it began with, unless someone has changed the title since.
    """
    query = {"sort_by": "created_at:asc"}
    alerts = list(wire.pages("/incidents/{id}/alerts", of="alerts", id=str(incident["id"]), query=query))
    named = [one for one in alerts if one.get("summary") == incident.get("title")]
    first = min(named or alerts, key=lambda one: _apart_s(one, incident), default={})
    return first.get("alert_key") == key


def _apart_s(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Return the seconds between the creation of two things; infinity if either time is unknown."""
    if not (one.get("created_at") and other.get("created_at")):
        return math.inf
    made, began = (datetime.fromisoformat(str(thing["created_at"])) for thing in (one, other))
    return abs((made - began).total_seconds())


def _status(alerts: list[Mapping[str, Any]]) -> str:
    """Return the combined status of several alerts: triggered while any of them is."""
    statuses = {str(one.get("status") or "") for one in alerts}
    return "triggered" if "triggered" in statuses else next(iter(statuses), "")
