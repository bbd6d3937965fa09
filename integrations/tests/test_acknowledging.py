"""A page is acknowledged from here, through the whole house, despite vendor faults and others who are quicker."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.tests.duty import Duty
from workflows.models import Effect, Page
from workflows.paging import acknowledging
from workflows.performing import perform
from workflows.reconcile import reconcile

pytestmark = pytest.mark.usefixtures("no_pages")


def sent(duty: Duty) -> list[str]:
    """Return the people in whose name a request of ours acknowledged a page."""
    writes = [call for call in duty.account.writes() if call.method == "PUT" and call.done]
    return [call.sender for call in writes if call.body["incident"].get("status") == "acknowledged"]


def ask(duty: Duty, incident: Incident, who: str = "max") -> str:
    page = Page.objects.get(incident=incident)
    return acknowledging.ask(incident, page=page.pk, by=duty.house.person(who), at=duty.house.now()).says


def said(incident: Incident) -> list[tuple[str, str]]:
    """Return the entries that say a page was acknowledged, each with its person."""
    entries = incident.events.filter(kind="page", data__news="acknowledged").select_related("by")
    return [(one.by.name if one.by else "", one.text) for one in entries]


def test_it_is_acknowledged_as_the_one_who_pressed_and_the_timeline_says_so_once(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    assert ask(duty, incident) == "Acknowledging the page to Major incidents…"
    assert ask(duty, incident) == "You are already acknowledging the page to Major incidents."
    incident = duty.house.settle(incident)
    assert sent(duty) == ["max@example.com"]
    assert said(incident) == [("Max", "acknowledged the page to Major incidents")]
    page = Page.objects.get(incident=incident)
    assert (page.status, page.status_by, page.answered_by) == ("acknowledged", "Max", "Max")
    assert ask(duty, incident) == "The page to Major incidents is already acknowledged by Max."
    writes = len(duty.account.writes())
    duty.house.settle(incident)
    assert len(duty.account.writes()) == writes


@pytest.mark.parametrize("kind", ["ratelimited", "server_error", "error_after", "drop", "drop_before", "timeout"])
@pytest.mark.parametrize("method", ["PUT", "GET"])
def test_whatever_the_weather_it_is_done_once(duty: Duty, kind: str, method: str) -> None:
    incident = duty.house.declare(type="major")
    duty.account.faults.add(kind, method=method, path="/incidents/*", times=1)
    ask(duty, incident)
    incident = duty.house.settle(incident)
    assert sent(duty) == ["max@example.com"]
    assert len(said(incident)) == 1


def test_while_the_pager_is_down_it_waits_and_says_why(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    duty.pager.rest.is_down = True
    ask(duty, incident)
    reconcile.reconcile(incident.pk, at=timezone.now())
    perform.drain(incident.pk, side_by_side=False)
    page = Page.objects.get(incident=incident)
    assert acknowledging.of([page])[page.pk].delayed == "PagerDuty could not be reached. Retrying automatically."
    assert not sent(duty)
    duty.pager.rest.is_down = False
    duty.house.settle(incident)
    assert sent(duty) == ["max@example.com"]


@pytest.mark.parametrize("act", ["acknowledge", "resolve"])
def test_whoever_is_quicker_in_the_pager_has_it_and_nothing_is_sent(duty: Duty, act: str) -> None:
    """We have not been told yet, so its status is read first: the pager would reopen a page that was resolved."""
    incident = duty.house.declare(type="major")
    ask(duty, incident)
    getattr(duty.account.acts, act)("eve", 1)
    incident = duty.house.settle(incident)
    assert not sent(duty)
    assert duty.opened(incident) == [f"Major incidents: {act.removesuffix('e')}ed"]
    assert Page.objects.get(incident=incident).status_by == "Eve"
    assert not Effect.objects.filter(incident=incident, state="failed").exists()
    assert "is already" in ask(duty, incident)


def test_who_is_no_user_there_any_more_is_told_what_to_do_and_somebody_else_can(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    duty.account.acts.reassign("max", 1, ["max", "eve"])
    page = Page.objects.get(incident=incident)
    page.rung_ids = [*page.rung_ids, duty.account.user("eve").id]
    page.save()
    duty.account.user("max").email = "other@example.com"
    ask(duty, incident)
    incident = duty.house.settle(incident)
    page.refresh_from_db()
    failed = acknowledging.of([page])[page.pk].failed
    assert failed.startswith("PagerDuty no longer has a user with this person's email. Acknowledge it in PagerDuty")
    (told,) = incident.events.filter(kind="failed")
    assert told.text.startswith("Could not acknowledge the page to Major incidents for Max: PagerDuty no longer has")
    assert ask(duty, incident, "eve") == "Acknowledging the page to Major incidents…"
    incident = duty.house.settle(incident)
    assert sent(duty) == ["eve@example.com"]
    assert not Effect.objects.filter(incident=incident, kind="acknowledged", state="failed").exists()


def test_what_is_ended_meanwhile_is_not_opened_again(duty: Duty) -> None:
    """The incident ends between reading the page and the request; ending it waits for that."""
    incident = duty.house.declare(type="major")
    ask(duty, incident)
    reconcile.reconcile(incident.pk, at=timezone.now())
    (effect,) = Effect.objects.filter(incident=incident, kind="acknowledged")
    Effect.objects.filter(pk=effect.pk).update(state="running", token=1, leased_until=timezone.now())
    incident = lifecycle.resolve(incident, by=duty.house.person("dee"), at=timezone.now())
    reconcile.reconcile(incident.pk, at=timezone.now())
    (ending,) = Effect.objects.filter(incident=incident, kind="page", verb="retire")
    assert effect.key in ending.after
    incident = duty.house.settle(incident)
    assert duty.opened(incident) == ["Major incidents: resolved"]
    assert duty.times_rung("max") == 1


def test_a_wish_that_was_called_off_is_not_carried_out_when_it_rings_again(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    duty.pager.rest.is_down = True
    ask(duty, incident)
    incident = duty.house.settle(incident, rounds=1)
    duty.pager.rest.is_down = False
    Page.objects.filter(incident=incident).update(status="acknowledged")
    reconcile.reconcile(incident.pk, at=timezone.now())
    Page.objects.filter(incident=incident).update(status="triggered")
    incident = duty.house.settle(incident)
    assert not sent(duty)
    assert ask(duty, incident) == "Acknowledging the page to Major incidents…"
    duty.house.settle(incident)
    assert sent(duty) == ["max@example.com"]


@pytest.mark.parametrize("who", ["eve", "out", "guest"])
def test_nobody_else_can(duty: Duty, who: str) -> None:
    """Eve is in the pager but was not paged, and Out is not in it; a guest was paged."""
    incident = duty.house.declare(type="major")
    if who == "guest":
        Person.objects.filter(pk=duty.house.person("max").pk).update(is_guest=True)
    with pytest.raises(lifecycle.Refused, match="Only people this page reached"):
        ask(duty, incident, "max" if who == "guest" else who)
    duty.house.settle(incident)
    assert not sent(duty)


def test_from_outside_a_private_incident_there_is_no_page(duty: Duty) -> None:
    incident = duty.house.declare(type="security")
    with pytest.raises(lifecycle.NotThere):
        ask(duty, incident, "out")
