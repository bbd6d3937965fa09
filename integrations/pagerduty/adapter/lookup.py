"""Find a page by its key, and read its status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from integrations.pagerduty.adapter import ownership
from integrations.pagerduty.protocol import merging
from workflows.pager_port import OpenIncident, PagerPerson, PageStatus, unsigned

if TYPE_CHECKING:  # importing the wire loads PagerDuty's client, so only code that makes requests does it
    from integrations.pagerduty.adapter.wire import Wire

OPEN: Final = ("triggered", "acknowledged")
STATUSES: Final = (*OPEN, "resolved")
LONGEST: Final = timedelta(days=180)  # PagerDuty lists half a year at most
LOOKED_INTO: Final = 25  # how many incidents' alerts are read to find a page that was sent as an event


def by_key(wire: Wire, key: str, *, codename: str = "") -> PageStatus | None:
    """Find a page by its key among all incidents ever opened, open ones first.

    PagerDuty refuses a key only while an open incident has it, so this search is what keeps a late retry from paging
    twice. The list also contains incidents whose alerts have the key: one of someone else's that our event joined is
    reported as ``joined``, never treated as our page.
    """
    found = [_ours(wire, one, key=key, codename=codename) for one in _with_key(wire, key, statuses=STATUSES)]
    known = [one for one in found if one is not None]
    return min(known, key=lambda one: (bool(one.joined), STATUSES.index(one.status)), default=None)


def by_alert(
    wire: Wire, key: str, *, services: Sequence[str], since: datetime, codename: str = ""
) -> PageStatus | None:
    """Find an incident that an event opened: the incident has no key of its own, but its alert has.

    Reads the alerts of at most ``LOOKED_INTO`` incidents of these services, newest first.
    """
    for incident in _without_key(wire, services=services, since=since, statuses=STATUSES):
        if (found := _ours(wire, incident, key=key, codename=codename)) is not None:
            return found
    return None


def first(wire: Wire, key: str, *, services: Sequence[str], since: datetime, codename: str = "") -> PageStatus | None:
    """Find the one of all incidents under a key that was opened first, by whichever way: people know that one.

    Reads alerts as ``by_alert`` does.
    """
    listed = _with_key(wire, key, statuses=STATUSES)
    without = _without_key(wire, services=services, since=since, statuses=STATUSES) if services else ()
    found = [_ours(wire, one, key=key, codename=codename) for one in (*listed, *without)]
    known = [one for one in found if one is not None]
    return min(known, key=lambda one: (bool(one.joined), one.opened_at or datetime.now(UTC)), default=None)


def twins(wire: Wire, key: str, *, besides: str, services: Sequence[str], since: datetime) -> list[PageStatus]:
    """Find other open incidents under a key, if nothing in them is anyone else's.

    If none is found and services are given, it reads alerts as ``by_alert`` does.
    """
    found = list(_whole(wire, _with_key(wire, key, statuses=OPEN), key=key, besides=besides))
    if not found and services:
        without = _without_key(wire, services=services, since=since, statuses=OPEN)
        found = list(_whole(wire, without, key=key, besides=besides))
    return found


def _whole(wire: Wire, incidents: Iterable[Mapping[str, Any]], *, key: str, besides: str) -> Iterator[PageStatus]:
    for incident in incidents:
        if incident["id"] != besides and (whose := ownership.of(wire, incident, key=key)).is_whole:
            yield rung(incident, key=key, via="events" if whose.alert else "rest")


def _ours(wire: Wire, incident: Mapping[str, Any], *, key: str, codename: str) -> PageStatus | None:
    """Return a page for an incident that is ours; for someone else's that our event joined, the status of our alert."""
    whose = ownership.of(wire, incident, key=key, codename=codename)
    if whose.is_ours:
        return rung(incident, key=key, via="events" if whose.alert else "rest")
    return _joined(incident, key=key, status=whose.alert) if whose.alert else None


def _joined(incident: Mapping[str, Any], *, key: str, status: str) -> PageStatus:
    service = str((incident.get("service") or {}).get("summary") or "another service")
    number = incident.get("incident_number")
    return PageStatus(
        id="",
        status="resolved" if status == "resolved" else "triggered",
        via="events",
        url=str(incident.get("html_url") or ""),
        key=key,
        joined=f"{service} (#{number})" if number else service,
    )


def _with_key(wire: Wire, key: str, *, statuses: Sequence[str]) -> Iterator[dict[str, Any]]:
    query = {"incident_key": key, "date_range": "all", "statuses[]": list(statuses)}
    return wire.pages("/incidents", of="incidents", query=query)


def _without_key(
    wire: Wire, *, services: Sequence[str], since: datetime, statuses: Sequence[str]
) -> Iterator[dict[str, Any]]:
    since = max(since, datetime.now(UTC) - LONGEST)
    query: dict[str, Any] = {"since": utc(since), "statuses[]": list(statuses), "sort_by": "created_at:desc"}
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
    """Return a page by PagerDuty's id. Raises ``VendorError``."""
    return rung(wire.call("GET", "/incidents/{id}", id=id)["incident"])


def open_since(wire: Wire, since: datetime) -> list[OpenIncident]:
    """List open incidents that were opened since a time. Raises ``VendorError``."""
    query = {"since": utc(since), "statuses[]": list(OPEN), "sort_by": "created_at:asc"}
    return [_open(one) for one in wire.pages("/incidents", of="incidents", query=query) if one.get("created_at")]


def _open(incident: Mapping[str, Any]) -> OpenIncident:
    known, service = rung(incident), incident.get("service") or {}
    opened_at = datetime.fromisoformat(str(incident["created_at"]))
    return OpenIncident(
        id=known.id,
        status=known.status,
        title=known.title,
        opened_at=opened_at,
        at=known.at or opened_at,
        key=known.key,
        number=known.number,
        url=known.url,
        priority=str((incident.get("priority") or {}).get("summary") or ""),
        service_id=str(service.get("id") or ""),
        service=str(service.get("summary") or ""),
        by=known.by,
        by_id=known.by_id,
    )


def rung(incident: Mapping[str, Any], *, key: str = "", via: str = "rest") -> PageStatus:
    """Convert an incident in PagerDuty's JSON to a page."""
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
        key=key or str(incident.get("incident_key") or ""),
        title=unsigned(str(incident.get("title") or ""), key=key),
        by_id=str(by.get("id") or "") if is_person(by) else "",
        assigned=tuple(_person(one["assignee"]) for one in assigned),
        assigned_at=max((at for one in assigned if (at := moment(one.get("at")))), default=None),
        service=str((incident.get("service") or {}).get("id") or "") if via == "events" else "",
        opened_at=moment(incident.get("created_at")),
        into=merging.into(incident),
    )


def is_person(reference: Mapping[str, Any]) -> bool:
    """Return whether a reference is to a person, rather than a service or an integration."""
    return str(reference.get("type") or "").startswith("user")


def _person(reference: Mapping[str, Any]) -> PagerPerson:
    return PagerPerson(str(reference["id"]), str(reference.get("summary") or ""))


def moment(text: Any) -> datetime | None:
    """Parse a time in PagerDuty's format; None when it is missing."""
    return datetime.fromisoformat(str(text)) if text else None


def utc(at: datetime) -> str:
    """Format a time for PagerDuty."""
    return at.isoformat(timespec="seconds")
