"""Pages believe only responses that say that they are Firekind's, whatever is answered."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import RequestFactory

from incidents.live.hallmark import HEADER, MARK, Hallmark
from incidents.models import Incident, Person
from incidents.outages import database_watch
from incidents.tests.conftest import Open


@pytest.mark.parametrize("path", ["", "live?n=0", "note", "no-such", "write", "/sign-in/"])
def test_whatever_a_browser_shows_says_that_it_is_ours(
    incident: Incident,
    ada: Person,
    browse: Open,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
) -> None:
    address = path if path.startswith("/") else f"{incident.get_absolute_url()}{path}"
    client = browse(ada)
    for is_away in (False, True):
        monkeypatch.setattr(database_watch, "is_away", lambda away=is_away: away)
        for headers in ({}, {"HX-Request": "true"}, {"Accept-Encoding": "gzip"}):
            is_ours(client.get(address, headers=headers))


def is_ours(response: Any) -> None:
    """Expect a response to carry our mark, and its real length."""
    body = response.content
    assert response.headers[HEADER] == "1"
    assert int(response.headers.get("Content-Length", len(body))) == len(body)
    shown = gzip.decompress(body) if response.headers.get("Content-Encoding") == "gzip" else body
    assert shown.removeprefix(b"<!doctype html>").startswith(MARK) or not shown


@pytest.mark.parametrize(
    "response",
    [
        HttpResponse(b"<p>A review</p>", headers={"Content-Disposition": "attachment"}),
        HttpResponse(b"{}", content_type="application/json"),
        HttpResponse(b"", status=204),
        StreamingHttpResponse([b"<p>", b"parts</p>"]),
        FileResponse(iter([b"<p>"]), content_type="text/html"),
    ],
)
def test_files_data_and_streams_stay_as_they_are(response: HttpResponseBase) -> None:
    before = None if response.streaming else getattr(response, "content", b"")
    after = Hallmark(lambda request: response)(RequestFactory().get("/"))
    assert after is response
    assert after.headers[HEADER] == "1"
    content = b"".join(after) if after.streaming else getattr(after, "content", b"")
    assert MARK not in content
    assert before in (None, content)
