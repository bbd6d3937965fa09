"""Who is asking: every page except the sign-in starts here."""

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
ENDED: Final = "ended"  # makes the sign-in page explain itself to someone whose page was open
# Responses that reveal nothing of what was found: they redirect, or have no content.
WORDLESS = frozenset({204, 301, 302, 304, 404, 405})


class Request(HttpRequest):
    """A request from a known person."""

    person: Person
    htmx: HtmxDetails


View = Callable[Concatenate[Request, P], HttpResponseBase]


def signed_in(view: View[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Let a view answer only known people; browsers and proxies store nothing of its answer.

    A person who loses access between the view's check and its verb, or while the page is being rendered, gets the
    answer for an incident that does not exist.
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
    """Close the file of a discarded response; closing the response itself would end the request."""
    if isinstance(response, FileResponse) and response.file_to_stream is not None:
        response.file_to_stream.close()


def _in_small_letters(request: HttpRequest, codename: object) -> HttpResponse | None:
    """Redirect a codename in capitals to its lowercase address, whether or not an incident has it."""
    if request.method != "GET" or not isinstance(codename, str) or codename == codename.lower():
        return None
    found = request.resolver_match
    assert found is not None, "a page was found by its address"
    query = request.META.get("QUERY_STRING", "")
    path = reverse(found.view_name, args=found.args, kwargs=found.kwargs | {"codename": codename.lower()})
    return redirect(f"{path}?{query}" if query else path)


def _refuse_nul(request: HttpRequest) -> None:
    """Raise ``BadRequest`` for a NUL in the input: PostgreSQL can neither store nor compare one."""
    for given in (request.GET, request.POST):
        if any("\0" in value for _, values in given.lists() for value in values):
            raise BadRequest("Text can't contain NUL characters.")


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Send an unknown person to the sign-in page and back afterwards; a fragment redirects the whole page.

    A fragment's request is refused, or its page would take it for done. A person who sent a form comes back to its
    page, where `sending.js` has kept the text; a browser without scripts gets it back in the answer.
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
    """Return the page of ours that a form was sent from; the list if its browser does not say."""
    sent_from = urlsplit(request.headers.get("Referer", ""))
    if sent_from.netloc != request.get_host():
        return "/"
    return urlunsplit(("", "", sent_from.path, sent_from.query, ""))


def zone_of(request: HttpRequest) -> ZoneInfo:
    """Return the viewer's time zone from the cookie that their browser sets; UTC until then."""
    return zone_named(request.COOKIES.get(given_words.ZONE, "UTC")) or ZoneInfo("UTC")


def zone_named(name: str) -> ZoneInfo | None:
    """Return a time zone by its name; None for a name that is unknown, malformed or a folder."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def incident_or_404(person: Person, codename: str) -> Incident:
    """Return an incident that this person may see; hidden and absent ones answer alike. Reading a private one is
    audited.
    """
    try:
        incident = visibility.find(person, codename)
    except Incident.DoesNotExist:
        raise _no_incident() from None
    still_seen.note(incident)
    audit_notes.read(incident, by=person)
    return incident


def _no_incident() -> Http404:
    return Http404("No such incident.")
