"""A page withdrawn before anyone acknowledged it is opened again when the type asks for it again; others never are."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from typing import Any

import httpx2
import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.pagerduty.adapter import open_page
from integrations.pagerduty.fake import changes
from integrations.slack.interaction import plans
from integrations.tests.duty import Duty
from workflows.models import Effect, Page
from workflows.paging import acknowledging, paging, poll_pages
from workflows.reconcile import reconcile, retyping


def page_lines(duty: Duty, incident: Incident, to: str) -> list[str]:
    """Return the plan's lines about pages, before anyone confirms it."""
    plan = retyping.preview(incident, to=duty.house.type(to))
    return [str(line) for line in plan.lines if line.key.startswith("page")]


def later(duty: Duty, hours: int = 3) -> None:
    duty.house.clock += timedelta(hours=hours)


def number(duty: Duty, which: int = -1) -> int:
    """Return the account's number of one of its incidents."""
    return list(duty.account.account.incidents.values())[which].number


def act(duty: Duty, what: str, who: str = "max") -> None:
    """Do something to the newest page, and take a look."""
    getattr(duty.account.acts, what)(who, number(duty))
    look(duty)


def look(duty: Duty) -> None:
    Page.objects.update(looked_at=None)
    poll_pages.look_again(at=timezone.now() + timedelta(minutes=5))


def test_a_page_that_nobody_answered_is_opened_again_once(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    incident = duty.house.retype(incident, "isolated")
    later(duty)
    (line,) = page_lines(duty, incident, "major")
    assert line.startswith("+ page Major incidents (pages Max) again")
    incident = duty.house.retype(incident, "major")
    assert duty.opened(incident) == ["Major incidents: resolved", "Major incidents: triggered"]
    assert duty.times_rung("max") == 2
    duty.house.settle(incident)
    assert duty.times_rung("max") == 2
    incident = duty.house.retype(incident, "isolated")
    incident = duty.house.retype(incident, "major")
    assert duty.times_rung("max") == 3
    assert len(set(Page.objects.values_list("dedup_key", flat=True))) == 3


def test_a_page_that_somebody_acknowledged_rings_nobody_twice(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    act(duty, "acknowledge")
    lifecycle.resolve(incident, by=None, at=duty.house.now())
    incident = duty.house.settle(incident)
    assert duty.opened(incident) == ["Major incidents: resolved"]
    lifecycle.reopen(incident, by=None, at=duty.house.now())
    incident = duty.house.settle(incident)
    incident = duty.house.retype(incident, "isolated")
    later(duty)
    (line,) = page_lines(duty, incident, "major")
    assert line.startswith("= Major incidents was already paged and is not paged again: Max")
    incident = duty.house.retype(incident, "major")
    assert duty.times_rung("max") == 1


def test_a_page_whose_acknowledgement_runs_out_waits_for_somebody_again(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    duty.account.service("Firekind").acknowledgement_timeout = 30 * 60
    act(duty, "acknowledge")
    (page,) = Page.objects.all()
    duty.account.acts.pass_time(30)
    look(duty)
    page.refresh_from_db()
    assert page.status == "triggered"
    last = Event.objects.filter(incident=incident).order_by("n").last()
    assert last is not None
    assert last.text == "The page to Major incidents was unacknowledged: paging again"
    (max_id,) = acknowledging.able([page])[page.pk]
    assert max_id == duty.house.person("max").pk, "it is theirs to acknowledge again"


@pytest.mark.parametrize("what", ["acknowledge", "resolve"])
def test_who_answers_before_the_fallback_has_is_seen_by_the_first_look(
    duty: Duty, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    duty.account.add_integration("Firekind", key=duty.account.routing_key)
    carry, took = duty.pager.fallback.handle_request, timedelta()

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return datetime.now(tz) + took

    def answered_late(request: httpx2.Request) -> httpx2.Response:
        nonlocal took
        answer = carry(request)
        getattr(duty.account.acts, what)("max", number(duty))
        took = timedelta(seconds=9)
        return answer

    monkeypatch.setattr(open_page, "datetime", Clock)
    monkeypatch.setattr(duty.pager.fallback, "handle_request", answered_late)
    duty.pager.rest.is_down = True
    duty.house.declare(type="major")
    duty.pager.rest.is_down = False
    (page,) = Page.objects.all()
    assert (page.via, page.status) == ("events", "triggered")
    Page.objects.update(looked_at=None)
    poll_pages.look_again(at=timezone.now() + timedelta(minutes=1))
    page.refresh_from_db()
    assert page.status == f"{what.removesuffix('e')}ed"


@pytest.mark.parametrize("what", ["acknowledge", "resolve"])
def test_what_somebody_answered_stays_answered_once_it_is_let_go(duty: Duty, what: str) -> None:
    incident = duty.house.declare(type="major")
    act(duty, what)
    if what == "acknowledge":
        act(duty, "unacknowledge")
    rung = duty.times_rung("max")
    incident = duty.house.retype(incident, "isolated")
    assert duty.opened(incident) == ["Major incidents: resolved"]
    duty.house.retype(incident, "major")
    assert duty.times_rung("max") == rung


def test_a_page_that_ended_by_itself_is_not_opened_again(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    (opened,) = duty.account.account.incidents.values()
    service = duty.account.service("Firekind")
    agent = {"id": service.id, "type": "service_reference", "summary": service.name}
    changes.resolve(duty.account, opened, agent=agent)
    look(duty)
    incident = duty.house.retype(incident, "isolated")
    (line,) = page_lines(duty, incident, "major")
    assert line.startswith("= Major incidents was already paged and is not paged again")
    duty.house.retype(incident, "major")
    assert duty.times_rung("max") == 1


def test_an_incident_that_is_reopened_pages_whom_nobody_answered_for(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    lifecycle.resolve(incident, by=None, at=duty.house.now())
    incident = duty.house.settle(incident)
    lifecycle.reopen(incident, by=None, at=duty.house.now())
    incident = duty.house.settle(incident)
    assert duty.opened(incident) == ["Major incidents: resolved", "Major incidents: triggered"]


def test_a_page_by_hand_and_one_by_the_type_are_the_same_while_it_is_open(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    incident = duty.house.retype(incident, "isolated")
    (choice,) = [one for one in paging.choices(incident) if one.name == "Major incidents"]
    paging.ask(incident, target=choice.target, by=None, at=duty.house.now())
    incident = duty.house.retype(incident, "major")
    assert duty.times_rung("max") == 2
    assert [page.status for page in Page.objects.order_by("pk")] == ["resolved", "triggered"]
    incident = duty.house.retype(incident, "isolated")
    assert Page.objects.filter(status="triggered").count() == 1, "somebody asked for it by hand"
    with pytest.raises(lifecycle.BadInput, match="was already paged"):
        paging.ask(incident, target=choice.target, by=None, at=duty.house.now())


def test_who_is_not_paged_again_stands_on_the_face_of_every_plan(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    act(duty, "resolve")
    incident = duty.house.retype(incident, "isolated")
    plan = retyping.preview(incident, to=duty.house.type("major"))
    page = render_to_string("workflows/_lines.html", {"lines": [(line, False) for line in plan.lines]})
    face, _, folded = page.partition("<details")
    assert "is not paged again" in face
    assert "is not paged again" not in folded
    (said,) = [block for block in plans.shown(plan) if "is not paged again" in str(block)]
    assert said["type"] == "section"


def withdrawing(incident: Incident) -> Effect:
    return Effect.objects.get(incident=incident, kind="page", verb="retire")


def test_a_withdrawal_that_is_only_owed_is_called_off(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    for to in ("isolated", "major"):
        lifecycle.retype(incident, to=duty.house.type(to), by=None, at=duty.house.now())
        reconcile.reconcile(incident.pk, at=timezone.now())
    assert withdrawing(incident).state == "cancelled"
    duty.house.settle(incident)
    assert duty.opened(incident) == ["Major incidents: triggered"]
    assert duty.times_rung("max") == 1


@pytest.mark.parametrize("kind", ["ratelimited", "server_error", "error_after", "drop", "drop_before", "timeout"])
def test_a_withdrawal_of_unknown_outcome_leaves_one_page_open(duty: Duty, kind: str) -> None:
    incident = duty.house.declare(type="major")
    lifecycle.retype(incident, to=duty.house.type("isolated"), by=None, at=duty.house.now())
    duty.account.faults.add(kind, method="PUT", path="/incidents*", times=1)
    duty.house.settle(incident, rounds=1)
    lifecycle.retype(incident, to=duty.house.type("major"), by=None, at=duty.house.now())
    duty.house.settle(incident)
    assert [one for one in duty.opened(incident) if "triggered" in one] == ["Major incidents: triggered"]
    assert duty.times_rung("max") <= 2
    assert {page.status for page in Page.objects.all()} <= {"triggered", "resolved"}
    duty.house.settle(incident)
    assert [one for one in duty.opened(incident) if "triggered" in one] == ["Major incidents: triggered"]


def test_a_worker_that_dies_after_the_withdrawal_does_not_lose_it(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    lifecycle.retype(incident, to=duty.house.type("isolated"), by=None, at=duty.house.now())
    duty.pager.rest.fatal = "PUT"  # carried out but never answered, and then nothing answers any more
    duty.house.settle(incident, rounds=1)
    assert duty.opened(incident) == ["Major incidents: resolved"]
    duty.pager.rest.fatal, duty.pager.rest.is_down = "", False
    lifecycle.retype(incident, to=duty.house.type("major"), by=None, at=duty.house.now())
    duty.house.settle(incident)
    assert duty.opened(incident) == ["Major incidents: resolved", "Major incidents: triggered"]
    assert duty.times_rung("max") == 2


def test_what_is_acknowledged_in_the_moment_it_is_withdrawn_stays_open(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    duty.account.acts.acknowledge("max", number(duty))
    incident = duty.house.retype(incident, "isolated")
    assert duty.opened(incident) == ["Major incidents: acknowledged"]
    incident = duty.house.retype(incident, "major")
    assert duty.opened(incident) == ["Major incidents: acknowledged"]
    assert duty.times_rung("max") == 1
