"""A page was sent two ways, by PagerDuty's REST API and as an event of the fallback: one of the two is left, or none.

PagerDuty merges one key only within one service. So if the fallback leads to another service than the page's, and an
unanswered request was carried out, it pages twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import product
from typing import Any, Final

import httpx2
import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.pagerduty import fake
from integrations.pagerduty.fake import ROUTING_KEY
from integrations.pagerduty.tests.straight import SETUP, StraightTransport
from integrations.tests.duty import Duty
from integrations.tests.duty import duty as on_duty
from integrations.tests.late_vendor import Late
from integrations.tests.test_pages_late import act, hear, still_open
from workflows.models import Alert, DeclareRule, Effect, Page
from workflows.oncall import pager_cache
from workflows.paging import paging, poll_pages

LEADS_TO: Final = ("Firekind", "Engineering service")  # the service for pages without one of their own, and another one
# What the REST API does: refuse connections for some seconds, or take a request and refuse the next to open a page.
WEATHER: Final = {"down for 5 s": 5, "down for 30 s": 30, "a request lost, the next refused": 0}
TARGETS: Final = ("Major incidents", "Security service")
ENDS: Final = ("resolve", "retype away", "resolved there", "")
HOLDS_S: Final = (11, 44, 200)


@dataclass(slots=True)
class TwoWays:
    """Decides each request's fate: ``late`` delays some, and the REST API is down for ``down_s`` seconds."""

    late: Late
    down_s: int
    began: datetime
    opened: int = 0

    def carry(self, transport: StraightTransport, request: httpx2.Request) -> httpx2.Response:
        """Send a request, delay it, or refuse the connection."""
        self.late.arrive()
        is_event, opens = request.url.path.endswith(fake.ENQUEUE), request.method == "POST"
        self.opened += opens and request.url.path == "/incidents"
        is_down = self.late.now < self.began + timedelta(seconds=self.down_s)
        if not is_event and (is_down or (not self.down_s and opens and self.opened == 2)):
            raise httpx2.ConnectError("refused", request=request)
        if not opens or is_event != bool(self.down_s):
            return CARRY(transport, request)
        try:
            answer: httpx2.Response = self.late.take(lambda: CARRY(transport, request))
        except TimeoutError as error:
            raise httpx2.ReadTimeout("no answer", request=request) from error
        return answer


CARRY: Final = StraightTransport.handle_request


@pytest.fixture
def night(db: None, late: Late, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Duty]:
    """A house whose fallback leads to a service where a rule declares an incident for whatever is opened there."""
    leads_to, weather = request.param
    given: Any = SETUP  # has the fields of the settings
    monkeypatch.setattr(django_settings, "FIREKIND", replace(django_settings.FIREKIND, pagerduty=given))
    with on_duty() as made:
        service = made.account.service(leads_to)
        made.account.add_integration(service.id, name="Firekind", key=ROUTING_KEY)
        made.account.add_subscription(secret="webhook-secret")
        pager_cache.refresh(at=timezone.now())
        DeclareRule.objects.create(name="All", type=made.house.type("internal"), created_at=late.now)
        ways = TwoWays(late, WEATHER[weather], late.now)

        def carried(transport: StraightTransport, request: httpx2.Request) -> httpx2.Response:
            return ways.carry(transport, request)

        monkeypatch.setattr(StraightTransport, "handle_request", carried)
        yield made


def declared(night: Duty, late: Late, *, target: str) -> Incident:
    """Declare a Major, which pages its policy, or a type that pages no one, then page a service by hand."""
    dee = night.house.person("dee")
    slug = "major" if target in TARGETS[:1] else "isolated"
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=night.house.type(slug))
    for choice in paging.choices(incident):
        if choice.name == target != TARGETS[0]:
            paging.ask(incident, target=choice.target, by=dee, at=late.now)
    late.work_once(incident)
    return incident


def live_through(night: Duty, late: Late, incident: Incident, *, hears: bool) -> None:
    """Let some minutes pass, with a look in each, and perhaps PagerDuty's webhooks."""
    for _ in range(6):
        late.live_on(incident, until=late.now + timedelta(minutes=1))
        late.arrive()
        if hears:
            hear(night)
        poll_pages.look_again(at=timezone.now())
    late.live_on(incident)
    assert not late.held


def end(night: Duty, late: Late, incident: Incident, ends: str) -> None:
    """Let someone end the page, as soon as there is one or after 20 seconds, or not at all."""
    if ends == "resolved there":
        for _ in range(9):
            late.live_on(incident, until=late.now + timedelta(seconds=5))
            if still_open(night):
                break
        for one in list(night.account.account.incidents.values()):
            night.account.acts.resolve("max", one.id)
    elif ends:
        late.live_on(incident, until=late.now + timedelta(seconds=20))
        act(night, late, incident, ends)
        late.work_once(incident)


def cases() -> Iterator[Any]:
    """Yield each fault with each fallback service and each end, and the other parameters in turn."""
    for n, (leads_to, weather, ends) in enumerate(product(LEADS_TO, WEATHER, ENDS)):
        target, fate = TARGETS[(n + n // 4) % 2], ("timed out", "killed")[(n + n // 8) % 2]
        hold_s, hears = HOLDS_S[(n + n // 4) % 3], bool((n + n // 2) % 2)
        name = f"{leads_to}-{weather}-{target}-{ends or 'stay'}-{hold_s}-{fate}-{'heard' if hears else 'found'}"
        yield pytest.param((leads_to, weather), (hold_s, fate, 10.0), target, ends, hears, id=name)


@pytest.mark.parametrize(("night", "late", "target", "ends", "hears"), list(cases()), indirect=["night", "late"])
def test_of_a_page_that_went_two_ways_one_is_left_or_none(
    night: Duty, late: Late, target: str, ends: str, hears: bool
) -> None:
    incident = declared(night, late, target=target)
    end(night, late, incident, ends)
    live_through(night, late, incident, hears=hears)
    wanted = not ends or (ends == "retype away" and target in TARGETS[1:])
    print(
        [(str(e.at)[11:19], e.kind, e.text) for e in Event.objects.filter(incident=incident)],
        [(p.key, p.status, p.via, p.pager_id, p.target) for p in Page.objects.all()],
        [(o.id, o.key, o.service, o.status, o.title) for o in night.account.account.incidents.values()],
    )
    assert len(still_open(night)) == wanted
    if ends == "resolved there":
        act(night, late, incident, "resolve")
        late.work_once(incident)
        live_through(night, late, incident, hears=hears)
        assert still_open(night) == []
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()
    assert list(Incident.objects.all()) == [incident], "nothing of ours declares an incident"
    assert not Alert.objects.exists()
    (page,) = Page.objects.all()
    assert page.is_open == wanted
    told = Event.objects.filter(incident=incident, kind="page").values_list("text", flat=True)
    reached = {night.account.account.users[one.user].name for one in night.account.rang}
    for text in (one for one in told if one.startswith("paged ")):
        assert set(text.rpartition(": ")[2].split(", ")) <= reached, text
    if len(night.account.account.incidents) > 1:
        assert [one for one in told if "because a request" in one and "late" in one], (
            "whoever was paged twice is told why"
        )


@pytest.mark.parametrize("hears", [True, False])
@pytest.mark.parametrize("has_alerts", [True, False])
@pytest.mark.parametrize(("night", "late"), [
    pytest.param((leads_to, weather), (hold_s, "timed out", 10.0), id=f"{leads_to}-{weather}-{hold_s}")
    for leads_to, weather, hold_s in product(LEADS_TO, WEATHER, HOLDS_S)
], indirect=True)  # fmt: skip
def test_a_late_request_for_a_page_that_someone_resolved_rings_no_one_for_long(
    night: Duty, late: Late, has_alerts: bool, hears: bool
) -> None:
    """Even if PagerDuty reports its key, as for incidents opened over the REST API or by an event without an alert.

    Without webhooks, looks find it.
    """
    for service in night.account.account.services.values():
        service.has_alerts = has_alerts
    incident = declared(night, late, target=TARGETS[0])
    end(night, late, incident, "resolved there")
    live_through(night, late, incident, hears=hears)
    assert still_open(night) == []
    assert not Page.objects.get().is_open


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("night", "late"), [((leads_to, "down for 30 s"), (0.1, "", 10.0)) for leads_to in LEADS_TO], indirect=True
)
def test_each_of_several_pages_through_the_fallback_is_known_as_itself(
    night: Duty, late: Late, backwards: bool
) -> None:
    """All of them are then on the fallback's service under one title, whichever services they were meant for."""
    incident = declared(night, late, target="Major incidents")
    for choice in paging.choices(incident):
        if choice.name.endswith(" service"):
            paging.ask(incident, target=choice.target, by=night.house.person("dee"), at=late.now)
    late.work_once(incident)
    hear(night, backwards=backwards)
    live_through(night, late, incident, hears=True)
    pages = Page.objects.filter(incident=incident)
    assert pages.count() >= 3
    there = {key: one.id for one in night.account.account.incidents.values() for key in keys(one)}
    assert {page.dedup_key: page.pager_id for page in pages} == {
        page.dedup_key: there[page.dedup_key] for page in pages
    }
    act(night, late, incident, "resolve")
    live_through(night, late, incident, hears=True)
    assert still_open(night) == []


def keys(one: fake.Incident) -> list[str]:
    return [alert.key for alert in one.alerts] or [one.key or ""]
