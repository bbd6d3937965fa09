"""Requests on a real socket: what is sent, what comes back, and which failures mean that nothing was sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from integrations.profilers.fake.serving import Fake, SourceReply, SourceRequest, serving
from integrations.trackers.adapter import github, gitlab, jira, linear
from integrations.trackers.adapter.wire import (
    LOOK,
    OPEN,
    WAIT_AT_MOST_S,
    WAIT_S,
    NeverSent,
    TrackerReply,
    TrackerRequest,
    Wire,
    carry,
)
from workflows.ports import VendorError


class Echo(Fake):
    """Answers with the request it got; redirects if asked to."""

    def answer(self, asked: SourceRequest) -> SourceReply:
        """Send the request back."""
        if asked.path == "/moved":
            return SourceReply(302, b"", {"Location": "http://127.0.0.1:1/"})
        return SourceReply(200, b'{"title": "kept"}', {"X-Kept": "yes"})


# Values that name no time: nothing, words, a date, and what only Python reads as a number.
NO_TIME = [None, "", "soon", "5, 10", "Tue, 01 Dec 2026 23:00:00 GMT", "nan", "inf", "-inf", "1e400"]
RESET = {"GitHub": "x-ratelimit-reset", "GitLab": "ratelimit-reset", "Linear": "x-ratelimit-requests-reset"}
LIMITED = {
    "GitHub": (github.limited, 403, {"x-ratelimit-remaining": "0"}, b""),
    "GitLab": (gitlab.limited, 429, {}, b""),
    "Jira": (jira.limited, 429, {}, b""),
    "Linear": (linear.limited, 400, {}, b'{"errors": [{"extensions": {"code": "RATELIMITED"}}]}'),
}


@pytest.mark.parametrize("name", LIMITED)
@given(st.data())
def test_a_rate_limit_that_names_no_time_is_waited_for_as_long_as_usual(name: str, data: st.DataObject) -> None:
    limited, status, headers, body = LIMITED[name]
    header = data.draw(st.sampled_from(["retry-after", RESET.get(name, "retry-after")]))
    named = data.draw(st.sampled_from(NO_TIME) | st.integers(-(10**12), 10**12).map(str))
    reply = TrackerReply(status, body, headers if named is None else {**headers, header: named})
    tracker = Wire(name, "http://tracker.example", {}, limited=limited, carrier=lambda _: reply)
    with pytest.raises(VendorError) as raised:
        tracker.call(LOOK, "GET", "/issues")
    assert raised.value.retry_after is not None
    assert 1 <= raised.value.retry_after <= WAIT_AT_MOST_S
    assert named not in NO_TIME or raised.value.retry_after == WAIT_S


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
