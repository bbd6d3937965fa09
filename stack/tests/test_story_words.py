"""What the story extracts from Slack's markup, and what the tour's checks find."""

from __future__ import annotations

from typing import Any

import pytest

from stack.story.stage import plain, plan_lines
from stack.tour import record, room
from stack.tour.checks import Checks, NotSo


def modal(*texts: str) -> dict[str, Any]:
    return {"blocks": [{"type": "divider"}, *({"text": {"type": "mrkdwn", "text": text}} for text in texts)]}


def checks() -> Checks:
    return Checks(lambda line: None)


def test_plan_lines_are_read_from_a_modal() -> None:
    view = modal("*Before you confirm*", "`+`  invite Ana (@support)\n`~`  move the conversation", "`-`  archive #old")
    assert plan_lines(view) == [("+", "invite Ana (@support)"), ("~", "move the conversation"), ("-", "archive #old")]


def test_no_modal_shows_no_plan() -> None:
    assert plan_lines(None) == []


def test_markup_is_taken_out() -> None:
    assert plain("*bold* and <#C1|incidents>, a &lt;tag&gt; &amp; more") == "bold and incidents, a <tag> & more"


def test_what_was_done_but_not_shown_is_found() -> None:
    effect = {"kind": "post", "room": 1, "sentence": "post the headline"}
    with pytest.raises(NotSo, match="too much: post the headline"):
        record.done_as_shown(checks(), [("+", "set the topic")], [effect], came=[])


def test_lines_for_people_and_counted_lines_are_understood() -> None:
    shown = [("+", "invite Ana, Ben (@support)"), ("~", "withdraw our message (2 times)"), ("~", record.MOVE)]
    withdrawn = {"kind": "post", "room": 1, "sentence": "withdraw our message"}
    opened = {"kind": "channel", "room": 2, "sentence": "open the private channel #inc-x"}
    record.done_as_shown(checks(), shown, [withdrawn, withdrawn, opened], came=["Ana", "Ben"])


def test_who_was_not_named_is_found() -> None:
    with pytest.raises(NotSo, match="too much: Cleo"):
        record.done_as_shown(checks(), [("+", "invite Ana (@support)")], [], came=["Ana", "Cleo"])


def test_who_lost_access_and_was_not_named_is_found_and_who_was_named_and_kept_it() -> None:
    for lost in (["Ana", "Cleo"], ["Cleo"], []):
        with pytest.raises(NotSo, match="those who lost access"):
            record.done_as_shown(checks(), [("-", "end access for Ana")], [], came=[], lost=lost)
    record.done_as_shown(checks(), [("-", "end access for Ana, Ben")], [], came=[], lost=["Ana", "Ben"])


def test_a_message_that_stands_twice_is_found() -> None:
    ours = {"user": room.OURS, "text": "Declared", "ts": "1.0"}
    with pytest.raises(NotSo, match="stands there twice"):
        room.nothing_twice(checks(), {"messages": [ours, ours]})


def test_a_call_made_twice_is_found() -> None:
    call = {"ok": True, "method": "conversations.create", "args": {"name": "inc-x"}, "n": 1}
    with pytest.raises(NotSo, match="twice"):
        record.calls_made_once(checks(), [call, call])
