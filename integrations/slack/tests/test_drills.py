"""Drills from Slack, through the whole house: one is opened, and nothing leaves its channel."""

from __future__ import annotations

from integrations.slack.tests.door import Door
from integrations.slack.tests.test_home import opened


def test_a_drill_is_opened_and_only_who_agreed_is_invited(door: Door) -> None:
    assert "Invite me to drills" in opened(door, "ben")
    door.press("ben", "firekind:drills", home=True)
    assert "Stop inviting me to drills" in opened(door, "ben")
    assert "opened as a drill (Major)" in door.command("dee", "drill major: practise an outage")
    drill = door.house.settle(door.incident())
    name = door.house.channel(drill)
    assert name.startswith("inc-drill-")
    assert door.slack.members(name) == {"firekind", "dee", "ben"}
    assert door.slack.topic(name).startswith("Drill")
    assert all("Drill" in text for text in door.slack.texts(name))
    assert not door.slack.texts("incidents")
    assert "*Drill*" in door.command("dee", "list")
    door.command("dee", "drill")
    assert "no one is paged" in door.reads(door.modal("dee"))
