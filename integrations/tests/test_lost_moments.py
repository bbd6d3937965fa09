"""The database lost its last moments while vendors keep theirs: nothing new joins what was lost.

Numbers that were given out then are given out again; what is known outside by such a number would be taken for ours.
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
    """An answer is lost, too, so that the message is looked for by its mark, in a channel that both share."""
    with lost():
        house.declare("Payments fail")
    house.slack.faults.add("drop_before", method="chat.postMessage", times=5)
    incident = house.declare("Checkout is slow")
    announced = [text for text in house.slack.texts("incidents") if incident.codename in text]
    assert len(announced) == 1
    assert any("Payments fail" in text for text in house.slack.texts("incidents")), "nobody edits what is not theirs"


def test_a_page_of_ours_that_was_lost_declares_nothing(duty: Duty) -> None:
    """The pager tells of it again, or only now."""
    DeclareRule.objects.create(name="Any", type=duty.house.type("ambiguous"), created_at=duty.house.now())
    with lost():
        gone = duty.house.declare("Keys leaked", type="security")
        (page,) = Page.objects.filter(incident=gone)
    there = duty.account.account.incidents[page.pager_id]
    told = PagerIncident(there.id, key=there.key or "", title=there.title, service_id=page.service_id, service="Security")
    news = PagerEvent("e1", "triggered", duty.house.now(), told, "triggered", "")
    assert apply_page_event.hear(news, at=duty.house.now()) == "not ours"
    assert not Incident.objects.exists()


PRIVATE_WORDS = "the signing keys of Ana Ruiz"
STORY = (
    lambda duty, one: duty.house.declare("Payments fail", type="major"),
    lambda duty, one: note(duty, one, "half of them are back"),
    lambda duty, one: duty.house.retype(one, "security"),
    lambda duty, one: note(duty, one, PRIVATE_WORDS),
    lambda duty, one: duty.house.retype(one, "major"),
    lambda duty, one: over(duty, one),
)


def note(duty: Duty, incident: Incident, text: str) -> Incident:
    lifecycle.update(incident, text=text, by=duty.house.person("dee"), at=duty.house.now())
    return duty.house.settle(incident)


def over(duty: Duty, incident: Incident) -> Incident:
    lifecycle.resolve(incident, text="", by=duty.house.person("dee"), at=duty.house.now())
    return duty.house.settle(incident)


def rooms(house: House) -> dict[str, Counter[str]]:
    """What stands in each channel of an incident."""
    every = house.slack.workspace.channels.values()
    return {one.id: Counter(said.text for said in one.messages.values()) for one in every if one.name != "incidents"}


@pytest.mark.parametrize("kept", range(len(STORY)))
def test_wherever_a_story_is_cut_what_comes_after_leaves_alone_what_was_lost(duty: Duty, kept: int) -> None:
    """Every second time somebody says so with `manage.py restored`."""
    house, one = duty.house, None
    for step in STORY[:kept]:
        one = step(duty, one)
    known = set(rooms(house))
    with lost():
        gone = one
        for step in STORY[kept:]:
            gone = step(duty, gone)
        if one is None:
            house.declare("Keys leaked", type="security")
    before, opened = rooms(house), {id: page.status for id, page in duty.account.account.incidents.items()}
    if kept % 2:
        call_command("restored")

    rung = duty.times_rung("sid"), duty.times_rung("max")
    hidden = house.declare("The vault was copied", type="security")
    shown = house.declare("Checkout is slow", type="major")
    note(duty, hidden, PRIVATE_WORDS)
    note(duty, shown, "half of them are back")
    if one is not None and one.is_active:
        note(duty, Incident.objects.select_related("type", "policy_version", "lead").get(pk=one.pk), "and what now?")

    assert (duty.times_rung("sid"), duty.times_rung("max")) == (rung[0] + 1, rung[1] + 1)
    after = rooms(house)
    assert {id: said for id, said in after.items() if id in before.keys() - known} == {
        id: said for id, said in before.items() if id not in known
    }
    now = {id: duty.account.account.incidents[id].status for id in opened}
    ours = set(Page.objects.values_list("pager_id", flat=True))
    assert {id: now[id] for id in now.keys() - ours} == {id: opened[id] for id in now.keys() - ours}
    public = [said for one in house.slack.workspace.channels.values() if not one.is_private for said in one.messages.values()]
    assert not [said for said in public if "vault" in str(said)], "nor a title"
    assert not [said for said in public if PRIVATE_WORDS in str(said)]
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
    one = Incident.objects.select_related("type", "policy_version", "lead").get(pk=one.pk)
    lifecycle.update(one, text=PRIVATE_WORDS, by=house.person("dee"), at=house.now())
    house.settle(one)
    assert house.slack.texts("incidents") == [announced]
    assert "may have turned private" in str(list(one.events.filter(kind="failed").values_list("text", "data")))
    house.retype(one, "security")
    assert house.slack.texts("incidents") == [announced]
    assert not Effect.objects.filter(incident=one, state="failed", thing="announcement").exists(), "it is as it should be"
