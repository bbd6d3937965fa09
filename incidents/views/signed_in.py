"""Who is asking: every page but the sign-in begins here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec, cast
from urllib.parse import urlsplit, urlunsplit
from zoneinfo import ZoneInfo

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from incidents import lifecycle, still_seen, visibility
from incidents.audited import audit_notes
from incidents.forms import given_words
from incidents.models import Incident, Person
from incidents.people import person_matching

P = ParamSpec("P")
NO_STORE = "no-store, private"
UNAUTHORIZED = 401
ENDED: Final = "ended"  # the sign-in page says why somebody sees it whose page was open
# Answers that say nothing of what was found: they lead elsewhere, or hold no words.
WORDLESS = frozenset({204, 301, 302, 304, 404, 405})


class Request(HttpRequest):
    """A request from a known person."""

    person: Person
    htmx: HtmxDetails


View = Callable[Concatenate[Request, P], HttpResponseBase]


def signed_in(view: View[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Let a view answer known people only; nothing it says is kept by browsers or proxies.

    A person who loses access between the view's check and its verb, or while the page is being made, gets the answer
    for an absent incident.
    """

    @wraps(view)
    def asked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return to_sign_in(request)
        person = person_matching.of_user(request.user)
        if person is None:
            raise PermissionDenied("This account has been deactivated.")
        _refuse_nul(request)
        known = cast("Request", request)
        known.person = person
        if (plain := _in_small_letters(request, kwargs.get("codename"))) is not None:
            return plain
        with timezone.override(zone_of(request)):
            try:
                with still_seen.finding() as found:
                    response = view(known, *args, **kwargs)
            except lifecycle.NotThere:
                raise _no_incident() from None
        if response.status_code not in WORDLESS and not found.is_seen(by=person):
            _let_go_of(response)
            raise _no_incident()
        response.headers.setdefault("Cache-Control", NO_STORE)
        return response

    return asked


def _let_go_of(response: HttpResponseBase) -> None:
    """Close the file that an answer would have given; closing the answer itself would end the request."""
    if isinstance(response, FileResponse) and response.file_to_stream is not None:
        response.file_to_stream.close()


def _in_small_letters(request: HttpRequest, codename: object) -> HttpResponse | None:
    """Lead from a codename in capitals to the same address without them, whoever has that codename, if anyone."""
    if request.method != "GET" or not isinstance(codename, str) or codename == codename.lower():
        return None
    found = request.resolver_match
    assert found is not None, "a page was found by its address"
    query = request.META.get("QUERY_STRING", "")
    path = reverse(found.view_name, args=found.args, kwargs=found.kwargs | {"codename": codename.lower()})
    return redirect(f"{path}?{query}" if query else path)


def _refuse_nul(request: HttpRequest) -> None:
    """Raise ``BadRequest`` for a NUL in what was sent: PostgreSQL can neither keep nor compare one."""
    for given in (request.GET, request.POST):
        if any("\0" in value for _, values in given.lists() for value in values):
            raise BadRequest("Text can't contain NUL characters.")


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Send someone unknown to the sign-in page and back afterwards; a fragment sends the whole page.

    What a fragment sent is refused, or its page would take it for done. Who sent a form comes back to its page, where
    `sending.js` has kept the words; a browser without scripts gets them back in the answer.
    """
    htmx = cast("Request", request).htmx
    if htmx:
        back = redirect_to_login(htmx.current_url_abs_path or "/")
        refusal = HttpResponseClientRedirect(f"{back['Location']}&{ENDED}")
        refusal.status_code = UNAUTHORIZED
        return refusal
    back = redirect_to_login(request.get_full_path() if request.method == "GET" else _page_of_form(request))
    if given_words.lost(request):
        return render(request, "signed_out.html", {"sign_in": back["Location"]}, status=UNAUTHORIZED)
    return back


def _page_of_form(request: HttpRequest) -> str:
    """Return the page of ours that a form was sent from; the list where its browser does not say so."""
    sent_from = urlsplit(request.headers.get("Referer", ""))
    if sent_from.netloc != request.get_host():
        return "/"
    return urlunsplit(("", "", sent_from.path, sent_from.query, ""))


def zone_of(request: HttpRequest) -> ZoneInfo:
    """Return the viewer's time zone as their browser told it in a cookie; UTC until then."""
    return zone_named(request.COOKIES.get(given_words.ZONE, "UTC")) or ZoneInfo("UTC")


def zone_named(name: str) -> ZoneInfo | None:
    """Return a time zone by its name; None for a name that is unknown, malformed or a folder."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def incident_or_404(person: Person, codename: str) -> Incident:
    """Return an incident that this person may see; hidden and absent ones are alike. To read a private one is noted."""
    try:
        incident = visibility.find(person, codename)
    except Incident.DoesNotExist:
        raise _no_incident() from None
    still_seen.note(incident)
    audit_notes.read(incident, by=person)
    return incident


def _no_incident() -> Http404:
    return Http404("No such incident.")
