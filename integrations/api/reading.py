"""Read incidents by REST: only what the token's owner may see right now."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from evidence.models import Token
from evidence.models.token import Scope
from incidents import lifecycle, search, timeline, visibility
from incidents.models import Incident
from incidents.search import IncidentFilters
from integrations.api import answers, asking, openapi
from integrations.api.admitting import admits
from integrations.api.query_schemas import FILTERS, FROM_N
from workflows import terminal

EVENTS: Final = 100


@admits(Scope.INCIDENTS_READ, GET=FILTERS)
def incidents(request: HttpRequest, token: Token) -> HttpResponse:
    """List incidents page by page: open ones first, then the newest."""
    filters = IncidentFilters.read(request.GET)
    if filters.after and not search.is_cursor(filters.after):
        raise lifecycle.BadInput("after", "Use the value of `next` unchanged.")
    found = search.find(filters, person=token.person)
    seen = visibility.visible_to(token.person).filter(pk__in=[one.pk for one in found.rows])
    whole = seen.select_related("type", "lead").in_bulk()
    rows = [_row(whole[one.pk]) for one in found.rows if one.pk in whole]
    return _said({"incidents": rows, "next": found.more or None})


@admits(Scope.INCIDENTS_READ, GET=())
def incident(request: HttpRequest, token: Token, codename: str) -> HttpResponse:
    """Describe one incident, by its current or a former codename."""
    found = asking.incident_of(token, codename)
    if found is None:
        return answers.not_found()
    return _said(terminal.about(found, reader=token.person) | _row(found))


@admits(Scope.INCIDENTS_READ, GET=FROM_N)
def events(request: HttpRequest, token: Token, codename: str) -> HttpResponse:
    """List an incident's timeline events in the order in which they were recorded."""
    after, limit = int(request.GET.get("after") or 0), int(request.GET.get("limit") or EVENTS)
    found = asking.incident_of(token, codename)
    if found is None:
        return answers.not_found()
    rows = list(timeline.since(found, after)[: limit + 1])
    shown = timeline.one_by_one(rows[:limit], reader=token.person)
    said = [terminal.event(one) for one in shown]
    return _said({"incident": found.codename, "events": said, "next": shown[-1].n if len(rows) > len(shown) else None})


@csrf_exempt
def description(request: HttpRequest) -> HttpResponse:
    """Describe this API to programs. No token is required, because it says nothing about any incident."""
    if request.method not in {"GET", "HEAD"}:
        return answers.not_allowed("GET")
    return _said(openapi.document(settings.FIREKIND.base_url))


def _row(incident: Incident) -> dict[str, Any]:
    return terminal.row(incident) | {"url": f"{settings.FIREKIND.base_url}{incident.get_absolute_url()}"}


def _said(said: dict[str, Any]) -> HttpResponse:
    return answers.fresh(JsonResponse(said))


@csrf_exempt  # it changes nothing
def nothing(request: HttpRequest, elsewhere: str) -> HttpResponse:
    """Refuse an unknown path in the API's JSON format instead of with a page for people."""
    return answers.no_address()
