"""Read incidents by REST: only what the token's owner may see right now."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from evidence.models import Token
from evidence.models.token import Scope
from incidents import lifecycle, search, timeline, visibility
from incidents.models import Incident, Status
from incidents.search import IncidentFilters
from integrations.api import answers, asking, openapi
from integrations.api.admitting import admits
from workflows import terminal

STATUSES: Final = ("active", "ended", *Status.values)
MINE: Final = ("lead", "in")
EVENTS: Final = 100
EVENTS_AT_MOST: Final = 500


@admits(Scope.INCIDENTS_READ, "GET")
def incidents(request: HttpRequest, token: Token) -> HttpResponse:
    """List incidents, those people still respond to first, then the newest; page by page."""
    try:
        filters = _filters(request.GET)
    except lifecycle.BadInput as wrong:
        return answers.bad_parameter(wrong)
    found = search.find(filters, person=token.person)
    seen = visibility.visible_to(token.person).filter(pk__in=[one.pk for one in found.rows])
    whole = seen.select_related("type", "lead").in_bulk()
    rows = [_row(whole[one.pk]) for one in found.rows if one.pk in whole]
    return _said({"incidents": rows, "next": found.more or None})


@admits(Scope.INCIDENTS_READ, "GET")
def incident(request: HttpRequest, token: Token, codename: str) -> HttpResponse:
    """Describe one incident, by its codename or an older one."""
    found = asking.incident_of(token, codename)
    if found is None:
        return answers.not_found()
    return _said(terminal.about(found, reader=token.person) | _row(found))


@admits(Scope.INCIDENTS_READ, "GET")
def events(request: HttpRequest, token: Token, codename: str) -> HttpResponse:
    """List what was written on an incident's timeline, in the order in which it was recorded."""
    try:
        after = _whole(request.GET, "after", 0, most=2**31 - 1)
        limit = _whole(request.GET, "limit", EVENTS, most=EVENTS_AT_MOST)
    except lifecycle.BadInput as wrong:
        return answers.bad_parameter(wrong)
    found = asking.incident_of(token, codename)
    if found is None:
        return answers.not_found()
    rows = list(timeline.since(found, after)[: max(limit, 1) + 1])
    shown = timeline.naming(rows[: max(limit, 1)], reader=token.person)
    said = [terminal.event(one) for one in shown]
    return _said({"incident": found.codename, "events": said, "next": shown[-1].n if len(rows) > len(shown) else None})


@csrf_exempt
@require_safe
def description(request: HttpRequest) -> HttpResponse:
    """Describe this API to programs; it says nothing of anyone's incidents, so it asks for no token."""
    return _said(openapi.document(settings.FIREKIND.base_url))


def _filters(given: QueryDict) -> IncidentFilters:
    """Read what is asked for; raise ``BadInput`` rather than leave out what is not understood."""
    read = IncidentFilters.read(given)
    for name, known in (("status", STATUSES), ("me", MINE)):
        if given.get(name) and not getattr(read, name):
            raise lifecycle.BadInput(name, f"Use one of {', '.join(known)}, or leave it out.")
    for name in ("since", "until"):
        if given.get(name) and not getattr(read, name):
            raise lifecycle.BadInput(name, "Use a day such as 2026-03-14.")
    if read.after and not search.is_cursor(read.after):
        raise lifecycle.BadInput("after", "Use the value of `next` unchanged.")
    return read


def _whole(given: QueryDict, name: str, default: int, *, most: int) -> int:
    said = given.get(name, "")
    if not said:
        return default
    if not (said.isascii() and said.isdecimal() and len(said) < 11):
        raise lifecycle.BadInput(name, "Use a whole number.")
    return min(int(said), most)


def _row(incident: Incident) -> dict[str, Any]:
    return terminal.row(incident) | {"url": f"{settings.FIREKIND.base_url}{incident.get_absolute_url()}"}


def _said(said: dict[str, Any]) -> HttpResponse:
    return answers.fresh(JsonResponse(said))


@csrf_exempt  # nothing is done
def nothing(request: HttpRequest, elsewhere: str) -> HttpResponse:
    """Refuse an address that no door has in the words of the API, and not with a page for people."""
    return answers.no_address()
