"""Everyone paged is in the channel, or a gap on the plan with its fix, from before it is confirmed to the end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Participant, Person
from integrations.tests import duty as building
from integrations.tests.duty import Duty
from workflows.models import Page, PagerUser
from workflows.oncall import pager_cache, people
from workflows.paging import poll_pages
from workflows.reconcile import retyping, sweep
from workflows.status import page_status, progress


@pytest.fixture
def duty(db: None) -> Iterator[Duty]:
    """A house with a pager that also pages Uma, whose email matches no one."""
    with building.duty(others=["uma"]) as made:
        uma = made.account.add_user("uma-ray", name="Uma Ray", email="uma@elsewhere.example")
        for name in ("Major incidents", "Security"):
            made.account.policy(name).levels[0].targets.append(uma.id)
        pager_cache.refresh(at=timezone.now())
        pager_cache.refresh_shifts(at=timezone.now())
        yield made


def uma() -> PagerUser:
    return PagerUser.objects.get(name="Uma Ray")


def gap() -> str:
    return f"callee/{uma().pager_id}"


def gaps(incident: Incident) -> list[str]:
    return [one.key for one in progress.of(incident).gaps]


def match(duty: Duty, handle: str = "uma") -> None:
    people.match(uma(), person=duty.house.person(handle), by=duty.house.person("dee"), at=timezone.now())


def look() -> None:
    Page.objects.update(looked_at=None)
    poll_pages.look_again(at=timezone.now() + timedelta(minutes=5))


def inside(duty: Duty, incident: Incident) -> list[str]:
    return list(duty.house.slack.members(duty.house.channel(incident)))


@pytest.mark.parametrize("slug", ["major", "security"])
def test_who_cannot_be_matched_is_a_gap_before_anyone_confirms(duty: Duty, slug: str) -> None:
    declared = retyping.preview_declare(type=duty.house.type(slug), by=duty.house.person("dee"))
    incident = duty.house.declare(type="internal")
    shown = retyping.preview(incident, to=duty.house.type(slug), by=duty.house.person("dee"))
    for plan in (declared, shown):
        (line,) = [line for line in plan.lines if line.key == gap()]
        assert line.sign == "!"
        assert "Uma Ray" in line.text
    incident = duty.house.retype(incident, slug)
    assert gaps(incident) == [f"gap/{gap()}"]
    assert "uma" not in inside(duty, incident)


def test_saying_who_they_are_closes_the_gap_and_brings_them_in(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    match(duty)
    incident = duty.house.settle(incident)
    assert gaps(incident) == []
    opened, closed = (incident.events.get(kind=kind).text for kind in ("gap", "gap_closed"))
    assert "Match them under" in opened
    assert closed == f"No longer an issue: {opened.partition('. ')[0]}", "what to do about it is over"
    assert "uma" in inside(duty, incident)
    assert Participant.objects.get(incident=incident, person=duty.house.person("uma")).reason == "paged"


def test_a_gap_closes_by_itself_where_nothing_else_changes(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    person = duty.house.person("uma")
    lifecycle.bring_in(incident, people=[person], by=None, at=duty.house.now())
    incident = duty.house.settle(incident)
    assert sweep.unsettled() == []
    PagerUser.objects.filter(pk=uma().pk).update(person=person)  # as an email match would
    assert sweep.unsettled() == [incident.pk]
    duty.house.settle(incident)
    assert (sweep.unsettled(), gaps(incident)) == ([], [])


def test_in_private_saying_who_they_are_lets_nobody_in(duty: Duty) -> None:
    incident = duty.house.declare(type="security")
    match(duty)
    incident = duty.house.settle(incident)
    assert gaps(incident) == [f"gap/{gap()}"], "until somebody lets them in"
    assert "uma" not in inside(duty, incident)
    assert not Participant.objects.filter(incident=incident, person=duty.house.person("uma"), left_at=None).exists()


def test_a_page_that_ended_leaves_no_gap(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    incident = duty.house.retype(incident, "internal")
    assert gaps(incident) == []


def test_who_is_paged_later_is_brought_in_and_named_or_is_a_gap(duty: Duty) -> None:
    incident = duty.house.declare(type="time-bomb")
    incident = duty.house.retype(incident, "major")
    page = Page.objects.get()
    duty.account.acts.reassign("max", page.number or 0, "sid")
    look()
    incident = duty.house.settle(incident)
    assert "sid" in inside(duty, incident)
    (line,) = page_status.of(incident).lines
    assert "sid" in line.rings.casefold()
    assert [name.casefold() for name in line.before] == ["max", "uma ray"]
    assert gaps(incident) == [f"gap/{gap()}"], "who was paged is not forgotten"
    stranger = duty.account.add_user("kim", name="Kim Roe", email="kim@elsewhere.example")
    pager_cache.refresh(at=timezone.now())
    duty.account.acts.reassign("sid", page.number or 0, "kim")
    look()
    incident = duty.house.settle(incident)
    assert set(gaps(incident)) == {f"gap/{gap()}", f"gap/callee/{stranger.id}"}


def test_the_mend_is_at_hand_on_the_plan_and_on_the_page(duty: Duty, client: Client) -> None:
    incident = duty.house.declare(type="internal")
    Person.objects.filter(chat_id=duty.house.slack.person("dee").id).update(
        user=User.objects.create_user("dee"), role="manager"
    )
    client.force_login(User.objects.get(username="dee"))
    to = reverse("oncall-match", args=[uma().pk])
    address = f"{reverse('retype', args=[incident.codename])}?to=major"
    assert to in client.get(address).content.decode()
    incident = duty.house.retype(incident, "major")
    page = client.get(reverse("progress", args=[incident.codename])).content.decode()
    assert to in page
    assert "data-copy" in page
    given = {"person": duty.house.person("uma").pk, "next": incident.get_absolute_url()}
    assert client.post(to, given).headers["location"] == incident.get_absolute_url()
    incident = duty.house.settle(incident)
    assert "uma" in inside(duty, incident)
    assert client.post(to, given | {"next": "//elsewhere.example"}).headers["location"] == reverse("oncall-people")
