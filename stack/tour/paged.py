"""What must be true of pages: whose phones rang, once; what was reported about them; what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from stack.outside import Visitor
from stack.story.stage import Stage
from stack.tour.checks import Checks


def once(checks: Checks, stage: Stage, whom: str, *, on_call: Collection[str]) -> None:
    """Check that a page was opened once, and rang each of those on call once."""
    page = stage.paged(whom)
    users = stage.account.state()["users"]
    emails = Counter(users[one["user"]]["email"] for one in stage.account.rang(incident=page["id"]))
    checks.same(f"the page to {whom} reached those on call", set(emails), set(on_call))
    checks.so("each of them once", set(emails.values()) == {1}, instead=dict(emails))
    asked = [
        call for call in stage.account.calls(request="POST /incidents") if call["body"] and _key(call) == page["key"]
    ]
    checks.so("it was opened by one request", len(asked) == 1, instead=len(asked))


def acknowledged(checks: Checks, stage: Stage, channel: Mapping[str, Any], whom: str) -> None:
    """Check that the timeline says who has a page, and that it was posted in the channel."""
    (event,) = [one for one in stage.records.events(stage.codename) if one["data"].get("news") == "acknowledged"]
    checks.so(f"the timeline says that {event['by']} has it", event["text"] == f"acknowledged the page to {whom}")
    texts = [one["text"] for one in channel["messages"]]
    checks.so("the channel was told", any(f"{event['by']} acknowledged the page to {whom}" in one for one in texts))


def told_as_it_is(checks: Checks, visitor: Visitor, stage: Stage, whom: str) -> None:
    """Check that the list of the incident's pages shows its status."""
    page = visitor.get(f"/incidents/{stage.codename}/pages")
    says = whom in page.text and "acknowledged" in page.text.lower()
    checks.so("the incident's page says who was paged, and that it is acknowledged", page.status == 200 and says)


def neutral(checks: Checks, stage: Stage, *, words: Collection[str]) -> None:
    """Check that no open page says what a private incident is about."""
    ours = [one for one in stage.account.incidents(about=stage.codename) if one["status"] != "resolved"]
    titles = [one["title"] for one in ours]
    checks.so(
        f"{len(titles)} open pages say nothing of what it is about",
        not any(word in title for word in words for title in titles),
        instead=titles,
    )


def all_over(checks: Checks, stage: Stage) -> None:
    """Check that every page ended with the incident."""
    states = {one["status"] for one in stage.account.incidents(about=stage.codename)}
    checks.so("every page ended with it", states == {"resolved"}, instead=states)


def _key(call: Mapping[str, Any]) -> str:
    return str(call["body"]["incident"].get("incident_key"))
