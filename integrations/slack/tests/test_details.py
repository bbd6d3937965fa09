"""Commands for everything else that the web can do to an incident."""

from __future__ import annotations

import pytest

from incidents.models import Incident
from integrations.slack.tests.door import Door


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    return door.house.channel(incident)


def now(incident: Incident) -> Incident:
    return Incident.objects.select_related("type", "policy_version").get(pk=incident.pk)


def test_title_and_summary_are_written(door: Door, incident: Incident, channel: str) -> None:
    said = door.command("ann", "rename carts are <slow> & fail", channel=channel)
    assert said.endswith("has its new title: carts are &lt;slow&gt; &amp; fail.")
    door.command("ann", "summary one in three fails", channel=channel)
    assert (now(incident).title, now(incident).summary) == ("carts are <slow> & fail", "one in three fails")
    door.command("ann", "rename", channel=channel)
    door.command("ann", "summary", channel=channel)
    assert (now(incident).title, now(incident).summary) == ("carts are <slow> & fail", "one in three fails")


def test_people_are_brought_in_by_mention_and_guests_are_not(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "bring @sue @cat", channel=channel)
    inside = {one.person.name for one in incident.participants.filter(left_at=None)}
    assert {"Sue", "Cat"} <= inside
    door.slack.add_person("guest", is_restricted=True)
    door.house.person("guest").__class__.objects.filter(chat_id=door.slack.person("guest").id).update(is_guest=True)
    for words in ("bring @eve @guest", "bring eve", "bring"):
        door.command("ann", words, channel=channel)
    assert {one.person.name for one in incident.participants.filter(left_at=None)} == inside


def test_a_role_is_given_and_left_open_again(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "role Scribe @ben", channel=channel)
    assert now(incident).role_holder_id("Scribe") == door.house.person("ben").pk
    door.command("ann", "role Scribe nobody", channel=channel)
    assert now(incident).role_holder_id("Scribe") is None
    assert "Lead" in door.command("ann", "role", channel=channel)
    door.command("ann", "role Scribe", channel=channel)
    assert now(incident).roles == {}


def test_an_item_of_the_checklist_is_checked_off_and_put_back(door: Door, incident: Incident, channel: str) -> None:
    first, second = incident.policy.checklist[:2]
    assert first in door.command("ann", "checklist", channel=channel)
    door.command("ann", "checklist 2", channel=channel)
    assert now(incident).checked == [second]
    for words in ("checklist 2", "checklist 99", "checklist two"):
        door.command("ann", words, channel=channel)
    assert now(incident).checked == []


def test_it_ends_as_a_duplicate_of_one_that_can_be_seen(door: Door, incident: Incident, channel: str) -> None:
    door.command("ben", "declare the same again")
    other = door.incident()
    assert "No such incident" in door.command("ann", "duplicate quiet-heron", channel=channel)
    door.command("ann", f"duplicate {other.codename}", channel=channel)
    assert (now(incident).status, now(incident).duplicate_of) == ("duplicate", other)


def test_services_are_named_and_cleared(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "services checkout, the <cart>", channel=channel)
    assert now(incident).services == ["checkout", "the <cart>"]
    assert "checkout, the &lt;cart&gt;" in door.command("ann", "services", channel=channel)
    door.command("ann", "services none", channel=channel)
    assert now(incident).services == []


def test_an_entry_is_changed_by_its_number(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "update carts are <slow>", channel=channel)
    n = incident.events.latest("n").n
    for words in ("edit", f"edit {n}", "edit twelve x", "edit 999 x"):
        door.command("ann", words, channel=channel)
    assert "Only the person who wrote this" in door.command("ben", f"edit {n} all is well", channel=channel)
    assert not incident.events.filter(kind="edited").exists()
    door.command("ann", f"edit {n} carts <fail>", channel=channel)
    assert incident.events.get(kind="edited").text == "carts <fail>"
    door.house.settle(incident)
    assert "carts &lt;fail&gt;" in str(door.slack.messages(channel)[-1])


def test_who_names_no_entry_is_shown_the_latest_that_may_be_meant(door: Door, incident: Incident, channel: str) -> None:
    for n in range(7):
        door.command("ann", f"note carts are <slow>, look {n}", channel=channel)
    door.command("ben", "note something else", channel=channel)
    numbers = [one.n for one in incident.events.order_by("n") if "look" in one.text]
    for verb in ("edit", "redact"):
        said = door.command("ann", verb, channel=channel).split("\n")
        assert f"`/incident {verb} 12" in said[0]
        assert all("carts are &lt;slow&gt;" in line for line in said[1:] if "something else" not in line)
        assert len(said) == 6
    shown = [int(line.split("`")[1]) for line in door.command("ann", "edit", channel=channel).split("\n")[1:]]
    assert shown == numbers[:1:-1]
    assert "something else" in door.command("ben", "edit", channel=channel)
    assert "carts" not in door.command("ben", "edit", channel=channel).partition("\n")[2]


def test_the_channel_is_archived_once_it_has_ended(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "archive", channel=channel)
    assert not now(incident).archive_asked
    door.command("ann", "resolved", channel=channel)
    door.command("ann", "archive", channel=channel)
    door.house.settle(incident)
    assert door.slack.channel(channel).is_archived
