"""An unanswered request may be carried out a minute later: what it creates is still created only once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any, Final

import pytest

from incidents import lifecycle
from integrations.slack.adapter import wire
from integrations.slack.tests.straight import StraightWire
from integrations.tests.duty import duty
from integrations.tests.house import House, house, workspace
from integrations.tests.late_vendor import FATES, Late
from integrations.tests.ticket_desk import Desk, desk
from integrations.trackers.adapter.wire import Carrier, TrackerReply, TrackerRequest
from integrations.trackers.fake.board import Board
from integrations.trackers.tests import board as boards
from workflows.models import Page
from workflows.performing import perform
from workflows.ports import VendorError
from workflows.reconcile import reconcile
from workflows.status import progress

TRACKER_HOLDS_S: Final = (5, 16, 31, 60)
SLACK_HOLDS_S: Final = (5, 11, 31, 44)
WORDS: Final = ("chat.postMessage", "chat.update", "chat.update C0INCIDENTS", "conversations.setTopic")


@pytest.fixture
def office(db: None, late: Late, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    carrier = boards.carrier

    def holding(board: Board) -> Carrier:
        carry = carrier(board)

        def held(request: TrackerRequest) -> TrackerReply:
            late.arrive()
            opens = request.method == "POST" and request.url.endswith("/issues")
            reply: TrackerReply = late.take(lambda: carry(request)) if opens else carry(request)
            return reply

        return held

    monkeypatch.setattr(boards, "carrier", holding)
    with desk() as made:
        yield made


@pytest.mark.parametrize("late", [(*one, 15.0) for one in product(TRACKER_HOLDS_S, FATES)], indirect=True)
def test_a_ticket_is_opened_once_however_long_the_tracker_holds_the_request(office: Desk, late: Late) -> None:
    office.add()
    late.live_on(office.incident)
    assert len(office.board.tickets) == 1, f"sent {late.sent} times, and each was carried out"
    assert office.theirs()["title"] == "Rotate the keys"
    assert office.row().state == "open"


@pytest.fixture
def slow_house(db: None, late: Late, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    call = StraightWire.call

    def held(self: StraightWire, method: str, **arguments: Any) -> dict[str, Any]:
        late.arrive()
        if late.about not in {method, f"{method} {arguments.get('channel')}"}:
            return call(self, method, **arguments)
        try:
            answer: dict[str, Any] = late.take(lambda: call(self, method, **arguments))
        except TimeoutError as error:
            raise wire._broken(method, error) from error
        return answer

    monkeypatch.setattr(StraightWire, "call", held)
    slack = workspace()
    slack.now = late.monotonic
    with house(slack) as made:
        yield made


def assert_posted_once(slow_house: House, late: Late) -> None:
    """Check that the headline and the announcement exist once each."""
    marks = [
        str(message.metadata)
        for channel in slow_house.slack.workspace.channels.values()
        for message in channel.messages.values()
        if message.metadata
    ]
    assert len(marks) == len(set(marks)) == 2, f"sent {late.sent} times"


@pytest.mark.parametrize("late", [(*one, 10.0) for one in product(SLACK_HOLDS_S, FATES)], indirect=True)
def test_a_message_is_posted_once_however_long_slack_holds_the_request(slow_house: House, late: Late) -> None:
    dee, about = slow_house.person("dee"), slow_house.type("ambiguous")
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=about)
    late.live_on(incident)
    assert_posted_once(slow_house, late)


@pytest.mark.parametrize(
    "late",
    [(hold_s, fate, 10.0, method) for hold_s, fate, method in product((11, 44), FATES[:2], WORDS)],
    indirect=True,
)
@pytest.mark.parametrize("moment", ["at once", "later"])
def test_words_that_arrive_late_in_public_are_withdrawn_once_private(
    slow_house: House, late: Late, moment: str
) -> None:
    """It becomes private while the request is delayed, or once the unanswered request was repeated."""
    fates, late.fates = late.fates, []
    dee, security = slow_house.person("dee"), slow_house.type("security")
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=slow_house.type("ambiguous"))
    if late.about != "conversations.setTopic":
        late.live_on(incident)
    late.fates = fates
    lifecycle.update(incident, text="The keys leaked", by=dee, at=late.now)
    lifecycle.state_impact(incident, text="The keys leaked", by=dee, at=late.now)
    late.work_once(incident)
    if moment == "later":
        late.live_on(incident, until=late.now + timedelta(seconds=12))
    lifecycle.retype(incident, to=security, by=dee, at=late.now)
    late.live_on(incident)
    public = [one for one in slow_house.slack.workspace.channels.values() if not one.is_private and one.kind != "im"]
    said = str([(one.topic, [message.text for message in one.messages.values()]) for one in public])
    said += str([message.blocks for one in public for message in one.messages.values()])
    assert "keys leaked" not in said
    assert "Checkout" not in said


@pytest.mark.parametrize("late", [(40, fate, 10.0, "chat.update") for fate in FATES[:2]], indirect=True)
@pytest.mark.parametrize("archived_after_s", [1, 33])
def test_words_that_arrive_late_in_a_channel_that_is_then_archived_are_named(
    slow_house: House, late: Late, archived_after_s: int
) -> None:
    """Unless the channel was archived before they arrived, in which case Slack refused them."""
    fates, late.fates = late.fates, []
    dee, security = slow_house.person("dee"), slow_house.type("security")
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=slow_house.type("ambiguous"))
    late.live_on(incident)
    (old,) = [one for one in slow_house.slack.workspace.channels.values() if one.name.startswith("inc-")]
    late.fates = fates
    lifecycle.state_impact(incident, text="The keys leaked", by=dee, at=late.now)
    late.work_once(incident)
    late.hold_s = 0.1
    lifecycle.retype(incident, to=security, by=dee, at=late.now)
    late.live_on(incident, until=late.now + timedelta(seconds=archived_after_s))
    late.arrive()
    slow_house.slack.acts.archive("dee", old.name)
    late.live_on(incident)
    said = str([(message.text, message.blocks) for message in old.messages.values()])
    named = [gap for gap in progress.of(incident).gaps if "withdrawn" in gap.says]
    assert "keys leaked" not in said or named


@pytest.mark.parametrize("late", [(30, fate, 10.0, "chat.update") for fate in FATES[:2]], indirect=True)
@pytest.mark.parametrize("pause_s", [0, 12, 40])
def test_what_is_wanted_again_as_it_was_before_a_late_request_stands_in_the_end(
    slow_house: House, late: Late, pause_s: int
) -> None:
    fates, late.fates = late.fates, []
    dee = slow_house.person("dee")
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=slow_house.type("ambiguous"))
    late.live_on(incident)
    late.fates = fates
    for title in ("Checkout fails", "Checkout is down", "Checkout fails"):
        lifecycle.rename(incident, title=title, by=dee, at=late.now)
        late.live_on(incident, until=late.now + timedelta(seconds=pause_s))
        late.hold_s = 0.1
    late.live_on(incident)
    posts = [one for name in (slow_house.channel(incident), "incidents") for one in slow_house.slack.messages(name)]
    said = [one.text for one in posts if "Lead:" in one.text]
    assert len(said) == 2
    assert all("Checkout fails" in text for text in said), said


def break_calls(monkeypatch: pytest.MonkeyPatch, method: str, *, which: set[int]) -> None:
    """Make calls of a method with these numbers fail immediately."""
    call, seen = StraightWire.call, [0]

    def breaks(self: StraightWire, called: str, **arguments: Any) -> dict[str, Any]:
        seen[0] += called == method
        if called == method and seen[0] in which:
            raise wire._broken(called, ConnectionResetError("dropped"))
        return call(self, called, **arguments)

    monkeypatch.setattr(StraightWire, "call", breaks)


@pytest.mark.parametrize("late", [(44, fate, 10.0) for fate in FATES[:2]], indirect=True)
def test_a_look_that_breaks_makes_nobody_forget_what_is_on_its_way(
    slow_house: House, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_calls(monkeypatch, "conversations.history", which={1, 2})
    dee, about = slow_house.person("dee"), slow_house.type("ambiguous")
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=about)
    late.live_on(incident)
    assert_posted_once(slow_house, late)


@pytest.mark.parametrize("late", [(44, "timed out", 10.0, "chat.update C0INCIDENTS")], indirect=True)
def test_a_second_try_that_breaks_makes_nobody_forget_the_first(
    slow_house: House, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    fates, late.fates = late.fates, []
    dee, security = slow_house.person("dee"), slow_house.type("security")
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=slow_house.type("ambiguous"))
    late.live_on(incident)
    late.fates = fates
    lifecycle.state_impact(incident, text="The keys leaked", by=dee, at=late.now)
    reconcile.reconcile(incident.pk, at=late.now)
    perform.drain(incident.pk, side_by_side=False)
    break_calls(monkeypatch, "chat.update", which={1})
    late.live_on(incident, until=late.now + timedelta(seconds=4))
    late.hold_s = 0.1
    lifecycle.retype(incident, to=security, by=dee, at=late.now)
    late.live_on(incident)
    (announced,) = slow_house.slack.messages("incidents")[-1:]
    assert "withdrawn" in announced.text


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize("late", [(30, "timed out", 10.0)], indirect=True)
def test_the_title_of_a_page_that_arrives_late_is_made_neutral_again(
    late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    fates, late.fates = late.fates, []
    with duty() as paged:
        dee, retitle = paged.house.person("dee"), type(paged.pager).retitle
        incident = lifecycle.declare("Slow", by=dee, at=late.now, type=paged.house.type("major"))
        late.live_on(incident)
        page = Page.objects.get(incident=incident)
        paged.account.acts.acknowledge("max", page.number or 0)
        Page.objects.filter(pk=page.pk).update(status=Page.Status.ACKNOWLEDGED)

        def held(self: Any, *about: Any, **said: Any) -> Any:
            late.arrive()
            try:
                return late.take(lambda: retitle(self, *about, **said))
            except TimeoutError as error:
                raise VendorError("", code="lost", method="PUT", retryable=True, unknown=True, lingers=True) from error
            finally:
                late.hold_s = 0.1

        monkeypatch.setattr(type(paged.pager), "retitle", held)
        late.fates = fates
        lifecycle.rename(incident, title="The keys leaked", by=dee, at=late.now)
        late.live_on(incident, until=late.now + timedelta(seconds=3))
        lifecycle.retype(incident, to=paged.house.type("security"), by=dee, at=late.now)
        late.live_on(incident)
        assert not late.held
        assert "keys leaked" not in str([one.title for one in paged.account.account.incidents.values()])
