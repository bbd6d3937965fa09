"""Links to incidents that people post: previewed only where everyone may see the incident."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from incidents.models import Incident
from integrations.slack.interaction import afterwards
from integrations.slack.interaction.slack_event import SlackEvent
from integrations.slack.listeners.events import links
from integrations.slack.protocol import setup
from integrations.slack.tests.conftest import LayOut
from integrations.slack.tests.door import Door


@pytest.fixture(scope="module")
def lay_out() -> LayOut:
    return declared_with_links


def declared_with_links(door: Door) -> Incident:
    """Declare an incident in a workspace where the app sits in the lobby and is told about links to our pages."""
    door.slack.unfurl_domains = frozenset({urlsplit(setup.base_url()).hostname or ""})
    door.slack.acts.invite("ann", "lobby", ["firekind"])
    return door.declared("Checkout is slow")


def posted(door: Door, incident: Incident, channel: str, *, by: str = "ann", path: str = "") -> list[dict[str, Any]]:
    """Post a link, let Slack tell us, and return the previews below the message."""
    link = f"{setup.base_url()}{path or incident.get_absolute_url()}"
    ts = door.slack.acts.say(by, channel, f"look at {link}")
    assert set(door.deliver()) <= {200}
    shown: list[dict[str, Any]] = door.slack.channel(channel).messages[ts].attachments
    return shown


def test_a_public_incident_is_shown_where_only_people_of_the_workspace_are(door: Door, incident: Incident) -> None:
    (shown,) = posted(door, incident, "lobby")
    assert incident.codename in str(shown["blocks"])
    assert "Ambiguous" in str(shown["blocks"])


def test_the_title_is_in_no_message_of_somebody_else(door: Door, incident: Incident) -> None:
    (shown,) = posted(door, incident, "lobby")
    assert "Checkout" not in str(shown), "it could not be taken back once the incident is private"


def test_nothing_is_shown_where_a_guest_reads_along(door: Door, incident: Incident) -> None:
    door.slack.add_person("gus", name="Gus", email="gus@example.com", is_restricted=True)
    door.house.chat.people()
    door.slack.acts.invite("ann", "lobby", ["gus"])
    assert not posted(door, incident, "lobby")


def test_nothing_is_shown_where_somebody_is_whom_we_do_not_know(door: Door, incident: Incident) -> None:
    door.slack.add_person("new", name="New", email="new@example.com")
    door.slack.acts.invite("ann", "lobby", ["new"])
    door.slack.take_deliveries()
    assert not posted(door, incident, "lobby")


def test_a_private_incident_is_shown_in_its_own_room_alone(door: Door, incident: Incident) -> None:
    moved = door.house.retype(incident, "security", by="ann")
    door.slack.take_deliveries()
    assert not posted(door, moved, "lobby")
    (shown,) = posted(door, moved, door.house.channel(moved))
    assert "Checkout is slow" in str(shown["blocks"])
    assert not posted(door, moved, "lobby", by="eve")


def test_nothing_is_shown_in_its_own_room_where_somebody_reads_along_who_takes_no_part(
    door: Door, incident: Incident
) -> None:
    moved = door.house.retype(incident, "security", by="ann")
    door.slack.take_deliveries()
    room = door.house.channel(moved)
    door.slack.channel(room).members.append(door.slack.person("eve").id)  # without any event about it
    assert not posted(door, moved, room)


def test_what_is_no_incident_of_ours_is_left_alone(door: Door, incident: Incident) -> None:
    assert not posted(door, incident, "lobby", path="/incidents/no-such/")
    assert not posted(door, incident, "lobby", path="/oncall/")


def links_calls(door: Door, *, since: int) -> list[str]:
    """Return the calls made since, in order."""
    return [call.method for call in list(door.slack.calls)[since:] if call.method != "auth.test"]


def test_nothing_is_asked_about_what_is_still_being_written(door: Door, incident: Incident) -> None:
    before = len(list(door.slack.calls))
    door.slack.acts.say("ann", "lobby", f"{setup.base_url()}{incident.get_absolute_url()}")
    draft, posted = (one for one in door.slack.take_deliveries() if one.type == "link_shared")
    assert draft.payload["event"]["channel"] == "COMPOSER"
    assert door.post(draft).status_code == 200
    assert links_calls(door, since=before) == []
    assert door.post(posted).status_code == 200
    assert links_calls(door, since=before) == ["conversations.info", "conversations.members", "chat.unfurl"]


@pytest.mark.parametrize("private", [False, True])
def test_nothing_is_asked_or_logged_about_channels_we_are_not_in(
    door: Door, incident: Incident, caplog: pytest.LogCaptureFixture, *, private: bool
) -> None:
    door.slack.add_channel("elsewhere", members=["ann", "ben"], is_private=private)
    before = len(list(door.slack.calls))
    assert not posted(door, incident, "elsewhere")
    assert links_calls(door, since=before) == []
    assert [one for one in caplog.records if one.name.startswith("integrations")] == []


def test_a_channel_that_we_left_meanwhile_is_no_warning(
    door: Door, incident: Incident, caplog: pytest.LogCaptureFixture
) -> None:
    ts = door.slack.acts.say("ann", "lobby", f"{setup.base_url()}{incident.get_absolute_url()}")
    _, told = (one for one in door.slack.take_deliveries() if one.type == "link_shared")
    door.slack.channel("lobby").kind = "private"
    door.slack.channel("lobby").members.remove(door.slack.bot.id)
    assert door.post(told).status_code == 200
    assert not door.slack.channel("lobby").messages[ts].attachments
    assert [one for one in caplog.records if one.name.startswith("integrations")] == []


def test_a_preview_that_comes_before_slack_knows_of_the_answer_is_tried_again(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    ts = door.slack.acts.say("ann", "lobby", f"{setup.base_url()}{incident.get_absolute_url()}")
    _, told = (one for one in door.slack.take_deliveries() if one.type == "link_shared")
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        door.slack.acts.answered(told, 200)

    monkeypatch.setattr("integrations.slack.listeners.events.links.time.sleep", wait)
    preview = links.shared(SlackEvent.of(told.payload, at=timezone.now()))
    assert preview is not None
    with afterwards.collected() as late:
        preview()
    for deed in late:
        deed()
    assert len(waits) == 1
    assert door.slack.channel("lobby").messages[ts].attachments


def test_an_event_that_is_delivered_twice_is_shown_once(door: Door, incident: Incident) -> None:
    door.slack.acts.say("ann", "lobby", f"{setup.base_url()}{incident.get_absolute_url()}")
    _, told = (one for one in door.slack.take_deliveries() if one.type == "link_shared")
    for _ in range(2):
        assert door.post(told).status_code == 200
    assert door.slack.count("chat.unfurl") == 1


@pytest.mark.parametrize("source", ["composer", "conversations_history"])
@pytest.mark.parametrize("member", [True, False, None])
@pytest.mark.parametrize("channel", ["COMPOSER", "C0LOBBY", "D0ANN"])
def test_only_a_posted_link_in_a_channel_of_ours_leaves_anything_to_do(
    door: Door, incident: Incident, channel: str, member: bool | None, source: str
) -> None:
    event: dict[str, Any] = {
        "type": "link_shared",
        "channel": channel,
        "source": source,
        "message_ts": "1.1",
        "user": "U0ANN",
    }
    event |= {"links": [{"url": f"{setup.base_url()}{incident.get_absolute_url()}"}]}
    event |= {} if member is None else {"is_bot_user_member": member}
    told = SlackEvent.of({"event": event, "event_id": "Ev1"}, at=timezone.now())
    possible = (channel, source) == ("C0LOBBY", "conversations_history") and member is not False
    assert (links.shared(told) is not None) == possible
