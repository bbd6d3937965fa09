"""The database lost its last moments while vendors keep theirs: nothing new is mixed up with what was lost.

Lost numbers are issued again, so something outside that is known by such a number could be mistaken for ours. What was
withdrawn in public stays withdrawn, although no one here remembers that the incident became private.
"""

from __future__ import annotations

from collections import Counter

import pytest
from django.core.management import call_command

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.duty import Duty
from integrations.tests.house import House
from integrations.tests.losing import lost
from workflows.models import DeclareRule, Effect, Page
from workflows.oncall.pager_events import PagerEvent, PagerIncident
from workflows.paging import apply_page_event


@pytest.mark.parametrize("commands", [(), ("restored",)], ids=["nobody-says-so", "restored"])
def test_a_page_of_a_new_incident_rings_though_one_that_was_lost_is_open(duty: Duty, commands: tuple[str, ...]) -> None:
    with lost():
        gone = duty.house.declare("Payments fail", type="major")
        (page,) = Page.objects.filter(incident=gone).values_list("pager_id", flat=True)
    assert not Incident.objects.filter(pk=gone.pk).exists()
    for one in commands:
        call_command(one)
    assert duty.times_rung("max") == 1

    incident = duty.house.declare("Checkout is slow", type="major")
    assert duty.times_rung("max") == 2
    assert page not in Page.objects.filter(incident=incident).values_list("pager_id", flat=True)
    lifecycle.resolve(incident, text="", by=duty.house.person("dee"), at=duty.house.now())
    duty.house.settle(incident)
    assert duty.account.account.incidents[page].status == "triggered", "nobody ends what is not theirs"


def test_a_message_of_what_was_lost_is_not_taken_for_a_new_one(house: House) -> None:
    """An answer is lost too, so the message is searched for by its mark, in a channel that both share."""
    with lost():
        house.declare("Payments fail")
    house.slack.faults.add("drop_before", method="chat.postMessage", times=5)
    incident = house.declare("Checkout is slow")
    announced = [text for text in house.slack.texts("incidents") if incident.codename in text]
    assert len(announced) == 1
    assert any("Payments fail" in text for text in house.slack.texts("incidents")), "nobody edits what is not theirs"


def test_a_page_of_ours_that_was_lost_declares_nothing(duty: Duty) -> None:
    """The pager reports it again, or only now."""
    DeclareRule.objects.create(name="Any", type=duty.house.type("ambiguous"), created_at=duty.house.now())
    with lost():
        gone = duty.house.declare("Keys leaked", type="security")
        (page,) = Page.objects.filter(incident=gone)
    there = duty.account.account.incidents[page.pager_id]
    told = PagerIncident(
        there.id, key=there.key or "", title=there.title, service_id=page.service_id, service="Security"
    )
    news = PagerEvent("e1", "triggered", duty.house.now(), told, "triggered", "")
    assert apply_page_event.hear(news, at=duty.house.now()) == "not ours"
    assert not Incident.objects.exists()


PRIVATE_WORDS = "the signing keys of Ana Ruiz"
STORY = ("declare", "update", "retype", "update in private", "retype back", "resolve")


def played(house: House, step: str, one: Incident | None) -> Incident:
    """Play a step of the story and settle."""
    if one is None:
        return house.declare("Payments fail", type="major")
    match step:
        case "update":
            return updated(house, one, "half of them are back")
        case "retype":
            return house.retype(one, "security")
        case "update in private":
            return updated(house, one, PRIVATE_WORDS)
        case "retype back":
            return house.retype(one, "major")
    lifecycle.resolve(one, text="", by=house.person("dee"), at=house.now())
    return house.settle(one)


def updated(house: House, incident: Incident, text: str) -> Incident:
    lifecycle.update(now(incident), text=text, by=house.person("dee"), at=house.now())
    return house.settle(incident)


def now(incident: Incident) -> Incident:
    return Incident.objects.select_related("type", "policy_version", "lead").get(pk=incident.pk)


def rooms(house: House) -> dict[str, Counter[str]]:
    """Return the contents of each of an incident's channels."""
    every = house.slack.workspace.channels.values()
    return {one.id: Counter(said.text for said in one.messages.values()) for one in every if one.name != "incidents"}


@pytest.mark.parametrize("kept", range(len(STORY)))
def test_wherever_a_story_is_cut_what_comes_after_leaves_alone_what_was_lost(duty: Duty, kept: int) -> None:
    """In every second case someone reports the restore with `manage.py restored`."""
    house, pages = duty.house, duty.account.account.incidents
    one: Incident | None = None
    for step in STORY[:kept]:
        one = played(house, step, one)
    known = set(rooms(house))
    with lost():
        gone = one
        for step in STORY[kept:]:
            gone = played(house, step, gone)
        house.declare("Keys leaked", type="security")
    before, opened = rooms(house), {id: page.status for id, page in pages.items()}
    if kept % 2:
        call_command("restored")

    rung = duty.times_rung("sid"), duty.times_rung("max")
    hidden = house.declare("The vault was copied", type="security")
    shown = house.declare("Checkout is slow", type="major")
    updated(house, hidden, PRIVATE_WORDS)
    updated(house, shown, "half of them are back")
    if one is not None and one.is_active:
        updated(house, one, "and what now?")

    assert (duty.times_rung("sid"), duty.times_rung("max")) == (rung[0] + 1, rung[1] + 1)
    after, lost_rooms = rooms(house), before.keys() - known
    assert {id: after[id] for id in lost_rooms} == {id: before[id] for id in lost_rooms}
    lost_pages = opened.keys() - set(Page.objects.values_list("pager_id", flat=True))
    assert {id: pages[id].status for id in lost_pages} == {id: opened[id] for id in lost_pages}
    public = [one for one in house.slack.workspace.channels.values() if not one.is_private]
    said = str([message for one in public for message in one.messages.values()])
    assert "vault" not in said, "nor a title"
    assert PRIVATE_WORDS not in said
    assert not house.owed(hidden) + house.owed(shown)


@pytest.mark.parametrize("commands", [(), ("restored",)], ids=["nobody-says-so", "restored"])
def test_what_was_withdrawn_is_not_announced_again_where_it_is_lost_that_it_turned_private(
    house: House, commands: tuple[str, ...]
) -> None:
    one = house.declare("Payments fail", type="major")
    with lost():
        house.retype(one, "security")
    for command in commands:
        call_command(command)
    (announced,) = house.slack.texts("incidents")
    assert "withdrawn" in announced
    one = updated(house, one, PRIVATE_WORDS)
    assert house.slack.texts("incidents") == [announced]
    assert "may have turned private" in str(list(one.events.filter(kind="failed").values_list("text", "data")))
    house.retype(one, "security")
    assert house.slack.texts("incidents") == [announced]
    assert not Effect.objects.filter(state="failed", thing="announcement").exists(), "it is as it should be"
