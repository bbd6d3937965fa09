from __future__ import annotations

import re

import pytest

from incidents.models import Incident, IncidentType
from incidents.policies import types
from integrations.slack.fake.server.fields import Incomplete
from integrations.slack.tests.door import Door
from workflows.planning.wording import privacy_notes


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    """Return its channel."""
    return door.house.channel(incident)


def now(incident: Incident) -> Incident:
    """Return the incident in its current state."""
    return Incident.objects.select_related("type").get(pk=incident.pk)


def test_the_plan_is_shown_before_anything_changes(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "type major because checkout is down", channel=channel)
    shown = door.reads(door.modal("ann"))
    assert "`+`  invite Sue (@support)" in shown
    assert re.search(r"\*Brings in \d+ people · .*\*", shown[: shown.index("`+`")]), "summed up before its first step"
    assert now(incident).type.slug == "ambiguous"
    door.submit("ann")
    assert now(incident).type.slug == "major"
    retyped = incident.events.get(kind="retyped")
    assert (retyped.text, retyped.by, retyped.source) == ("checkout is down", door.house.person("ann"), "slack")
    assert door.slack.modal("ann") is None
    door.house.settle(incident)
    assert {"sue", "leo", "cat"} <= door.slack.members(channel)


@pytest.mark.parametrize("typed", ["type major users see errors", "retype major because users see errors"])
def test_a_reason_may_follow_the_type(door: Door, incident: Incident, channel: str, typed: str) -> None:
    door.command("ann", typed, channel=channel)
    door.submit("ann")
    assert incident.events.get(kind="retyped").text == "users see errors"


def test_a_reason_is_asked_not_forced(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "type time bomb because", channel=channel)
    door.submit("ann")
    assert now(incident).type.slug == "time-bomb"


def test_without_a_type_the_form_lets_one_choose_and_then_shows_the_plan(
    door: Door, incident: Incident, channel: str
) -> None:
    door.command("ann", "type", channel=channel)
    assert "`+`" not in door.reads(door.modal("ann"))
    assert "Ambiguous" not in [one["text"]["text"] for one in choices(door)]
    door.press("ann", "firekind:retype-type", value="time-bomb")
    assert "`+`  invite Eli, Eve (@engineering-oncall)" in door.reads(door.modal("ann"))
    door.submit("ann", because="it will grow")
    assert now(incident).type.slug == "time-bomb"


@pytest.mark.parametrize("form", ["declare", "type"])
def test_choosing_a_type_that_was_archived_since_the_form_was_opened_is_answered(
    door: Door, incident: Incident, channel: str, form: str
) -> None:
    door.command("ann", form, channel=channel)
    types.archive(IncidentType.objects.get(slug="major"), by=None, at=door.house.now())
    door.press("ann", f"firekind:{'retype' if form == 'type' else form}-type", value="major")
    assert "There is no type “major”" in door.reads(door.modal("ann"))


def test_sent_before_the_plan_was_drawn_it_is_drawn_instead(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "type", channel=channel)
    answer = door.submit("ann", type="major")
    assert answer["response_action"] == "update"
    assert "invite Sue (@support)" in door.reads(door.modal("ann"))
    assert now(incident).type.slug == "ambiguous"
    door.submit("ann")
    assert now(incident).type.slug == "major"


def test_to_a_private_type_it_says_what_cannot_be_undone_and_asks_who_comes_along(
    door: Door, incident: Incident, channel: str
) -> None:
    door.command("ann", "type security because keys leaked", channel=channel)
    shown = door.reads(door.modal("ann"))
    order = ("What cannot be undone", "move the conversation to a new private channel", "What closes immediately")
    assert sorted(order, key=shown.index) == list(order)
    assert f"People who saw #{channel} have already read it" in shown
    assert privacy_notes.GLASS in shown
    door.press("ann", "firekind:retype-bring", value=[door.slack.person("eve").id])
    assert "invite Eve (brought in by Ann)" in door.reads(door.modal("ann"))
    door.submit("ann")
    moved = door.house.settle(incident)
    assert moved.private
    assert door.slack.members(door.house.channel(moved)) == {"firekind", "ann", "eve", "sam", "sia", "pat"}


def test_people_chosen_after_the_plan_was_drawn_are_shown_first(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "type security", channel=channel)
    answer = door.submit("ann", bring=[door.slack.person("eve").id])
    assert answer["response_action"] == "update"
    shown = door.reads(door.modal("ann"))
    assert "The plan changed while you were reading." in shown
    assert "invite Eve (brought in by Ann)" in shown
    assert not now(incident).private
    door.submit("ann")
    assert now(incident).private


def test_a_plan_that_changed_meanwhile_is_shown_anew(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "type major", channel=channel)
    door.command("ben", "lead @eve", channel=channel)
    assert door.submit("ann")["response_action"] == "update"
    assert "The plan changed" in door.reads(door.modal("ann"))
    assert now(incident).type.slug == "ambiguous"


def test_when_somebody_else_retyped_it_the_form_says_so_and_asks_again(
    door: Door, incident: Incident, channel: str
) -> None:
    door.command("ann", "type major", channel=channel)
    door.command("ben", "type isolated", channel=channel)
    door.submit("ben")
    assert door.submit("ann")["response_action"] == "update"
    shown = door.reads(door.modal("ann"))
    assert "The plan changed while you were reading." in shown
    assert "is *Isolated* now." in shown
    door.submit("ann")
    assert now(incident).type.slug == "major"


def test_what_has_ended_is_not_retyped(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "resolved", channel=channel)
    said = f"{incident.codename} is resolved; reopen it before you retype it."
    assert door.command("ann", "type major", channel=channel) == said
    door.press("ann", "firekind:retype", channel=channel)
    assert door.slack.ephemerals("ann")[-1].text == said


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("majro", "major"), ("securty", "security"), ("bomb", "time-bomb"), ("MAJOR!1", "major"), ("Isolate", "isolated")],
)
@pytest.mark.parametrize("between", [" because ", " "])
def test_a_type_that_is_nearly_named_is_offered_and_not_chosen_and_the_reason_stays(
    door: Door, incident: Incident, channel: str, typed: str, meant: str, between: str
) -> None:
    assert door.command("ann", f"retype {typed}{between}users see errors", channel=channel) == ""
    shown = door.reads(door.modal("ann"))
    name = meant.replace("-", " ").capitalize()
    assert f"There is no type “{typed}”, so nothing has changed. Did you mean *{name}*?" in shown
    assert "`+`" not in shown, "a guess has no plan"
    with pytest.raises(Incomplete):
        door.submit("ann")
    assert now(incident).type.slug == "ambiguous"
    door.press("ann", "firekind:retype-meant")
    shown = door.reads(door.modal("ann"))
    assert "`+`" in shown
    assert "Did you mean" not in shown
    door.submit("ann")
    assert now(incident).type.slug == meant
    assert incident.events.get(kind="retyped").text == "users see errors"


def test_after_the_one_that_was_meant_another_type_can_be_chosen(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "retype secruity", channel=channel)
    door.press("ann", "firekind:retype-meant")
    door.press("ann", "firekind:retype-meant-type", value="major")
    assert door.modal("ann")["submit"]["text"] == "Retype to Major"
    door.submit("ann")
    assert now(incident).type.slug == "major"


def test_the_consequences_stand_under_the_type_before_who_comes_along(
    door: Door, incident: Incident, channel: str
) -> None:
    door.command("ann", "retype security", channel=channel)
    shown = door.reads(door.modal("ann"))
    order = ("New type", "Brings in", "What cannot be undone", "Who is coming along?", "move the conversation")
    assert sorted(order, key=shown.index) == list(order)


def test_an_app_that_is_picked_does_not_come_along(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "retype security", channel=channel)
    before = door.reads(door.modal("ann"))
    assert "Apps are left out." in before
    door.press("ann", "firekind:retype-bring", value=["firekind"])
    assert door.reads(door.modal("ann")) == before


@pytest.mark.parametrize("typed", ["sev1", "<!channel>", "x" * 300])
def test_a_type_that_nobody_knows_is_chosen_from_those_there_are_and_the_reason_stays(
    door: Door, incident: Incident, channel: str, typed: str
) -> None:
    assert door.command("ann", f"retype {typed} because it is bad", channel=channel) == ""
    assert "so nothing has changed. Choose one below." in door.reads(door.modal("ann"))
    door.press("ann", "firekind:retype-type", value="major")
    door.submit("ann")
    assert incident.events.get(kind="retyped").text == "it is bad"


def test_the_type_it_has_is_not_offered_for_one_that_is_nearly_named(door: Door, channel: str) -> None:
    door.command("ann", "retype ambigous because hm", channel=channel)
    assert "Ambiguous" not in [one["text"]["text"] for one in choices(door)]


def test_the_same_type_is_answered(door: Door, incident: Incident, channel: str) -> None:
    assert door.command("ann", "type ambiguous", channel=channel) == f"{incident.codename} is already Ambiguous."


def test_the_button_under_the_headline_opens_the_form(door: Door, incident: Incident, channel: str) -> None:
    door.press("ann", "firekind:retype", channel=channel)
    assert door.modal("ann")["title"]["text"] == "Retype"


def test_the_reason_typed_is_kept_when_the_type_changes(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "type major because users see errors", channel=channel)
    door.press("ann", "firekind:retype-type", value="isolated")
    door.submit("ann")
    assert incident.events.get(kind="retyped").text == "users see errors"


def choices(door: Door) -> list[dict[str, dict[str, str]]]:
    """Return the options of the type's drop-down."""
    block = next(one for one in door.modal("ann")["blocks"] if one["block_id"] == "type")
    options: list[dict[str, dict[str, str]]] = block["element"]["options"]
    return options
