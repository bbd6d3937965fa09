"""Drills and replays from Slack, through the whole house: nothing leaves their channels."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from incidents import lifecycle
from incidents.drills import agreement, replays
from incidents.models import Event
from integrations.slack.tests.door import Door
from integrations.slack.tests.test_home import opened


def test_a_drill_is_opened_and_only_who_agreed_is_invited(door: Door) -> None:
    assert "Invite me to drills" in opened(door, "ben")
    door.press("ben", "firekind:drills", home=True)
    assert "Stop inviting me to drills" in opened(door, "ben")
    assert "Opened *practise an outage* as a drill (Major)" in door.command("dee", "drill major: practise an outage")
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


def test_a_replay_is_posted_step_by_step_and_stops_to_ask(door: Door) -> None:
    past = door.declared("checkout is slow")
    door.command("ann", "lead", channel=door.house.channel(past))
    door.command("ann", "note the xylophone pool is empty", channel=door.house.channel(past))
    door.command("ann", "resolved rolled back", channel=door.house.channel(past))
    assert "No such incident." in door.command("dee", "replay calm-heron")
    assert f"Replaying {past.codename} as " in door.command("dee", f"replay {past.codename} 600x")
    drill = door.house.settle(door.incident())
    name = door.house.channel(drill)
    at = timezone.now()
    replays.advance(at=at)
    drill = door.house.settle(drill)
    assert any("checkout is slow" in text for text in door.slack.texts(name))
    assert any("What would you do next?" in text for text in door.slack.texts(name))
    door.press("dee", "firekind:answer", channel=name)
    door.submit("dee", text="page someone")
    assert ("would_do", "page someone") in door.told(drill)
    door.press("dee", "firekind:show-next", channel=name)
    drill = door.house.settle(drill)
    shown = door.slack.texts(name)
    assert any("took the lead" in text for text in shown)
    assert not any("rolled back" in text for text in shown)
    for minutes in range(1, 20):
        replays.advance(at=at + timedelta(minutes=minutes))
    door.house.settle(drill)
    shown = door.slack.texts(name)
    assert sum("rolled back" in text for text in shown) == 1
    assert sum("The replay is over" in text for text in shown) == 1
    assert all(text.startswith("Drill") for text in shown)


def test_only_who_may_see_the_past_is_invited_to_a_private_replay(door: Door) -> None:
    past = door.declared("keys leaked", type="security", by="sam")
    door.command("sam", "resolved rotated", channel=door.house.channel(past))
    for handle in ("sia", "ann", "pia"):
        agreement.agree(door.house.person(handle), agrees=True)
    door.command("sam", f"replay {past.codename}")
    drill = door.house.settle(door.incident())
    assert drill.private
    name = door.house.channel(drill)
    assert door.slack.members(name) == {"firekind", "sam", "sia"}
    ann, at = door.house.person("ann"), timezone.now()
    lifecycle.break_glass(drill.codename, by=ann, because="I have to see what is in it now", at=at)
    drill = door.house.settle(drill)
    assert door.slack.members(name) == {"firekind", "sam", "sia"}
    replays.advance(at=at + timedelta(minutes=9))
    assert not Event.objects.filter(incident=drill, kind="replayed").exists()
