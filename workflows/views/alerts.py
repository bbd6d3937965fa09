"""The alerts of an incident: what was opened in the pager, and each one's status there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.core.paginator import Paginator
from django.db import connection
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from incidents.forms.given import number
from incidents.models import Incident
from incidents.views import panels
from incidents.views.panels import Panel, PanelState
from incidents.views.signed_in import Request, incident_or_404, signed_in
from workflows.models import Alert

SHOWN, PAGE = 5, 50
# As SQL, because every page of an incident asks it.
GROUPS: Final = """
    SELECT status, service_id, count(*), max(service), max(status_at), max(joined_at)
      FROM workflows_alert WHERE incident_id = %s GROUP BY status, service_id ORDER BY status, service_id
"""
STATUSES = {"triggered": "triggered", "acknowledged": "acknowledged", "resolved": "resolved"}


class AlertGroup(NamedTuple):
    """The alerts of one status and service: how many, and when the last of them moved."""

    status: str
    service_id: str
    n: int
    service: str
    status_at: datetime
    joined_at: datetime


@require_GET
@signed_in
def alerts(request: Request, codename: str) -> HttpResponse:
    """Show the alerts, page by page."""
    incident = incident_or_404(request.person, codename)
    context = {"incident": incident, "policy": incident.policy, **_counts(_groups(incident))}
    return render(request, "workflows/alerts.html", context | _asked(request, _newest_first(incident)))


def _read(_request: Request, incident: Incident, groups: Sequence[AlertGroup]) -> PanelState:
    return PanelState(panels.digest_of(groups), {**_counts(groups), "alerts": _newest_first(incident)[:SHOWN]})


def _newest_first(incident: Incident) -> QuerySet[Alert]:
    return Alert.objects.filter(incident=incident).order_by("-at", "-pk")


def _groups(incident: Incident) -> list[AlertGroup]:
    with connection.cursor() as cursor:
        cursor.execute(GROUPS, [incident.pk])
        return [AlertGroup(*row) for row in cursor.fetchall()]


panels.register("alerts", Panel(_read, {"alerts": "workflows/alerts.html#panel"}, _groups))


def _counts(groups: Sequence[AlertGroup]) -> dict[str, Any]:
    statuses, services, names = Counter[str](), Counter[str](), {}
    for group in groups:
        statuses[group.status] += group.n
        services[group.service_id] += group.n
        names[group.service_id] = group.service or "no service"
    return {
        "total": statuses.total(),
        "open": statuses.total() - statuses["resolved"],
        "statuses": [(status, word, statuses[status]) for status, word in STATUSES.items() if statuses[status]],
        "services": [(id, names[id], n) for id, n in services.most_common()],
    }


def _asked(request: Request, every: QuerySet[Alert]) -> dict[str, Any]:
    """Return the page of alerts that the address asks for, by status and service."""
    status, service = request.GET.get("status", ""), request.GET.get("service")
    if status in STATUSES:
        every = every.filter(status=status)
    if service is not None:
        every = every.filter(service_id=service)
    page = Paginator(every, PAGE).get_page(number(request.GET.get("page")) or 1)
    return {"page": page, "alerts": page.object_list, "status": status, "service": service}
