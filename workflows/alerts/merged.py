"""What became of alerts that people merged at the pager: what they were merged into goes on in their place."""

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

CHAIN: Final = 20  # merges into merges; nobody makes more of them


class GoesOn(Enum):
    """Where something that the ended alerts of an incident became is still open."""

    NOWHERE = auto()
    HERE = auto()
    ELSEWHERE = auto()


def is_an_alert(into: MergedInto) -> bool:
    """Return whether what something was merged into is none of our pages."""
    return (
        not own_pages.is_a_page(PagerIncident(into.id, title=into.title))
        and not Page.objects.filter(pager_id=into.id).exists()
    )


def bring_along(alert: Alert, incident: Incident, *, at: datetime) -> None:
    """Have what an alert was merged into, and that in turn, concern an incident, unless it concerns one already.

    In the caller's transaction, which holds the incident.
    """
    one = _next(alert)
    while one is not None and join(one, incident, at=at):
        one = _next(one)


def join(alert: Alert, incident: Incident, *, at: datetime) -> bool:
    """Have an alert that concerns no incident concern this one, by no rule; return whether it concerned none."""
    if alert.incident_id is not None:
        return False
    alert.incident, alert.joined_at = incident, at
    alert.save(update_fields=["incident", "joined_at"])
    timeline.nudge_readers(incident.pk)
    return True


def goes_on(incident: Incident) -> GoesOn:
    """Return where something is still open that the alerts of an incident were merged into, all of which have ended."""
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
