"""Alerts that people merged in the pager: the incident that they were merged into continues in their place."""

from __future__ import annotations

from datetime import datetime
from enum import Enum, auto
from typing import Final

from incidents import timeline
from incidents.models import Incident
from workflows.alerts import own_pages
from workflows.models import Alert, Page
from workflows.oncall.pager_events import RESOLVED, PagerIncident
from workflows.pager_port import MergedInto

CHAIN: Final = 20  # merges into merges; no one chains more than this


class GoesOn(Enum):
    """Whether what this incident's ended alerts were merged into is still open, and where."""

    NOWHERE = auto()
    HERE = auto()
    ELSEWHERE = auto()


def is_an_alert(into: MergedInto) -> bool:
    """Return whether something was merged into an alert and not into one of our pages."""
    return (
        not own_pages.is_a_page(PagerIncident(into.id, title=into.title))
        and not Page.objects.filter(pager_id=into.id).exists()
    )


def bring_along(alert: Alert, incident: Incident, *, at: datetime) -> None:
    """Attach to an incident what an alert was merged into, and so on, up to the first that belongs to an incident.

    Runs in the caller's transaction, which holds the incident.
    """
    one = _next(alert)
    while one is not None and join(one, incident, at=at):
        one = _next(one)


def join(alert: Alert, incident: Incident, *, at: datetime) -> bool:
    """Attach an alert to this incident, without a rule; return False if it already belongs to one."""
    if alert.incident_id is not None:
        return False
    alert.incident, alert.joined_at = incident, at
    alert.save(update_fields=["incident", "joined_at"])
    timeline.nudge_readers(incident.pk)
    return True


def goes_on(incident: Incident) -> GoesOn:
    """Return where something is still open that this incident's alerts, all ended, were merged into."""
    found = GoesOn.NOWHERE
    left = set(Alert.objects.filter(incident=incident).exclude(merged_into="").values_list("merged_into", flat=True))
    for _ in range(CHAIN):
        pages = [page for page in Page.objects.filter(pager_id__in=left) if page.is_open]
        if any(page.incident_id == incident.pk for page in pages):
            return GoesOn.HERE
        others = Alert.objects.filter(pager_id__in=left).exclude(incident=incident)
        if pages or others.exclude(status=RESOLVED).exists():
            found = GoesOn.ELSEWHERE
        left = set(others.exclude(merged_into="").values_list("merged_into", flat=True))
        if not left:
            break
    return found


def _next(alert: Alert) -> Alert | None:
    if not alert.merged_into:
        return None
    return Alert.objects.select_for_update(of=("self",), no_key=True).filter(pager_id=alert.merged_into).first()
