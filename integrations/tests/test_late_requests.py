"""A request that nobody answered may be carried out a minute later: what it makes is made once all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product
from types import SimpleNamespace
from typing import Any, Final

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.adapter import wire
from integrations.slack.tests.straight import StraightWire
from integrations.tests.duty import duty
from integrations.tests.house import House, house, workspace
from integrations.tests.ticket_desk import Desk, desk
from integrations.trackers.adapter.wire import Carrier, TrackerReply, TrackerRequest
from integrations.trackers.fake.board import Board
from integrations.trackers.tests import board as boards
from workflows.effects import work
from workflows.models import Effect, Page
from workflows.performing import perform
from workflows.ports import VendorError
from workflows.reconcile import reconcile, sweep

TRACKER_HOLDS_S: Final = (5, 16, 31, 60)
SLACK_HOLDS_S: Final = (5, 11, 31, 44)
FATES: Final = ("timed out", "killed", "killed, timed out", "timed out, killed")
WORDS: Final = ("chat.postMessage", "chat.update", "chat.update C0INCIDENTS", "conversations.setTopic")


class Killed(BaseException):
    """The worker is killed here."""


@dataclass(slots=True)
class Late:
    """A vendor that holds the first requests of a kind for a while, and carries them out when nobody listens.

    ``fates`` says what becomes, one after the other, of whoever sends one: it waits ``patience_s``, or is killed.
    """

    hold_s: float
    fates: list[str]
    patience_s: float
    about: str = "chat.postMessage"
    now: datetime = field(default_factory=timezone.now)
    held: list[tuple[datetime, Callable[[], object]]] = field(default_factory=list)
    sent: int = 0

    def monotonic(self) -> float:
        """Return the time as a number of seconds."""
        return self.now.timestamp()

    def arrive(self) -> None:
        """Carry out what was held until now."""
        due = [request for at, request in self.held if at <= self.now]
        self.held = [one for one in self.held if one[0] > self.now]
        for request in due:
            with suppress(VendorError):  # nobody hears of it
                request()

    def take(self, request: Callable[[], Any]) -> Any:
        """Take a request that makes something. Raises ``TimeoutError`` where it was waited for in vain."""
        self.sent += 1
        fate = self.fates.pop(0) if self.fates else ""
        if fate == "killed":
            self.held.append((self.now + timedelta(seconds=self.hold_s), request))
            raise Killed
        if fate and self.hold_s > self.patience_s:
            self.held.append((self.now + timedelta(seconds=self.hold_s), request))
            self.now += timedelta(seconds=self.patience_s)
            raise TimeoutError
        self.now += timedelta(seconds=min(self.hold_s, self.patience_s))
        self.arrive()
        return request()

    def live_on(self, incident: Incident, *, until: datetime | None = None) -> None:
        """Go from each moment at which something is due to the next until nothing is owed, whoever is killed."""
        for _ in range(99):
            if until is not None and self.now > until:
                return
            reconcile.reconcile(incident.pk, at=self.now)
            with suppress(Killed):
                perform.drain(incident.pk, side_by_side=False)
            owed = Effect.objects.filter(incident=incident, state__in=["waiting", "running"])
            moments = [one.leased_until if one.state == "running" else one.due_at for one in owed]
            if not moments and incident.pk not in sweep.unplanned(at=self.now):
                self.now += timedelta(minutes=5)
                self.arrive()
                return
            self.now = max(self.now, min((at for at in moments if at), default=self.now)) + timedelta(seconds=1)
        raise AssertionError("it does not settle")


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Late:
    hold_s, fates, *rest = request.param
    late = Late(hold_s, fates.split(", "), *rest)
    monkeypatch.setattr(timezone, "now", lambda: late.now)
    monkeypatch.setattr(work, "time", SimpleNamespace(monotonic=late.monotonic))
    return late


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
    """The headline and the announcement, and each of them once."""
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
    """Whether it turns private while the request is held, or once what was not answered was done again."""
    fates, late.fates = late.fates, []
    dee, security = slow_house.person("dee"), slow_house.type("security")
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=slow_house.type("ambiguous"))
    if late.about != "conversations.setTopic":
        late.live_on(incident)
    late.fates = fates
    lifecycle.update(incident, text="The keys leaked", by=dee, at=late.now)
    lifecycle.state_impact(incident, text="The keys leaked", by=dee, at=late.now)
    reconcile.reconcile(incident.pk, at=late.now)
    with suppress(Killed):
        perform.drain(incident.pk, side_by_side=False)
    if moment == "later":
        late.live_on(incident, until=late.now + timedelta(seconds=12))
    lifecycle.retype(incident, to=security, by=dee, at=late.now)
    late.live_on(incident)
    public = [one for one in slow_house.slack.workspace.channels.values() if not one.is_private and one.kind != "im"]
    said = str([(one.topic, [message.text for message in one.messages.values()]) for one in public])
    said += str([message.blocks for one in public for message in one.messages.values()])
    assert "keys leaked" not in said
    assert "Checkout" not in said


def break_calls(monkeypatch: pytest.MonkeyPatch, method: str, *, which: set[int]) -> None:
    """Let the calls of a method that have these numbers break at once."""
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
