"""Find a page by its key, and read its status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from workflows.ports import PagerPerson, PageStatus

if TYPE_CHECKING:  # the wire brings PagerDuty's client, which only those who call it load
    from integrations.pagerduty.adapter.wire import Wire

STATUSES: Final = ("triggered", "acknowledged", "resolved")
LONGEST: Final = timedelta(days=180)  # PagerDuty lists half a year at most
LOOKED_INTO: Final = 25  # incidents whose alerts are read while looking for a page that was sent as an event


def by_key(wire: Wire, key: str) -> PageStatus | None:
    """Look among all incidents there ever were, open ones first: the key of one that was resolved is free again.

    PagerDuty refuses a key only while an open incident has it, so this is what keeps a late retry from ringing twice.
    """
    query = {"incident_key": key, "date_range": "all", "statuses[]": list(STATUSES)}
    found = [rung(one) for one in wire.pages("/incidents", of="incidents", query=query)]
    return min(found, key=lambda one: STATUSES.index(one.status), default=None)


def by_alert(wire: Wire, key: str, *, services: Sequence[str], since: datetime) -> PageStatus | None:
    """Look for an incident that was opened by an event: it has no key of its own, its alert has.

    Reads the alerts of at most ``LOOKED_INTO`` incidents of these services, the newest first.
    """
    for incident in _without_key(wire, services=services, since=since):
        alerts = wire.call("GET", "/incidents/{id}/alerts", id=incident["id"], query={"alert_key": key}).get("alerts")
        if any(alert.get("alert_key") == key for alert in alerts or ()):
            return rung(incident, key=key, via="events")
    return None


def _without_key(wire: Wire, *, services: Sequence[str], since: datetime) -> Iterator[dict[str, Any]]:
    since = max(since, datetime.now(UTC) - LONGEST)
    query: dict[str, Any] = {"since": utc(since), "statuses[]": list(STATUSES), "sort_by": "created_at:desc"}
    if services:
        query["service_ids[]"] = list(services)
    looked_into = 0
    for incident in wire.pages("/incidents", of="incidents", query=query):
        if not incident.get("incident_key"):
            looked_into += 1
            yield incident
        if looked_into == LOOKED_INTO:
            return


def by_id(wire: Wire, id: str) -> PageStatus:
    """Read a page by PagerDuty's id; raises ``VendorError``."""
    return rung(wire.call("GET", "/incidents/{id}", id=id)["incident"])


def rung(incident: Mapping[str, Any], *, key: str = "", via: str = "rest") -> PageStatus:
    """Read a page from an incident as PagerDuty writes it."""
    by = incident.get("last_status_change_by") or {}
    assigned = [one for one in incident.get("assignments") or () if is_person(one.get("assignee") or {})]
    return PageStatus(
        id=str(incident["id"]),
        status=str(incident["status"]),
        number=incident.get("incident_number"),
        url=str(incident.get("html_url") or ""),
        via=via,
        at=moment(incident.get("last_status_change_at") or incident.get("created_at")),
        by=str(by.get("summary") or ""),
        key=str(incident.get("incident_key") or key),
        title=str(incident.get("title") or ""),
        by_id=str(by.get("id") or "") if is_person(by) else "",
        assigned=tuple(_person(one["assignee"]) for one in assigned),
        assigned_at=max((at for one in assigned if (at := moment(one.get("at")))), default=None),
    )


def is_person(reference: Mapping[str, Any]) -> bool:
    """Return whether a reference is to a person, and not to a service or an integration."""
    return str(reference.get("type") or "").startswith("user")


def _person(reference: Mapping[str, Any]) -> PagerPerson:
    return PagerPerson(str(reference["id"]), str(reference.get("summary") or ""))


def moment(text: Any) -> datetime | None:
    """Read a moment as PagerDuty writes it; None where there is none."""
    return datetime.fromisoformat(str(text)) if text else None


def utc(at: datetime) -> str:
    """Write a moment as PagerDuty reads it."""
    return at.isoformat(timespec="seconds")
