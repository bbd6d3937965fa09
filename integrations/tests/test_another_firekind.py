"""Staging and production use one Slack workspace, PagerDuty account and tracker, and draw the same codenames.

Whatever one of them does, nothing of the other is merged with it, treated as its own, changed, ended, told or shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event, Incident, Participant
from integrations.pagerduty.fake import ROUTING_KEY
from integrations.slack.tests.conftest import behind
from integrations.slack.tests.door import Door
from integrations.tests import another_firekind
from integrations.tests.another_firekind import Belongings
from integrations.tests.duty import Duty
from integrations.tests.test_pages_late import SECRET, hear
from workflows.channels import membership
from workflows.models import Alert, DeclareRule, Page, Resource
from workflows.oncall import pager_cache
from workflows.paging import poll_pages
from workflows.status import manual_steps, progress

Clock = Callable[[], datetime]
WORDS: Final = "Staging rehearsal"  # words about the other one's incident, which must not appear here
# What happened to the other one's incident, how its page was sent, and the vendors' faults when we page.
CASES: Final = (
    ("open", "rest", "rest down"),
    ("open", "events", "fine"),
    ("private", "rest", "answers lost"),
    ("private", "events", "rest down"),
    ("resolved", "rest", "fine"),
    ("resolved", "events", "answers lost"),
)


@pytest.fixture
def both(duty: Duty) -> Iterator[Duty]:
    """A house with a pager and a rule that declares from every alert; another Firekind is recognised."""
    duty.account.add_integration(duty.account.service("Firekind").id, name="Firekind", key=ROUTING_KEY)
    duty.account.add_subscription(secret=SECRET)
    pager_cache.refresh(at=timezone.now())
    DeclareRule.objects.create(name="All", type=duty.house.type("internal"), created_at=timezone.now())
    with another_firekind.same_codenames():
        yield duty


def live(other: Duty, state: str, way: str) -> set[str]:
    """Let the other one live through an incident; return what it opened in the pager."""
    other.pager.rest.is_down = way == "events"
    incident = other.house.declare(WORDS, type="major")
    other.pager.rest.is_down = False
    if state == "private":
        other.house.retype(incident, "security")
    if state == "resolved":
        lifecycle.resolve(incident, text=WORDS, by=other.house.person("dee"), at=other.house.now())
        other.house.settle(incident)
    assert incident.codename == another_firekind.CODENAMES[0]
    return set(other.account.account.incidents)


def weather(duty: Duty, kind: str) -> None:
    """Lose answers, or take the pager's REST API away."""
    if kind == "answers lost":
        for method in ("conversations.create", "chat.postMessage", "bookmarks.add"):
            duty.house.slack.faults.add("drop", method=method, times=2)
        duty.account.faults.add("drop", method="POST", path="/incidents", times=1)
    duty.pager.rest.is_down = kind == "rest down"


def meddle(duty: Duty, pages: set[str]) -> None:
    """Let people act on the other one's pages."""
    for id in sorted(pages):
        if duty.account.account.incidents[id].is_open:
            duty.account.acts.note("eve", id, WORDS)
            duty.account.acts.acknowledge("eve", id)
            duty.account.acts.status_update("eve", id, WORDS)
            duty.account.acts.reassign("eve", id, ["max"])
            duty.account.acts.add_responder("eve", id, "leo")


def look(duty: Duty) -> None:
    """Receive PagerDuty's webhooks and look at pages, as within a few minutes."""
    hear(duty)
    for n in range(2):
        poll_pages.look_again(at=timezone.now() + timedelta(minutes=n + 1))


@pytest.mark.parametrize(("state", "way", "sky"), CASES)
def test_nothing_of_another_firekind_is_touched_told_or_shown(both: Duty, state: str, way: str, sky: str) -> None:
    with another_firekind.another_firekind(both) as other:
        theirs = live(other, state, way)
    meddle(both, theirs)
    before, rang = Belongings.of(both, theirs), both.times_rung("max")
    weather(both, sky)
    incident = both.house.declare("Checkout is slow", type="major")
    look(both)
    both.pager.rest.is_down = False
    look(both)
    assert incident.codename == another_firekind.CODENAMES[0]
    assert both.times_rung("max") == rang + 1, "its own page pages people"
    lifecycle.update(incident, text="Still looking", by=both.house.person("dee"), at=both.house.now())
    incident = both.house.settle(incident)
    incident = both.house.retype(incident, "security")
    look(both)
    incident = both.house.retype(incident, "major")
    look(both)
    lifecycle.resolve(incident, text="Rolled back", by=both.house.person("dee"), at=both.house.now())
    incident = both.house.settle(incident)
    look(both)
    assert Belongings.of(both, theirs) == before
    assert_is_alone(both, incident, theirs)
    ours = [one for id, one in both.account.account.incidents.items() if id not in theirs]
    assert [one.status for one in ours if one.is_open] == [], "its own pages ended"


def assert_is_alone(duty: Duty, incident: Incident, theirs: set[str]) -> None:
    """Check that nothing here knows of the other one's."""
    assert list(Incident.objects.all()) == [incident]
    assert not Alert.objects.exists()
    assert not Page.objects.filter(pager_id__in=theirs).exists()
    assert not [text for text in Event.objects.values_list("text", flat=True) if WORDS in text]
    bot = duty.house.slack.person(another_firekind.BOT).id
    others = {one.id for one in duty.house.slack.workspace.channels.values() if one.creator == bot}
    assert others.isdisjoint(Resource.objects.filter(kind="channel").values_list("external_id", flat=True))
    assert not Resource.objects.filter(kind="gap").exists()


def test_where_the_service_groups_alerts_the_other_ones_page_is_joined_and_not_taken(both: Duty) -> None:
    both.account.service("Firekind").grouping = "time"
    with another_firekind.another_firekind(both) as other:
        theirs = live(other, "open", "events")
    (named,) = [both.account.account.incidents[id].title for id in theirs]
    weather(both, "rest down")
    incident = both.house.declare("Checkout is slow", type="major")
    hear(both)
    both.pager.rest.is_down = False
    look(both)
    incident = both.house.retype(incident, "security")
    look(both)
    lifecycle.resolve(incident, text="Rolled back", by=both.house.person("dee"), at=both.house.now())
    both.house.settle(incident)
    look(both)
    (page,) = [both.account.account.incidents[id] for id in theirs]
    assert (page.title, page.is_open, page.alerts[0].status) == (named, True, "triggered")
    said = Event.objects.filter(incident=incident, kind="page").values_list("text", flat=True)
    assert any("joined an open incident of" in text for text in said)


def test_the_other_ones_channel_is_not_taken_for_one_made_by_hand(both: Duty) -> None:
    with another_firekind.another_firekind(both) as other:
        live(other, "private", "rest")
        name = other.house.channel(Incident.objects.get())
    slack = both.house.slack
    incident = both.house.declare("Checkout is slow", type="ambiguous")
    slack.faults.add("error", method="conversations.create", error="restricted_action")
    incident = both.house.retype(incident, "security")
    (one,) = progress.of(incident).by_hand
    assert f"named {name} " in one.how
    creator = next(one for one in slack.channel(name).members if one != slack.channel(name).creator)
    slack.acts.invite(creator, name, ["firekind"])
    said = [message.text for message in slack.messages(name)]
    with pytest.raises(lifecycle.Refused, match="another Firekind"):
        manual_steps.done(one.effect, incident, by=both.house.person("dee"), at=both.house.now())
    both.house.settle(incident)
    assert [message.text for message in slack.messages(name)] == said
    slack.acts.create_channel("dee", f"{name}-2", is_private=True)
    slack.acts.invite("dee", f"{name}-2", ["firekind"])
    manual_steps.done(one.effect, incident, by=both.house.person("dee"), at=both.house.now())
    incident = both.house.settle(incident)
    assert both.house.channel(incident) == f"{name}-2"


def test_the_other_ones_bot_is_nobody_who_takes_part(both: Duty) -> None:
    with another_firekind.another_firekind(both):
        pass
    bot = both.house.slack.person(another_firekind.BOT)
    incident = both.house.declare("Checkout is slow", type="security")
    both.house.slack.take_deliveries()
    both.house.slack.acts.invite("dee", both.house.channel(incident), [bot.id])
    (told,) = [one for one in both.house.slack.take_deliveries() if one.type == "member_joined_channel"]
    with behind(both.house):
        assert Door(both.house).post(told).status_code == 200
    membership.poll(at=timezone.now() + timedelta(minutes=5))
    assert not Participant.objects.filter(incident=incident, person__chat_id=bot.id).exists()
    assert not Event.objects.filter(incident=incident, kind="joined").exists()
