"""Who is in, and why: the plan, the list of people, the channel and everyone's access agree."""

from __future__ import annotations

from incidents import lifecycle, visibility
from incidents.models import Incident
from integrations.tests.house import House
from workflows import terminal
from workflows.reconcile import retyping
from workflows.usergroups import workspace_cache


def told(incident: Incident) -> dict[str, dict[str, object]]:
    """Return the people in the terminal's JSON, by handle."""
    return {one["name"].casefold(): one for one in terminal.about(incident, reader=visibility.OPERATOR)["people"]}


def inside(house: House, incident: Incident) -> set[str]:
    return set(house.slack.members(house.channel(incident))) - {"firekind"}


def test_who_retypes_to_a_private_type_comes_along_though_they_neither_declared_nor_lead(house: House) -> None:
    incident = house.retype(house.declare(by="dee"), "security", by="ben")
    assert "ben" in inside(house, incident)
    assert told(incident)["ben"]["needed"]
    assert told(incident)["ben"]["state"] == "in the channel"


def test_who_declared_keeps_sight_although_somebody_else_retypes_it(house: House) -> None:
    incident = house.retype(house.declare(by="dee"), "security", by="ben")
    assert visibility.may_see(house.person("dee"), incident)
    assert "dee" in inside(house, incident)


def test_after_two_changes_of_lead_one_leads(house: House) -> None:
    incident = house.declare(by="dee")
    for name in ("ann", "ben", "eve"):
        lifecycle.set_lead(incident, lead=house.person(name), by=house.person("dee"), at=house.now())
        incident = house.settle(incident)
    assert [name for name, one in told(incident).items() if "leads" in str(one["why"])] == ["eve"]
    lines = " ".join(map(str, retyping.preview(incident, to=house.type("major"), by=house.person("dee")).lines))
    assert lines.count("leads") == 1


def test_a_member_of_a_group_that_the_type_names_is_needed(house: House) -> None:
    incident = house.retype(house.declare(by="dee"), "major", by="ben")  # ben comes with @support or another group
    house.slack.acts.set_group("support", ["sue"])
    workspace_cache.refresh()
    incident = house.retype(house.settle(incident), "isolated", by="ann")
    assert told(incident)["ben"]["needed"]
    assert "@incident-response" in str(told(incident)["ben"]["why"])


def test_who_comes_into_a_group_later_is_not_let_into_a_private_incident(house: House) -> None:
    incident = house.declare(type="security", by="dee")
    house.slack.acts.set_group("security", ["sam", "sia", "out"])
    workspace_cache.refresh()
    incident = house.settle(incident)
    assert "out" not in inside(house, incident)
    assert not visibility.may_see(house.person("out"), incident)


def test_a_guest_who_led_and_was_never_invited_changes_no_message_later(house: House) -> None:
    house.slack.add_person("gus", name="Gus", is_restricted=True)
    workspace_cache.refresh(everybody=True)
    incident = lifecycle.declare("Keys", by=house.person("dee"), at=house.now(), type=house.type("ambiguous"))
    for lead in ("gus", "ben"):
        incident = lifecycle.set_lead(incident, lead=house.person(lead), by=house.person("ben"), at=house.now())
    incident = house.retype(incident, "internal")
    house.slack.calls.clear()
    house.settle(incident)
    assert [call.method for call in house.slack.calls] == []
