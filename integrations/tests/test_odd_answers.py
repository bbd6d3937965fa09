"""Something else answers in a vendor's place: no call counts as done; each is retried or reported to people."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from integrations.pagerduty.adapter.client import PagerDutyPager
from integrations.pagerduty.tests.straight import Given, OwnRoutes
from integrations.profilers.profiler import ADAPTERS as PROFILERS
from integrations.profilers.profiler import ListedProfiler
from integrations.profilers.sources import Listed
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.adapter.wire import Wire
from integrations.tests.odd_answers import FOREIGN, WAITS, SameAnswer, answering, reply
from integrations.trackers.adapter.current import ADAPTERS as TRACKERS
from integrations.trackers.tests.board import TrackerSetup
from workflows.chat_port import Posted
from workflows.pager_port import PageRequest
from workflows.planning.wording.card import Card
from workflows.ports import VendorError
from workflows.tracker_port import TicketDraft

Calls = Mapping[str, Callable[[], object]]
AT: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
CARD: Final = Card("headline", "Checkout is slow", text="We are looking")
LONGEST_WAIT_S: Final = 3600


@pytest.fixture(scope="module")
def server() -> Iterator[SameAnswer]:
    with answering() as server:
        yield server


def slack(url: str) -> Calls:
    """Return every call of the chat port whose answer matters."""
    wire = Wire(api_url=f"{url}/api/", token="xoxb-secret", timeout_s=5)
    chat = SlackChat(wire, identity=Identity(wire, team_id="T1", bot_user_id="U1"), admin=wire)
    below = Posted("C123", "1.0")
    return {
        "open_channel": lambda: chat.open_channel("inc-a", private=True),
        "find_channel": lambda: chat.find_channel("inc-a", since=AT),
        "invite": lambda: chat.invite("C123", ["U123", "U124"]),
        "members": lambda: chat.members("C123"),
        "topic": lambda: chat.has_topic("C123", ""),
        "set_topic": lambda: chat.set_topic("C123", "x"),
        "add_bookmark": lambda: chat.add_bookmark("C123", title="t", link="l"),
        "find_bookmark": lambda: chat.find_bookmark("C123", link="l"),
        "edit_bookmark": lambda: chat.edit_bookmark("C123", "B1", title="t", link="l"),
        "remove_bookmark": lambda: chat.remove_bookmark("C123", "B1"),
        "post": lambda: chat.post("#incidents", CARD, mark="m"),
        "find_post": lambda: chat.find_post("C123", marks=["m"], since=AT),
        "edit_post": lambda: chat.edit_post("C123", "1.0", CARD),
        "pin": lambda: chat.pin("C123", "1.0"),
        "archive": lambda: chat.archive("C123"),
        "close": lambda: chat.close("C123"),
        "look": lambda: chat.look("C123"),
        "room": lambda: chat.room("inc-a"),
        "is_posted": lambda: chat.is_posted("C123", "1.0"),
        "shown": lambda: chat.shown("C123", "1.0"),
        "remains": lambda: chat.remains("C123"),
        "tell": lambda: chat.tell("U123", CARD, mark="m"),
        "upload": lambda: chat.upload("a.png", b"x", alt="a"),
        "share": lambda: chat.share("F1", title="t", below=below),
        "is_shared": lambda: chat.is_shared("F1", below=below),
        "delete_file": lambda: chat.delete_file("F1"),
        "groups": chat.groups,
        "set_group": lambda: chat.set_group("S1", ["U123"]),
        "people": chat.people,
        "ask": lambda: Identity(wire).ask(),
    }


def pagerduty(url: str) -> Calls:
    """Return every call of the pager port, on both of its APIs."""
    pager = PagerDutyPager(Given(api_url=url, events_url=url), routes=OwnRoutes())
    ring = PageRequest(key="k", target="policy/P1", service="S1", title="t", details="d", link="l")
    return {
        "ring": lambda: pager.ring(ring),
        "find": lambda: pager.find("k", service="S1", since=AT),
        "twins": lambda: pager.twins("Q1", key="k", since=AT),
        "look": lambda: pager.look("Q1"),
        "retitle": lambda: pager.retitle("Q1", "t"),
        "resolve": lambda: pager.resolve("Q1", key="k", via="rest"),
        "resolve by event": lambda: pager.resolve("", key="k", via="events"),
        "acknowledge": lambda: pager.acknowledge("Q1", by="ann@example.com"),
        "note": lambda: pager.note("Q1", "t"),
        "people": pager.people,
        "targets": pager.targets,
        "turns": lambda: pager.turns(policies=["P1"], schedules=["S1"], since=AT, until=AT),
        "overrides": lambda: pager.overrides(schedules=["S1"], since=AT, until=AT),
    }


def tracker(kind: str, url: str) -> Calls:
    """Return every call of the tracker port."""
    module, name = TRACKERS[kind]
    made = getattr(importlib.import_module(module), name)(TrackerSetup(kind, "acme/ops", "acme/private", url=url))
    fields = {"title": "Rotate the keys", "state": "open", "owner": "ann-there", "due": "2026-12-01"}
    return {
        "open_ticket": lambda: made.open_ticket(TicketDraft(fields, "from here", "mark")),
        "find_ticket": lambda: made.find_ticket("mark", private=False, since=AT),
        "look_at_ticket": lambda: made.look_at_ticket("1"),
        "change_ticket": lambda: made.change_ticket("1", {"title": "x", "state": "done"}),
        "withdraw_ticket": lambda: made.withdraw_ticket("1"),
        "changed_tickets": lambda: made.changed_tickets(AT),
    }


def profiler(kind: str, url: str) -> Calls:
    """Return a capture."""
    listed = Listed(name="checkout", type=kind, url=url, kinds={"cpu": "cpu"}, internal=True)
    made = ListedProfiler([listed], environ={})
    return {"capture": lambda: made.capture("checkout", "cpu", seconds=1, at=AT)}


VENDORS: Final[dict[str, Callable[[str], Calls]]] = {
    "slack": slack,
    "pagerduty": pagerduty,
    **{kind: lambda url, kind=kind: tracker(kind, url) for kind in TRACKERS},  # type: ignore[misc]
}


def taken_for_done(calls: Calls, server: SameAnswer, answers: Mapping[str, bytes]) -> list[str]:
    """Return the calls that counted as done, by answer; raise any unexpected error."""
    done: list[str] = []
    for named, answer in answers.items():
        server.says = answer
        for name, call in calls.items():
            error = refusal(call)
            if error is None:
                done.append(f"{name}: {named}")
                continue
            assert error.says, (name, named)
            assert error.retryable or answer[9:10] in b"34", (name, named, error.code)  # or people have to act
    return done


def refusal(call: Callable[[], object]) -> VendorError | None:
    """Return the error that refuses a call; raise any other."""
    try:
        call()
    except VendorError as error:
        return error
    return None


@pytest.mark.parametrize("vendor", sorted(VENDORS))
def test_nothing_is_taken_for_done_when_someone_else_answers(server: SameAnswer, vendor: str) -> None:
    assert not taken_for_done(VENDORS[vendor](server.url), server, FOREIGN)


def test_an_ok_alone_is_no_answer_to_a_question(server: SameAnswer) -> None:
    done = taken_for_done(slack(server.url), server, {"ok": reply(200, b'{"ok": true}')})
    acts = {"set_topic", "edit_bookmark", "remove_bookmark", "edit_post", "pin", "archive", "invite"}
    assert {name.partition(":")[0] for name in done} == acts | {"share", "delete_file", "set_group"}


@pytest.mark.parametrize("kind", sorted(PROFILERS))
def test_what_a_proxy_says_is_no_profile(server: SameAnswer, kind: str) -> None:
    calls = profiler(kind, server.url)
    for named, answer in FOREIGN.items():
        server.says = answer
        if kind == "pprof" and b" 200 " in answer and b"text/html" not in answer and b"chunked" not in answer:
            continue  # any bytes may be a profile, which is found out when they are read
        with pytest.raises(VendorError) as caught:
            calls["capture"]()
        assert caught.value.says, named
        assert "<html" not in caught.value.says


@pytest.mark.parametrize("way", ["pagerduty", "slack", *TRACKERS])
def test_a_rate_limit_is_waited_for_and_never_for_good(server: SameAnswer, way: str) -> None:
    calls = VENDORS[way](server.url)
    call = calls["people" if way in {"slack", "pagerduty"} else "look_at_ticket"]
    for wait in WAITS:
        server.says = reply(429, b"{}", Retry_After=wait, RateLimit_Reset=wait, X_RateLimit_Requests_Reset=wait)
        with pytest.raises(VendorError) as caught:
            call()
        assert caught.value.retry_after is not None
        assert 1 <= caught.value.retry_after <= LONGEST_WAIT_S


def test_files_to_and_from_slack_break_by_name(server: SameAnswer) -> None:
    wire = Wire(api_url=f"{server.url}/api/", token="xoxb-secret", timeout_s=5)
    ways: dict[str, Callable[[], Any]] = {
        "upload": lambda: wire.upload(f"{server.url}/up", b"x"),
        "download": lambda: list(wire.download(f"{server.url}/down")),
        "respond": lambda: wire.respond(f"{server.url}/respond", text="hi"),
    }
    for answer in (*FOREIGN.values(), reply(429, Retry_After="9" * 400)):
        server.says = answer
        for way in ways.values():
            error = refusal(way)
            assert error is None or error.says


def test_slacks_token_goes_nowhere_else(server: SameAnswer) -> None:
    with answering() as elsewhere:
        elsewhere.says = reply(200, b'{"ok": true}')
        server.says = reply(302, Location=f"{elsewhere.url}/sign-in")
        with pytest.raises(VendorError) as caught:
            slack(server.url)["set_topic"]()
        assert caught.value.retryable
        assert not elsewhere.heard
