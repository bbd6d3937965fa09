"""What a retype does is in its plan, including each message that is overwritten, for whatever reason."""

from __future__ import annotations

import pytest

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House
from workflows.channels import rooms
from workflows.planning.plan import Plan
from workflows.reconcile import retyping
from workflows.usergroups import workspace_cache

pytestmark = pytest.mark.usefixtures("no_pages")


def confirmed(house: House, incident: Incident, to: str, *bring: str) -> tuple[Plan, list[str]]:
    """Look at a retype, confirm it, and return its plan and the resulting calls."""
    incident.refresh_from_db()
    before = len(house.writes())
    plan = house.confirm(incident, to, bring=bring)
    house.settle(incident)
    return plan, house.writes()[before:]


def rewritten(plan: Plan) -> int:
    return sum(line.count for line in plan.lines if (line.sign, line.key) == ("~", "post"))


@pytest.mark.parametrize("to", ["isolated", "security"])
def test_messages_that_are_written_over_as_a_guest_comes_or_is_shut_out_are_on_the_plan(house: House, to: str) -> None:
    house.slack.add_person("gus", name="Gus", is_restricted=True)
    workspace_cache.refresh(everybody=True)
    incident = house.declare()
    confirmed(house, incident, "internal")
    plan, calls = confirmed(house, incident, "major", "gus")
    assert calls.count("chat.update") == rewritten(plan)
    plan, calls = confirmed(house, incident, to)
    assert calls.count("chat.update") == rewritten(plan)


def test_that_turning_private_takes_its_name_out_of_duplicates_is_said(house: House) -> None:
    original, double = house.declare("Checkout is slow"), house.declare("Payments fail")
    lifecycle.duplicate(double, of=original, by=house.person("dee"), at=house.now())
    house.settle(double)
    room = house.channel(double)
    named = [text for text in house.slack.texts(room) if original.codename in text]
    assert named
    internal = retyping.preview(original, to=house.type("internal"), by=house.person("dee"))
    assert not any("duplicate" in str(note) for note in internal.notes)
    plan, _ = confirmed(house, original, "security")
    house.settle(double)
    assert not any(original.codename in text for text in house.slack.texts(room))
    assert sum("1 duplicate of it no longer names it" in str(note) for note in plan.notes) == 1


def test_an_app_in_the_channel_is_never_named_as_one_of_its_people(house: House) -> None:
    house.slack.add_person("jira", name="Jira", is_bot=True)
    workspace_cache.refresh(everybody=True)
    incident = house.declare()
    channel = house.slack.channel(house.channel(incident))
    house.slack.acts.invite("dee", channel.name, ["jira"])
    jira, dee = house.person("jira"), house.person("dee")
    rooms.came(incident, person=jira, channel_id=channel.id, at=house.now(), inviter=dee)
    for to in ("internal", "security"):
        plan = retyping.preview(incident, to=house.type(to), by=house.person("dee"))
        assert "Jira" not in "\n".join([*map(str, plan.lines), *map(str, plan.notes)])
    plan, _ = confirmed(house, incident, "internal")
    assert "Jira" not in "\n".join(map(str, plan.lines))
    card = next(one for one in reversed(house.slack.messages(channel.name)) if "free to leave" in str(one.attachments))
    assert "Ann" in str(card.attachments)
    assert "Jira" not in str(card.attachments)
