"""Requests on a real socket: what is sent, what comes back, and which failures mean that nothing was sent."""

from __future__ import annotations

import pytest

from integrations.profilers.fake.serving import Fake, SourceReply, SourceRequest, serving
from integrations.trackers.adapter.wire import LOOK, OPEN, NeverSent, TrackerRequest, Wire, carry
from workflows.ports import VendorError


class Echo(Fake):
    """Answers with the request it got; redirects if asked to."""

    def answer(self, asked: SourceRequest) -> SourceReply:
        """Send the request back."""
        if asked.path == "/moved":
            return SourceReply(302, b"", {"Location": "http://127.0.0.1:1/"})
        return SourceReply(200, b'{"title": "kept"}', {"X-Kept": "yes"})


def test_a_request_goes_out_and_its_answer_comes_back() -> None:
    echo = Echo()
    with serving(echo) as url:
        wire = Wire("The tracker", f"{url}/api", {"Authorization": "Bearer t"}, limited=lambda reply: None)
        found = wire.call(OPEN, "POST", "/issues", query={"state": "all"}, body={"title": "Ä"})
        assert carry(TrackerRequest("GET", f"{url}/x", {})).headers["x-kept"] == "yes"
        moved = Wire("The tracker", url, {}, limited=lambda reply: None)
        with pytest.raises(VendorError, match="http_302"):
            moved.call(LOOK, "GET", "/moved")
    (asked, *_) = echo.asked
    assert found == {"title": "kept"}
    assert (asked.method, asked.path, asked.one("state")) == ("POST", "/api/issues", "all")
    assert asked.headers["Authorization"] == "Bearer t"
    assert asked.body == b'{"title": "\\u00c4"}'


def test_nothing_went_out_where_nobody_listens() -> None:
    with serving(Echo()) as url:
        pass
    with pytest.raises(NeverSent):
        carry(TrackerRequest("POST", f"{url}/issues", {}, b"{}"))
