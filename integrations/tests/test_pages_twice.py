"""PagerDuty has a page open on two services: whatever people do to the two, one is left, and it is the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import httpx2
import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.pagerduty import fake
from integrations.pagerduty.adapter.client import PagerDutyPager
from integrations.pagerduty.fake import ROUTING_KEY
from integrations.pagerduty.fake import Incident as PagerIncident
from integrations.pagerduty.tests.straight import StraightTransport
from integrations.tests.duty import Duty
from integrations.tests.late_vendor import Killed, Late
from integrations.tests.test_pages_late import act, hear, still_open
from integrations.tests.test_pages_two_ways import declared
from integrations.tests.test_pages_two_ways import night as night  # noqa: PLC0414 (a fixture)
from workflows.models import Page
from workflows.oncall.pager_events import PagerEvent
from workflows.oncall.pager_events import PagerIncident as Told
from workflows.paging import match_page, note_found, poll_pages
from workflows.status import waiting_pages

ELSEWHERE: Final = "Engineering service"
LOST: Final = [((ELSEWHERE, "a request lost, the next refused"), (30, "timed out", 10.0))]
CARRY: Final = StraightTransport.handle_request
Sent = Callable[[StraightTransport, httpx2.Request], httpx2.Response]


@dataclass(slots=True)
class Twice:
    """A page that is open twice: the one we know it by, and the other."""

    night: Duty
    late: Late
    incident: Incident
    page: Page
    second: PagerIncident

    def look(self, times: int = 3) -> None:
        """Let minutes pass, with a look in each."""
        for _ in range(times):
            self.late.live_on(self.incident, until=self.late.now + timedelta(minutes=1))
            poll_pages.look_again(at=timezone.now())
        self.page.refresh_from_db()

    def later(self, **passed: float) -> None:
        """Let time pass without doing anything."""
        self.late.now += timedelta(**passed)

    def do(self, verb: str, which: str, *more: str) -> None:
        """Let the paged person do something to one of the two in PagerDuty, five seconds later."""
        self.later(seconds=5)
        getattr(self.night.account.acts, verb)("max", which, *more)

    def open_ones(self) -> list[PagerIncident]:
        """Return what PagerDuty has open."""
        return [one for one in self.night.account.account.incidents.values() if one.is_open]

    def told(self) -> list[str]:
        """Return what the timeline says about its being opened twice."""
        events = Event.objects.filter(incident=self.incident, kind="page", text__contains=" twice, ")
        return list(events.values_list("text", flat=True))


@pytest.fixture
def twice(night: Duty, late: Late, request: pytest.FixtureRequest) -> Twice:
    incident = declared(night, late, target=getattr(request, "param", "Major incidents"))
    for _ in range(20):
        late.live_on(incident, until=late.now + timedelta(seconds=5))
        late.arrive()
        if len(night.account.account.incidents) == 2:
            break
    hear(night)
    page = Page.objects.get(incident=incident)
    (second,) = [one for one in night.account.account.incidents.values() if one.id != page.pager_id]
    assert page.pager_id, "which of them it is, is known"
    return Twice(night, late, incident, page, second)


def they_end_the_first_and_answer_the_second(all: Twice) -> None:
    all.do("resolve", all.page.pager_id)
    all.do("acknowledge", all.second.id)


def they_merge_the_first_into_the_second(all: Twice) -> None:
    all.do("merge", all.second.id, all.page.pager_id)


def they_answer_the_second_alone(all: Twice) -> None:
    all.do("acknowledge", all.second.id)


def they_end_the_first_and_open_the_second_again(all: Twice) -> None:
    all.look(1)
    all.do("resolve", all.page.pager_id)
    all.do("reopen", all.second.id)


ACTS: Final[dict[Callable[[Twice], None], str]] = {
    they_end_the_first_and_answer_the_second: "acknowledged",
    they_merge_the_first_into_the_second: "triggered",
    they_answer_the_second_alone: "acknowledged",
    they_end_the_first_and_open_the_second_again: "triggered",
}


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
@pytest.mark.parametrize("hears", [True, False])
@pytest.mark.parametrize("people", ACTS)
def test_the_one_that_people_chose_is_the_page(twice: Twice, people: Callable[[Twice], None], hears: bool) -> None:
    people(twice)
    if hears:
        hear(twice.night)
    twice.look(4)
    (left,) = twice.open_ones()
    assert (left.id, left.status) == (twice.second.id, ACTS[people])
    assert (twice.page.pager_id, twice.page.status) == (left.id, left.status)
    act(twice.night, twice.late, twice.incident, "resolve")
    twice.late.work_once(twice.incident)
    twice.look()
    assert twice.open_ones() == []


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
@pytest.mark.parametrize("twice", ["Security service"], indirect=True)
@pytest.mark.parametrize("what", ["private", "rename"])
def test_the_one_that_becomes_the_page_is_called_as_the_page_is(twice: Twice, what: str) -> None:
    """Even if the page was renamed before someone acknowledged the second one."""
    house, late = twice.night.house, twice.late
    incident = Incident.objects.get(pk=twice.incident.pk)
    if what == "private":
        lifecycle.retype(incident, to=house.type("security"), by=house.person("dee"), at=late.now)
    else:
        lifecycle.rename(incident, title="Checkout fails", by=house.person("dee"), at=late.now)
    late.work_once(incident)
    late.live_on(incident, until=late.now + timedelta(seconds=8))
    twice.do("acknowledge", twice.second.id)
    twice.look(5)
    assert "slow" not in "".join(one.title for one in twice.open_ones())
    assert twice.second.is_open


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
def test_an_incident_that_is_resolved_while_we_look_leaves_neither(
    twice: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    twins = PagerDutyPager.twins
    ended: list[str] = []

    def found(self: PagerDutyPager, *about: Any, **more: Any) -> Any:
        found = twins(self, *about, **more)
        if not ended:
            ended.append("resolve")
            act(twice.night, twice.late, twice.incident, "resolve")
            twice.late.work_once(twice.incident)
        return found

    twice.do("acknowledge", twice.second.id)
    monkeypatch.setattr(PagerDutyPager, "twins", found)
    twice.look(4)
    assert ended
    assert twice.open_ones() == []


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
def test_news_of_the_one_that_was_the_page_are_not_news_of_the_page(twice: Twice) -> None:
    """A look, or an acknowledgement from here, that started before the other one became the page."""
    before = match_page.with_incidents(Page.objects.all()).get(pk=twice.page.pk)
    twice.do("acknowledge", twice.second.id)
    twice.look(2)
    found = twice.night.pager.look(before.pager_id)
    assert found is not None
    assert (found.status, before.pager_id == twice.page.pager_id) == ("resolved", False)
    note_found.note(before, found, looked_at=timezone.now())
    twice.page.refresh_from_db()
    assert twice.page.status == "acknowledged"


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
def test_one_that_never_came_is_not_looked_for_for_good(twice: Twice) -> None:
    old = timezone.now() - timedelta(minutes=11)
    never = Page.objects.create(
        incident=twice.incident, key="page/other", target="policy/P", name="Other", dedup_key="other",
        status="resolved", status_at=old, opened_at=old, withdrawn_at=old, doubted_at=old,
    )  # fmt: skip
    twice.look(2)
    never.refresh_from_db()
    assert never.doubted_at is None


@pytest.mark.parametrize("held_s", [2, 20])
@pytest.mark.parametrize("heard_first", ["rest", "events", ""])
@pytest.mark.parametrize(("night", "late"), [((ELSEWHERE, "down for 5 s"), (0.1, "", 10.0))], indirect=True)
def test_a_request_that_a_gateway_gave_up_on_is_carried_out_late(
    night: Duty, late: Late, heard_first: str, held_s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    late.now += timedelta(seconds=10)  # the REST API is up again
    lost: list[httpx2.Request] = []

    def gave_up(transport: StraightTransport, request: httpx2.Request) -> httpx2.Response:
        late.arrive()
        if lost or (request.method, request.url.path) != ("POST", "/incidents"):
            return CARRY(transport, request)
        lost.append(request)
        late.held.append((late.now + timedelta(seconds=held_s), lambda: CARRY(transport, request)))
        return httpx2.Response(504, stream=httpx2.ByteStream(b"{}"))

    monkeypatch.setattr(StraightTransport, "handle_request", gave_up)
    incident = declared(night, late, target="Major incidents")
    late.live_on(incident, until=late.now + timedelta(seconds=30))
    late.arrive()
    told = night.account.take_deliveries()
    told.sort(key=lambda one: ("PVENGINEERINGSERVICE" in str(one)) != (heard_first == "events"))
    monkeypatch.setattr(night.account, "take_deliveries", lambda: [told.pop(0)] if told and heard_first else [])
    while told and heard_first:
        hear(night)
    for _ in range(4):
        late.live_on(incident, until=late.now + timedelta(minutes=1))
        poll_pages.look_again(at=timezone.now())
    assert lost
    assert len(still_open(night)) == 1
    assert list(Incident.objects.all()) == [incident], "nothing of ours declares an incident"


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
def test_it_is_ended_once_pagerduty_answers_again_however_long_that_takes(
    twice: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = twice.late.now + timedelta(minutes=25)
    monkeypatch.setattr(StraightTransport, "handle_request", _unless(lambda _: twice.late.now < until))
    twice.look(28)
    assert [one.id for one in twice.open_ones()] == [twice.page.pager_id]
    assert len(twice.told()) == 1


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
def test_a_webhook_that_comes_late_makes_us_look_again(twice: Twice) -> None:
    twice.do("resolve", twice.second.id)
    twice.look(12)
    twice.later(hours=2)
    twice.do("reopen", twice.second.id)
    hear(twice.night)
    twice.look()
    assert [one.id for one in twice.open_ones()] == [twice.page.pager_id]


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
def test_what_others_alerts_were_merged_into_is_left_as_it_is(twice: Twice) -> None:
    title = twice.second.title
    theirs = twice.night.account.acts.trigger(ELSEWHERE, "Disk is full")
    twice.do("merge", twice.second.id, theirs.id)
    twice.look()
    assert (twice.second.is_open, twice.second.title) == (True, title)
    assert twice.told() == []


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
def test_it_is_told_though_the_worker_is_killed_as_it_ends_it(twice: Twice, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(transport: StraightTransport, request: httpx2.Request) -> httpx2.Response:
        answer = CARRY(transport, request)
        if b"resolve" in request.content:
            raise Killed
        return answer

    twice.late.live_on(twice.incident, until=twice.late.now + timedelta(minutes=1))
    carried = StraightTransport.handle_request
    monkeypatch.setattr(StraightTransport, "handle_request", killed)
    with pytest.raises(Killed):
        poll_pages.look_again(at=timezone.now())
    monkeypatch.setattr(StraightTransport, "handle_request", carried)
    twice.look()
    assert len(twice.told()) == len(twice.open_ones()) == 1


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
def test_one_that_cannot_be_ended_hides_nothing_of_the_page(twice: Twice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StraightTransport, "handle_request", _unless(lambda sent: sent.method == "PUT", status=403))
    twice.do("acknowledge", twice.page.pager_id)
    twice.look()
    assert twice.page.status == "acknowledged"
    assert len(twice.told()) == 1


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
def test_one_look_takes_few_calls_also_in_a_storm(twice: Twice, monkeypatch: pytest.MonkeyPatch) -> None:
    twice.do("resolve", twice.second.id)
    for n in range(40):
        about = {"summary": f"Host {n} is down", "source": "monitoring", "severity": "critical"}
        event = {"routing_key": ROUTING_KEY, "event_action": "trigger", "dedup_key": f"host-{n}", "payload": about}
        assert twice.night.account.enqueue(json.dumps(event).encode()).status == 202
    before = twice.night.account.calls.total
    twice.look(1)
    assert twice.night.account.calls.total - before < 30, "five such looks a minute, of the 960 calls of a key"


@pytest.mark.parametrize(("night", "late"), LOST, indirect=True)
def test_the_second_of_one_page_is_not_taken_for_another_page_of_the_same_incident(twice: Twice) -> None:
    at = timezone.now()
    service = twice.second.service
    other = Page.objects.create(
        incident=twice.incident, key="page/other", target=f"service/{service}", name="Other", dedup_key="other",
        service_id=service, via="events", status="triggered", status_at=at, opened_at=at,
    )  # fmt: skip
    told = Told(twice.second.id, title=twice.second.title, status="acknowledged", service_id=service)
    assert match_page.find(PagerEvent("1", "acknowledged", at, told, "", "")) == (None, [other.pk, twice.page.pk])


@pytest.mark.parametrize("heard_first", [True, False])
@pytest.mark.parametrize(("night", "late"), [(("Firekind", "down for 30 s"), (0.1, "", 10.0))], indirect=True)
def test_whom_pagerduty_says_the_fallback_paged_is_who_was_paged(
    night: Duty, late: Late, heard_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever we had read of the rota before someone overrode it."""
    pia = night.account.user("pia").id
    for level in night.account.policy("Major incidents").levels:
        level.targets[:] = [pia]
    send: Sent = StraightTransport.handle_request

    def slow(transport: StraightTransport, request: httpx2.Request) -> httpx2.Response:
        answer = send(transport, request)
        if request.url.path.endswith(fake.ENQUEUE):
            late.now += timedelta(seconds=1.5)
            if heard_first:
                hear(night)
        return answer

    monkeypatch.setattr(StraightTransport, "handle_request", slow)
    incident = declared(night, late, target="Major incidents")
    for _ in range(3):
        late.live_on(incident, until=late.now + timedelta(minutes=1))
        hear(night)
        poll_pages.look_again(at=timezone.now())
    page = Page.objects.get(incident=incident)
    assert (page.now_ids, pia in page.rung_ids) == ([pia], True)


@pytest.mark.parametrize(("night", "late"), [((ELSEWHERE, "down for 30 s"), (0.1, "", 10.0))], indirect=True)
def test_who_was_meant_comes_in_and_is_not_said_to_have_been_paged(night: Duty, late: Late) -> None:
    incident = declared(night, late, target="Major incidents")
    late.live_on(incident, until=late.now + timedelta(seconds=5))
    (waits,) = waiting_pages.among([page := Page.objects.get(incident=incident)])
    max, eve = night.house.person("max"), night.house.person("eve")
    assert (waits.reached(max.pk), waits.reached(eve.pk)) == (False, True)
    assert (page in waiting_pages.reaching(max), page in waiting_pages.reaching(eve)) == (False, True)
    assert incident.participants.filter(person__in=[max, eve], left_at=None).count() == 2
    assert len(still_open(night)) == 1


def _unless(refused: Callable[[httpx2.Request], Any], *, status: int = 0) -> Sent:
    """Send what is not refused; a refused request is not answered, or denied."""

    def carry(transport: StraightTransport, request: httpx2.Request) -> httpx2.Response:
        if not refused(request):
            return CARRY(transport, request)
        if not status:
            raise httpx2.ConnectError("refused", request=request)
        body = {"error": {"code": 2010, "message": "Access Denied"}}
        return httpx2.Response(status, stream=httpx2.ByteStream(json.dumps(body).encode()))

    return carry
