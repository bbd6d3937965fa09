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
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from incidents import lifecycle
from incidents.audited import copies
from incidents.forms.given import number
from incidents.lifecycle import redaction
from incidents.models import Incident
from incidents.views import panels
from incidents.views.panels import Panel, PanelState
from incidents.views.signed_in import Request, incident_or_404, signed_in
from workflows.alerts import alert_redaction
from workflows.models import Alert

SHOWN, PAGE = 5, 50
OK, CONFLICT = 200, 409
# Written as SQL, because every page of an incident runs it.
GROUPS: Final = """
    SELECT status, service_id, count(*), max(service), max(status_at), max(joined_at),
           count(*) FILTER (WHERE title = %s)
      FROM workflows_alert WHERE incident_id = %s GROUP BY status, service_id ORDER BY status, service_id
"""
STATUSES = {"triggered": "triggered", "acknowledged": "acknowledged", "resolved": "resolved"}


class AlertGroup(NamedTuple):
    """The alerts of one status and service: how many, and when the last of them changed."""

    status: str
    service_id: str
    n: int
    service: str
    status_at: datetime
    joined_at: datetime
    redacted: int


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def alerts(request: Request, codename: str) -> HttpResponse:
    """Show the alerts, paginated; the lead can also redact one, after a confirmation."""
    incident = incident_or_404(request.person, codename)
    asked = request.POST.get("redact", "") if request.method == "POST" else request.GET.get("redact", "")
    says = ""
    if request.method == "POST":
        try:
            alert_redaction.redact(incident, pager_id=asked, by=request.person, at=timezone.now())
        except lifecycle.Refused as refused:
            says = str(refused)
        else:
            return redirect("incident-alerts", incident.codename)
    every = _newest_first(incident)
    leads = redaction.is_lead(incident, request.person)
    context = {"incident": incident, "policy": incident.policy, "leads": leads, "says": says, "stands": copies.STANDS}
    known = every.exclude(title=copies.STANDS)
    context["redacting"] = known.filter(pager_id=asked).first() if leads and asked else None
    context |= _counts(_groups(incident)) | _asked(request, every)
    return render(request, "workflows/alerts.html", context, status=CONFLICT if says else OK)


def _read(request: Request, incident: Incident, groups: Sequence[AlertGroup]) -> PanelState:
    leads = redaction.is_lead(incident, request.person)
    context = {**_counts(groups), "alerts": _newest_first(incident)[:SHOWN], "leads": leads, "stands": copies.STANDS}
    return PanelState(panels.digest_of((groups, leads)), context)


def _newest_first(incident: Incident) -> QuerySet[Alert]:
    return Alert.objects.filter(incident=incident).order_by("-at", "-pk")


def _groups(incident: Incident) -> list[AlertGroup]:
    with connection.cursor() as cursor:
        cursor.execute(GROUPS, [copies.STANDS, incident.pk])
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
    """Return the page of alerts that the URL asks for, by status and service."""
    status, service = request.GET.get("status", ""), request.GET.get("service")
    if status in STATUSES:
        every = every.filter(status=status)
    if service is not None:
        every = every.filter(service_id=service)
    page = Paginator(every, PAGE).get_page(number(request.GET.get("page")) or 1)
    return {"page": page, "alerts": page.object_list, "status": status, "service": service}
