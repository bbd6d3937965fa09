"""Links that people post: the app is told first, has to answer that, and only then may show previews."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from integrations.slack import fake
from integrations.slack.fake.tests.furnished import Strict, small

URL = "https://firekind.example/incidents/amber-otter/"
SHOWN = {URL: {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x"}}]}}
REFUSED = "cannot_unfurl_url"
DEEDS = ("posted", "answered", "unfurled")


@pytest.fixture
def slack() -> Strict:
    """A workspace whose app knows the links of one domain."""
    slack = small()
    slack.unfurl_domains = frozenset({"firekind.example"})
    return slack


def post(slack: Strict, channel: str = "ours") -> tuple[str, fake.PendingDelivery, fake.PendingDelivery]:
    """Post a link; return its timestamp, and the deliveries while it is being written and after it is posted."""
    ts = slack.acts.say("ada", channel, f"look at {URL}")
    draft, posted = (one for one in slack.take_deliveries() if one.type == "link_shared")
    return ts, draft, posted


@pytest.mark.parametrize("status", [200, 204, 0, 401, 500])
@pytest.mark.parametrize("order", list(itertools.permutations(DEEDS)), ids=" ".join)
def test_a_link_is_shown_after_an_answer_that_says_it_was_taken(
    slack: Strict, order: tuple[str, ...], status: int
) -> None:
    ts, told = "1.1", None
    said: list[str] = []
    for deed in order:
        if deed == "posted":
            ts, _, told = post(slack)
        elif deed == "answered" and told is not None:
            slack.acts.answered(told, status)
        elif deed == "unfurled":
            said.append(slack.error("chat.unfurl", channel="C0OURS", ts=ts, unfurls=SHOWN))
    taken = order == DEEDS and 200 <= status < 300
    early = order.index("unfurled") < order.index("posted")
    assert said == ["" if taken else "cannot_find_message" if early else REFUSED]
    assert bool(slack.channel("ours").messages[ts].attachments) == taken


def test_the_answer_to_a_later_try_will_do(slack: Strict) -> None:
    ts, _, told = post(slack)
    for status in (500, 0, 200):
        assert slack.error("chat.unfurl", channel="C0OURS", ts=ts, unfurls=SHOWN) == REFUSED
        slack.acts.answered(told, status)
    slack.ok("chat.unfurl", channel="C0OURS", ts=ts, unfurls=SHOWN)


def test_only_links_that_were_told_of_are_shown(slack: Strict) -> None:
    ts, _, told = post(slack)
    slack.acts.answered(told, 200)
    other = {f"{URL}more": SHOWN[URL]}
    assert slack.error("chat.unfurl", channel="C0OURS", ts=ts, unfurls=other) == REFUSED
    plain = slack.acts.say("ada", "ours", "no link")
    assert slack.error("chat.unfurl", channel="C0OURS", ts=plain, unfurls=SHOWN) == REFUSED


def test_what_is_still_being_written_has_no_channel_and_is_shown_by_its_id(slack: Strict) -> None:
    _, draft, _ = post(slack)
    event = draft.payload["event"]
    assert (event["channel"], event["source"]) == ("COMPOSER", "composer")
    assert slack.error("conversations.info", channel=event["channel"]) == "channel_not_found"
    asked = {"source": "composer", "unfurl_id": event["unfurl_id"], "unfurls": SHOWN}
    assert slack.error("chat.unfurl", **asked) == REFUSED
    slack.acts.answered(draft, 200)
    assert (
        slack.error("chat.unfurl", channel="COMPOSER", ts=event["message_ts"], unfurls=SHOWN) == "cannot_find_channel"
    )
    slack.ok("chat.unfurl", **asked)


def test_the_app_is_told_where_it_is_no_member_too(slack: Strict) -> None:
    for channel, inside in (("ours", True), ("others", False), ("hidden", False)):
        _, _, posted = post(slack, channel)
        assert posted.payload["event"]["is_bot_user_member"] is inside


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"unfurl_id": "x", "unfurls": SHOWN}, "missing_source"),
        ({"source": "composer", "unfurls": SHOWN}, "missing_unfurl_id"),
        ({"source": "elsewhere", "unfurl_id": "x", "unfurls": SHOWN}, "invalid_source"),
        ({"source": "composer", "unfurl_id": "x", "unfurls": SHOWN}, "invalid_unfurl_id"),
        ({"ts": "1.1", "unfurls": SHOWN}, "missing_channel"),
        ({"channel": "C404", "ts": "1.1", "unfurls": SHOWN}, "cannot_find_channel"),
        ({"channel": "C0OURS", "ts": "1.1", "unfurls": SHOWN}, "cannot_find_message"),
    ],
)
def test_refusals(slack: Strict, args: dict[str, Any], error: str) -> None:
    assert slack.error("chat.unfurl", **args) == error
