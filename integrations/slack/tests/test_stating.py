"""Impact and next step in Slack: typed, or in the update modal, and shown where people look."""

from __future__ import annotations

import pytest

from incidents.models import Incident
from integrations.slack.tests.door import Door


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    return door.house.channel(incident)


def stated(incident: Incident) -> list[tuple[str, str, str]]:
    """Return kind, words and owner of what was stated, oldest first."""
    found = incident.events.filter(kind__in=["updated", "impact", "next_step"]).order_by("n")
    return [(one.kind, one.text, one.data.get("name", "")) for one in found]


def test_the_window_of_an_update_asks_for_both_and_says_what_holds_so_far(
    door: Door, incident: Incident, channel: str
) -> None:
    door.command("ann", "update", channel=channel)
    assert door.fields("ann") == ["text", "impact", "next_step", "owner"]
    ben = door.slack.person("ben").id
    door.submit("ann", text="we look", impact="one cart in three fails", next_step="roll back", owner=ben)
    assert stated(incident) == [
        ("updated", "we look", ""),
        ("impact", "one cart in three fails", ""),
        ("next_step", "roll back", "Ben"),
    ]
    door.house.settle(incident)
    headline, *_, update = door.slack.messages(channel)
    for message in (headline, update):
        assert "one cart in three fails" in str(message)
        assert f"<@{ben}>: roll back" in str(message)
    door.command("ann", "update", channel=channel)
    assert "So far: one cart in three fails" in door.reads(door.modal("ann"))


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("we look", [("updated", "we look", "")]),
        (
            "we look; impact: carts fail; next: @ben roll back",
            [("updated", "we look", ""), ("impact", "carts fail", ""), ("next_step", "roll back", "Ben")],
        ),
        ("we look.\nNext step: roll back", [("updated", "we look.", ""), ("next_step", "roll back", "Ann")]),
        ("impact: carts fail", [("impact", "carts fail", "")]),
        ("a <b>; impact: <c>", [("updated", "a <b>", ""), ("impact", "<c>", "")]),
        ("a > next: b", [("updated", "a > next: b", "")]),
        ("the impact: none, next: door", [("updated", "the impact: none, next: door", "")]),
    ],
)
def test_an_update_is_read_as_typed(
    door: Door, incident: Incident, channel: str, typed: str, expected: list[tuple[str, str, str]]
) -> None:
    door.command("ann", f"update {typed}", channel=channel)
    assert stated(incident) == expected


def test_each_is_stated_by_itself_and_a_step_is_cleared(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "impact carts fail", channel=channel)
    door.command("ann", "next @ben roll back", channel=channel)
    assert "roll back" in door.command("ann", "next", channel=channel)
    door.house.settle(incident)
    assert "carts fail" in str(door.slack.messages(channel)[-2])
    door.command("ann", "next none", channel=channel)
    door.house.settle(incident)
    assert "roll back" not in str(door.slack.messages(channel)[0])
    assert "No next step" in door.command("ann", "next", channel=channel)


def test_a_private_incident_opens_to_nobody_by_a_step(door: Door) -> None:
    incident = door.declared("keys", type="security", by="sam")
    channel = door.house.channel(incident)
    before = incident.last_n
    assert "Bring them in first" in door.command("sam", "next @out revoke it", channel=channel)
    door.command("sam", "update", channel=channel)
    answer = door.submit("sam", text="x", next_step="revoke it", owner=door.slack.person("out").id)
    assert "Bring them in first" in str(answer)
    assert Incident.objects.get(pk=incident.pk).last_n == before


def test_turning_private_takes_them_out_of_the_old_channel(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "update we look; impact: keys are public; next: revoke them", channel=channel)
    door.command("ann", "impact all keys are public", channel=channel)
    moved = door.house.retype(door.house.settle(incident), "security", by="ann")
    assert "keys are public" not in str(door.slack.messages(channel))
    assert "all keys are public" in str(door.slack.messages(door.house.channel(moved)))
