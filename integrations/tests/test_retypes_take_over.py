"""A retype's plan shows what failed before and what is still under way, and that is what is then carried out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from incidents.policies import types
from incidents.policies.policy import Policy
from integrations.tests import duty as standing_by
from integrations.tests.duty import Duty
from integrations.tests.house import House
from workflows import ports
from workflows.effects import effect_queue
from workflows.models import Effect
from workflows.performing import perform
from workflows.planning.plan import Plan
from workflows.reconcile import reconcile, retyping
from workflows.status import progress, retyped

PAGED, OTHER, PLAIN, CLOSED = "paged", "other", "plain", "closed"


@pytest.fixture
def duty(db: None) -> Iterator[Duty]:
    with standing_by.duty(others=("sid", "max")) as made:
        made.house.clock = timezone.now()
        for slug in (PAGED, OTHER):
            add(made.house, slug, pages=["Major incidents"])
        add(made.house, PLAIN)
        add(made.house, CLOSED, private=True)
        yield made


def add(house: House, slug: str, **body: Any) -> None:
    policy = {"slug": slug, "name": slug.title(), "says": "x", "announce": False, **body}
    types.add(Policy.from_dict(policy), by=None, at=house.now())


def declared(house: House, type: str) -> Incident:
    return lifecycle.declare("Slow", by=house.person("dee"), at=house.now(), type=house.type(type))


def fresh(incident: Incident) -> Incident:
    return Incident.objects.select_related("type", "policy_version", "lead", "declared_by").get(pk=incident.pk)


def said(plan: Plan, sign: str) -> str:
    return "\n".join(line.text for line in plan.lines if line.sign == sign)


def people(house: House, incident: Incident) -> set[str]:
    return {house.slack.person(member).name for member in house.slack.members(house.channel(incident))}


def test_a_page_that_failed_is_opened_by_a_type_that_asks_for_it_as_well(duty: Duty) -> None:
    house = duty.house
    duty.account.faults.add("forbidden", method="*", path="/incidents*")
    incident = house.settle(declared(house, PAGED))
    duty.account.faults.clear()
    plan = house.confirm(fresh(incident), OTHER)
    assert "page Major incidents (pages Max), which failed before" in said(plan, "+")
    house.settle(incident)
    assert len(duty.opened(incident)) == 1
    assert duty.times_rung("max") == 1


def test_people_whose_invitation_failed_are_invited_and_named(duty: Duty) -> None:
    house = duty.house
    house.slack.faults.add("error", method="conversations.invite", error="missing_scope")
    incident = house.settle(declared(house, "ambiguous"))
    house.slack.faults.clear()
    plan = house.confirm(fresh(incident), "isolated")
    incident = house.settle(incident)
    for name in ("Ann", "Ben", "Lea", "Sue"):
        assert name in said(plan, "+")
        assert name in people(house, incident)


@pytest.mark.parametrize("mended", [True, False])
def test_a_channel_that_could_not_be_opened_is_tried_again_and_what_comes_of_it_is_told(
    duty: Duty, *, mended: bool
) -> None:
    house = duty.house
    house.slack.faults.add("error", method="conversations.create", error="restricted_action")
    incident = house.settle(declared(house, "ambiguous"))
    seen = fresh(incident).last_n
    if mended:
        house.slack.faults.clear()
    plan = house.confirm(fresh(incident), "isolated")
    assert "which failed before" in said(plan, "+")
    incident = house.settle(incident)
    if mended:
        assert people(house, incident) >= {"Ann", "Ben", "Lea", "Sue"}
    else:
        assert incident.events.filter(n__gt=seen, kind="failed", text__startswith="Could not open").exists()


@pytest.mark.parametrize("to", [PLAIN, CLOSED])
def test_a_page_that_is_being_opened_as_nobody_wants_it_any_more_is_told(duty: Duty, to: str) -> None:
    house = duty.house
    incident = declared(house, PAGED)
    reconcile.reconcile(incident.pk, at=house.now())
    (work,) = effect_queue.claim(incident.pk, at=house.now(), limit=1, kinds=["page"])
    plan = house.confirm(fresh(incident), to)
    assert "resolve the page to Major incidents, which is being opened right now" in said(plan, "-")
    assert any("being opened right now" in note.text for note in plan.notes) == (to == CLOSED)
    perform.perform(duty.pager, work)
    house.settle(incident)
    assert duty.opened(incident) == ["Major incidents: resolved"]


def test_what_was_owed_before_and_stands_in_the_plan_counts_for_it(duty: Duty) -> None:
    house = duty.house
    incident = declared(house, PAGED)
    reconcile.reconcile(incident.pk, at=house.now())
    duty.account.faults.add("server_error", method="*", path="*")
    plan = house.confirm(fresh(incident), OTHER)
    assert "page Major incidents" in said(plan, "+")
    reconcile.reconcile(incident.pk, at=house.now())
    line = retyped.of(fresh(incident), progress.of(fresh(incident)), at=house.now())
    assert line is not None
    assert line.left
    duty.account.faults.clear()
    house.settle(incident)
    line = retyped.of(fresh(incident), progress.of(fresh(incident)), at=house.now())
    assert line is not None
    assert "opened 1 page" in line.done


def test_what_failed_is_not_tried_again_by_a_plan_that_nobody_confirms(duty: Duty) -> None:
    house = duty.house
    duty.account.faults.add("forbidden", method="*", path="/incidents*")
    incident = house.settle(declared(house, PAGED))
    duty.account.faults.clear()
    assert not retyping.preview_policy(fresh(incident), house.type(OTHER).policy).retries
    retyping.preview(fresh(incident), to=house.type(OTHER), by=house.person("dee"))
    reconcile.reconcile(incident.pk, at=house.now())
    assert Effect.objects.filter(incident=incident, kind="page", state=Effect.State.FAILED).count() == 1


def test_messages_that_are_tried_again_are_counted_with_their_channels(duty: Duty) -> None:
    house = duty.house
    house.slack.faults.add("error", method="chat.postMessage", error="restricted_action")
    incident = house.settle(declared(house, "ambiguous"))
    house.slack.faults.clear()
    plan = retyping.preview(fresh(incident), to=house.type("isolated"), by=house.person("dee"))
    assert "post the headline, which failed before" in said(plan, "+")
    assert "post the announcement in #incidents, which failed before" in said(plan, "+")
    assert "posts in 2 channels" in plan.in_short.lower()


def test_a_page_that_is_being_resolved_is_not_said_to_be_opened(duty: Duty) -> None:
    house = duty.house
    incident = house.settle(declared(house, PAGED))
    house.confirm(incident, PLAIN)
    reconcile.reconcile(incident.pk, at=house.now())
    (work,) = effect_queue.claim(incident.pk, at=house.now(), limit=1, kinds=["page"])
    assert work.effect.verb == "retire"
    plan = retyping.preview(fresh(incident), to=house.type(CLOSED), by=house.person("dee"))
    assert not any("being opened right now" in text for text in map(str, (*plan.lines, *plan.notes)))


@pytest.mark.parametrize("connected", [(), ("chat",), ("pager",), ("chat", "pager")])
def test_only_what_is_connected_is_tried_again(duty: Duty, connected: tuple[str, ...]) -> None:
    house = duty.house
    duty.account.faults.add("forbidden", method="*", path="/incidents*")
    house.slack.faults.add("error", method="conversations.create", error="restricted_action")
    incident = house.settle(declared(house, PAGED))
    chat, pager = house.chat if "chat" in connected else None, duty.pager if "pager" in connected else None
    with ports.using(chat=chat, pager=pager):
        plan = retyping.preview(fresh(incident), to=house.type(OTHER), by=house.person("eve"))
    tried = {text.partition(" ")[0] for text in said(plan, "+").splitlines() if text.endswith("which failed before")}
    assert tried == {does for does, port in {"open": "chat", "page": "pager"}.items() if port in connected}
    assert len(plan.retries) == len(connected)
