"""Pages by type, through the whole house: who is paged, once, and what happens to the page when the type changes."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Participant
from incidents.reading import catch_up_reading
from integrations.tests.duty import Duty
from integrations.tests.house import House
from workflows.models import Page
from workflows.oncall import pager_cache
from workflows.paging import paging
from workflows.reconcile import retyping
from workflows.status import progress

pytestmark = pytest.mark.usefixtures("no_pages")


def said(incident: Incident, kind: str = "page") -> list[str]:
    return list(incident.events.filter(kind=kind).order_by("n").values_list("text", flat=True))


def awaited(incident: Incident) -> list[str]:
    """Return what the catch-up says about unacknowledged pages."""
    return [line.text for line in catch_up_reading.of(incident).lines if line.label == "Not acknowledged"]


def test_a_type_pages_its_policy_and_brings_in_who_is_rung(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    assert duty.opened(incident) == ["Major incidents: triggered"]
    assert duty.times_rung("max") == 1
    assert "max" in duty.house.slack.members(duty.house.channel(incident))
    assert said(incident) == ["paged Major incidents: Max"]
    (opened,) = duty.account.account.incidents.values()
    assert opened.title == f"Checkout is slow ({incident.codename})"
    assert incident.get_absolute_url() in opened.details


def test_the_plan_says_who_would_be_rung(duty: Duty) -> None:
    incident = duty.house.declare()
    plan = retyping.preview(incident, to=duty.house.type("major"))
    assert "+ page Major incidents (pages Max)" in [str(line) for line in plan.lines]
    assert not duty.account.writes()


def test_a_retype_resolves_what_nobody_is_on_and_then_there_is_nothing_left_to_do(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    assert awaited(incident) == ["Paged Major incidents: Max"]
    incident = duty.house.retype(incident, "isolated")
    assert duty.opened(incident) == ["Major incidents: resolved"]
    assert awaited(incident) == []
    writes = len(duty.account.writes())
    duty.house.settle(incident)
    assert len(duty.account.writes()) == writes


def test_a_page_that_somebody_is_on_is_left_to_them_until_it_is_over(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    (page,) = Page.objects.filter(incident=incident)
    duty.account.acts.acknowledge("max", page.number or 0)  # and its webhook is lost
    incident = duty.house.retype(incident, "internal")
    assert duty.opened(incident) == ["Major incidents: acknowledged"]
    assert "left the page to Major incidents open: acknowledged by Max" in said(incident)
    assert awaited(incident) == []
    lifecycle.resolve(incident, by=None, at=duty.house.now())
    incident = duty.house.settle(incident)
    assert duty.opened(incident) == ["Major incidents: resolved"]


def test_a_private_type_pages_under_a_name_that_says_nothing(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    (page,) = Page.objects.filter(incident=incident)
    duty.account.acts.acknowledge("max", page.number or 0)
    page.status = Page.Status.ACKNOWLEDGED
    page.save()
    incident = duty.house.retype(incident, "security")
    titles = {one.title for one in duty.account.account.incidents.values()}
    assert titles == {f"{incident.codename} needs you"}
    members = duty.house.slack.members(duty.house.channel(incident))
    assert "sid" in members  # on call for Security
    assert "max" not in members


def test_the_one_on_call_has_the_role_and_keeps_it(duty: Duty) -> None:
    incident = duty.house.declare(type="security")
    chosen = Participant.objects.get(incident=incident, reason="one-of").person
    assert chosen.name == "Pia"
    assert said(incident, "chosen") == ["Pia is Platform leadership: on call now"]
    layer = duty.account.schedule("Platform leadership").layers[0]
    layer.users = [duty.account.user("pat").id]
    pager_cache.refresh_shifts(at=timezone.now())
    duty.house.settle(incident)
    assert "pat" not in duty.house.slack.members(duty.house.channel(incident))
    assert said(incident, "chosen") == ["Pia is Platform leadership: on call now"]


def test_nobody_on_call_leaves_a_gap_that_a_person_fills(duty: Duty) -> None:
    duty.account.schedule("Platform leadership").layers.clear()
    duty.house.slack.acts.set_group("platform-leadership", ["out"])
    duty.house.slack.person("out").is_restricted = True
    from workflows.usergroups import workspace_cache as chat_directory

    chat_directory.refresh(everybody=True)
    pager_cache.refresh_shifts(at=timezone.now())
    incident = duty.house.declare(type="security")
    (gap,) = progress.of(incident).gaps
    assert gap.role == "Platform leadership"
    lifecycle.fill(incident, role=gap.role, person=duty.house.person("lea"), by=None, at=duty.house.now())
    incident = duty.house.settle(incident)
    assert not progress.of(incident).gaps
    assert "lea" in duty.house.slack.members(duty.house.channel(incident))


def test_somebody_is_paged_by_hand_once_until_that_is_over(duty: Duty) -> None:
    incident = duty.house.declare(type="internal")
    (choice,) = [one for one in paging.choices(incident) if one.name == "Engineering"]
    assert choice.rings == "pages Eve"
    words = paging.ask(
        incident, target=choice.target, by=duty.house.person("dee"), at=duty.house.now(), because="disk is filling up"
    )
    assert words == "page Engineering (pages Eve)"
    with pytest.raises(lifecycle.BadInput, match="is already being paged"):
        paging.ask(incident, target=choice.target, by=None, at=duty.house.now())
    incident = duty.house.settle(incident)
    with pytest.raises(lifecycle.BadInput, match="was already paged: paging"):
        paging.ask(incident, target=choice.target, by=None, at=duty.house.now())
    assert "eve" in duty.house.slack.members(duty.house.channel(incident))
    (opened,) = duty.account.account.incidents.values()
    assert said(incident)[-1] == "paged Engineering: Eve. Why: disk is filling up"
    assert "disk" not in opened.details, "a pager never forgets what it was told"
    duty.account.acts.resolve("eve", opened.number)
    Page.objects.update(status="resolved")
    paging.ask(incident, target=choice.target, by=None, at=duty.house.now())
    duty.house.settle(incident)
    assert duty.opened(incident) == ["Engineering: resolved", "Engineering: triggered"]


@pytest.mark.parametrize("kind", ["ratelimited", "server_error", "error_after", "drop", "drop_before", "timeout"])
def test_a_fault_while_a_page_is_opened_pages_once(duty: Duty, kind: str) -> None:
    duty.account.faults.add(kind, method="POST", path="/incidents", times=2)
    incident = duty.house.declare(type="major")
    assert duty.opened(incident) == ["Major incidents: triggered"]
    assert duty.times_rung("max") == 1


def test_a_page_that_was_resolved_before_it_was_recorded_is_not_opened_again(duty: Duty) -> None:
    duty.account.faults.add("drop", method="POST", path="/incidents", times=1)
    duty.account.faults.add("server_error", method="GET", path="/incidents*", times=3)
    incident = duty.house.declare(type="internal")
    lifecycle.retype(incident, to=duty.house.type("major"), by=None, at=duty.house.now())
    duty.house.settle(incident, rounds=1)
    found = list(duty.account.account.incidents.values())
    for one in found:
        duty.account.acts.resolve("max", one.number)
    duty.house.settle(incident)
    assert duty.times_rung("max") == 1


def test_while_the_pager_limits_requests_for_long_the_fallback_rings_and_says_why(duty: Duty) -> None:
    duty.account.add_integration("Firekind", key=duty.account.routing_key)
    pager_cache.refresh(at=timezone.now())
    duty.account.faults.add("ratelimited", method="POST", path="/incidents", retry_after_s=120)
    incident = duty.house.declare(type="major")
    assert said(incident) == ["paged Major incidents through the fallback, because PagerDuty is rate limiting: Max"]
    duty.account.faults.clear()
    duty.house.settle(incident)
    assert duty.times_rung("max") == 1


def test_while_the_pager_is_away_the_fallback_rings_under_the_same_key(duty: Duty) -> None:
    duty.account.add_integration("Firekind", key=duty.account.routing_key)
    pager_cache.refresh(at=timezone.now())
    duty.pager.rest.is_down = True
    incident = duty.house.declare(type="major")
    assert said(incident) == ["paged Major incidents through the fallback, because PagerDuty could not be reached: Max"]
    duty.pager.rest.is_down = False
    duty.house.settle(incident)
    assert duty.times_rung("max") == 1
    lifecycle.resolve(incident, by=None, at=duty.house.now())
    duty.house.settle(incident)
    assert [one.status for one in duty.account.account.incidents.values()] == ["resolved"]


def test_without_a_pager_the_plan_says_what_cannot_be_done(house: House) -> None:
    incident = house.declare()
    lines = [str(line) for line in retyping.preview(incident, to=house.type("major")).lines]
    assert "! PagerDuty is not connected: Major incidents cannot be paged." in lines
    incident = house.retype(incident, "major")
    assert not progress.of(incident).gaps
