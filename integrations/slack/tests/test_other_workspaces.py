"""A person from another workspace in a shared channel counts as a guest, whatever was known of them before.

A colleague in an organisation of many workspaces is one of us, whichever workspace Slack names.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final

import pytest
from django.utils import timezone

from incidents import visibility
from incidents.models import Event, Incident, Person
from integrations.slack import listeners
from integrations.slack.tests.door import Door
from workflows.channels import membership
from workflows.usergroups import workspace_cache

PARTNER: Final = "T0PARTNER"
SIBLING: Final = "T0SIBLING"
KNOWN: Final = ("never met", "met by a press", "met by an event", "met, and everyone was read since")


def come(door: Door, who: str, channel: str, **traits: Any) -> None:
    """Add an external person to a channel without an event about it."""
    person = door.slack.add_person(who, **traits)
    door.slack.channel(channel).members.append(person.id)


def meet(door: Door, who: str, channel: str, known: str) -> None:
    """Make a person known to this degree."""
    if known == "met by a press":
        door.press(who, "firekind:update", channel=channel)
    elif known != "never met":
        door.slack.acts.leave(who, channel)
        door.slack.acts.invite("ann", channel, [who])
        door.deliver()
    if known == "met, and everyone was read since":
        workspace_cache.refresh(everybody=True)


@pytest.mark.parametrize("known", KNOWN)
def test_who_is_in_a_private_channel_from_another_workspace_is_warned_of(door: Door, known: str) -> None:
    secret = door.declared("keys", type="security")
    channel = door.house.channel(secret)
    come(door, "pam", channel, team_id=PARTNER)
    meet(door, "pam", channel, known)
    membership.poll(at=timezone.now() + timedelta(minutes=1))
    said = Event.objects.filter(incident=secret, kind="warned").values_list("text", flat=True)
    assert ["is from another workspace" in one for one in said] == [True]


@pytest.mark.parametrize("known", KNOWN)
def test_they_may_see_what_they_take_part_in_and_nothing_else(door: Door, incident: Incident, known: str) -> None:
    other = door.declared("mail is late", by="ben")
    channel = door.house.channel(incident)
    come(door, "pam", channel, team_id=PARTNER)
    meet(door, "pam", channel, known)
    door.press("pam", "firekind:update", channel=channel)
    pam = Person.objects.get(chat_id=door.slack.person("pam").id)
    assert not visibility.may_see(pam, other)
    assert not pam.can_join


@pytest.mark.parametrize("action_id", sorted(listeners.BUTTONS))
def test_each_button_shows_them_what_it_shows_a_guest(door: Door, incident: Incident, action_id: str) -> None:
    channel = door.house.channel(incident)
    come(door, "gus", channel, is_restricted=True)
    workspace_cache.refresh(everybody=True)
    come(door, "pam", channel, team_id=PARTNER)
    shown = []
    for who in ("gus", "pam"):
        sent = door.slack.acts.press(who, "firekind:update", channel=channel)
        assert sent is not None
        sent.payload["actions"][0] |= {"action_id": action_id, "value": incident.codename}
        before = Event.objects.count()
        door.send(sent)
        modal = door.slack.modal(who)
        texts = [one.text for one in door.slack.ephemerals(who)]
        shown.append((re.sub(r"\w*-\w*", "", str(modal and door.reads(modal))), texts, Event.objects.count() - before))
    assert shown[0] == shown[1]


@pytest.mark.parametrize("team", [SIBLING, "E0SANDBOX"])
def test_a_colleague_of_whom_slack_names_another_workspace_is_one_of_us(
    door: Door, incident: Incident, team: str
) -> None:
    come(door, "cole", "lobby", team_id=team, teams=[SIBLING, door.slack.workspace.team_id])
    workspace_cache.refresh(everybody=True)
    cole = Person.objects.get(chat_id=door.slack.person("cole").id)
    assert cole.can_join
    assert "checkout is slow" in door.command("cole", f"status {incident.codename}")
    door.press("cole", "firekind:update", channel=door.house.channel(incident))
    door.submit("cole", text="I am looking")
    assert incident.events.filter(text__contains="I am looking", by=cole).exists()
    assert Person.objects.get(pk=cole.pk).can_join


def test_whoever_is_chosen_from_elsewhere_is_named_so_before_anyone_confirms(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    come(door, "pam", channel, team_id=PARTNER)
    door.command("ann", "type security because keys leaked", channel=channel)
    door.press("ann", "firekind:retype-bring", value=[door.slack.person("pam").id])
    assert "is from another workspace, so the app can't invite them" in door.reads(door.modal("ann"))


@pytest.mark.usefixtures("incident")
def test_their_home_tab_shows_nothing_that_they_take_no_part_in(door: Door) -> None:
    come(door, "pam", "lobby", team_id=PARTNER)
    for who, sees in (("pam", False), ("ben", True)):
        door.slack.acts.open_home(who)
        door.deliver()
        assert ("checkout is slow" in str(door.slack.home(who))) == sees
