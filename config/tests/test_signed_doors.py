"""Vendors' requests pass less middleware than pages, and are answered as if they had passed all of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, path
from django.views.decorators.csrf import csrf_exempt

from config.http import signed_doors
from config.http.signed_doors import SignedDoors
from incidents.live.hallmark import MARK
from incidents.outages import database_watch, outage_answer

TOLD = {"Allow", "Cache-Control", "Content-Length", "Content-Type", "Location", "Retry-After", "X-Slack-No-Retry"}
KEPT = {"X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy", "Strict-Transport-Security"}
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
SENT: dict[str, dict[str, Any]] = {
    "nothing": {"data": b"", "content_type": JSON},
    "unsigned": {"data": json.dumps({"type": "event_callback"}).encode(), "content_type": JSON},
    "a verification": {"data": b'{"type": "url_verification", "challenge": "abc"}', "content_type": JSON},
    "a form": {"data": b"command=%2Fincident&text=declare", "content_type": FORM},
    "not a form": {"data": b"\xff\xfe" * 40, "content_type": "multipart/form-data; boundary=x"},
    "an odd host": {"data": b"{}", "content_type": JSON, "HTTP_HOST": "else.where.example"},
    "no host at all": {"data": b"{}", "content_type": JSON, "HTTP_HOST": "a b/c"},
    "a cookie": {"data": b"{}", "content_type": JSON, "HTTP_COOKIE": "sessionid=abc; messages=%22; csrftoken=1"},
    "over TLS": {"data": b"{}", "content_type": JSON, "secure": True},
    "a page asked for": {"data": b"{}", "content_type": JSON, "HTTP_HX_REQUEST": "true", "HTTP_ACCEPT": "text/html"},
}


class Broken:
    """A URL table in which everything behind each address fails."""

    handler500 = staticmethod(outage_answer.failed)

    def __init__(self, error: Exception) -> None:
        def view(request: HttpRequest) -> HttpResponse:
            raise error

        self.urlpatterns = [path(address.removeprefix("/"), csrf_exempt(view)) for address in signed_doors.ADDRESSES]


def signed_only(view: Any) -> bool:
    """Return whether a view uses no session: only programs' views are exempt from Django's CSRF check."""
    return bool(getattr(view, "csrf_exempt", False))


def addresses(among: list[URLPattern | URLResolver], *, under: str = "/") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in among:
        at = under + str(one.pattern)
        found |= addresses(one.url_patterns, under=at) if isinstance(one, URLResolver) else {at: one.callback}
    return found


def both(address: str, sent: dict[str, Any]) -> tuple[HttpResponse, HttpResponse]:
    """Send the same request twice: through all of a page's middleware, and as served."""
    pages, doors = BaseHandler(), SignedDoors()
    pages.load_middleware()
    answers = []
    for handler in (pages, doors):
        response = handler.get_response(RequestFactory().post(address, **sent))
        assert isinstance(response, HttpResponse)
        answers.append(response)
    return answers[0], answers[1]


def test_every_door_of_a_vendor_and_nothing_else_is_one() -> None:
    exempt = {at for at, view in addresses(get_resolver().url_patterns).items() if signed_only(view)}
    programs = {at for at in exempt if at.startswith(("/api/", "/v1development/"))}
    assert exempt - programs == signed_doors.ADDRESSES


@pytest.mark.django_db
@pytest.mark.parametrize("https", [False, True], ids=["plain", "https"])
@pytest.mark.parametrize("away", [False, True], ids=["", "without the database"])
@pytest.mark.parametrize("sent", SENT.values(), ids=SENT.keys())
@pytest.mark.parametrize("address", sorted(signed_doors.ADDRESSES))
@pytest.mark.filterwarnings("ignore:No directory at")
def test_it_is_answered_the_same(
    address: str, sent: dict[str, Any], away: bool, https: bool, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = https, 3600 if https else 0
    monkeypatch.setattr(database_watch, "is_away", lambda: away)
    as_a_page, as_served = both(address, sent)
    assert as_served.status_code == as_a_page.status_code
    if "html" not in as_a_page["Content-Type"]:  # a page has a nonce, and only a browser uses it
        assert as_served.content == as_a_page.content
    for header in TOLD | KEPT:
        assert as_served.get(header) == as_a_page.get(header), header
    assert not as_served.cookies


@pytest.mark.filterwarnings("ignore:No directory at")
@pytest.mark.parametrize("error", [RuntimeError("on purpose"), OperationalError("server closed the connection")])
@pytest.mark.parametrize("address", sorted(signed_doors.ADDRESSES))
def test_what_goes_wrong_behind_a_door_is_an_answer(address: str, error: Exception, settings: Any) -> None:
    settings.ROOT_URLCONF = Broken(error)
    as_a_page, as_served = both(address, SENT["unsigned"])
    assert as_served.status_code == as_a_page.status_code == (503 if isinstance(error, OperationalError) else 500)
    assert as_served.content == as_a_page.content.replace(MARK, b"")  # no open page reads it


def test_what_does_more_than_wrap_a_request_is_refused(settings: Any) -> None:
    settings.SIGNED_MIDDLEWARE = ["evidence.views.storing.StorageOutages"]
    with pytest.raises(TypeError, match="StorageOutages"):
        SignedDoors()


@pytest.mark.parametrize(
    ("asked", "door"),
    [
        (RequestFactory().post, True),
        (RequestFactory().get, False),
        (RequestFactory().put, False),
        (RequestFactory().head, False),
    ],
)
def test_whoever_opens_an_address_of_a_door_gets_a_page(asked: Callable[[str], HttpRequest], door: bool) -> None:
    assert all(signed_doors.is_for(asked(address)) is door for address in signed_doors.ADDRESSES)
    assert not signed_doors.is_for(asked("/incidents/"))


def test_what_a_door_passes_is_among_what_a_page_passes() -> None:
    assert [one for one in settings.MIDDLEWARE if one in settings.SIGNED_MIDDLEWARE] == settings.SIGNED_MIDDLEWARE
