from __future__ import annotations

import pytest

from incidents import timeline
from incidents.models import Event, Incident
from integrations.slack.tests.door import Door


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    """Its channel."""
    return door.house.channel(incident)


def captured(incident: Incident) -> Event:
    """The message on the timeline."""
    return incident.events.get(kind="captured")


def reads(incident: Incident) -> list[str]:
    """Return the current text of the captured messages; a retracted one is left out."""
    entries = timeline.latest(incident, limit=99, reader=None)
    return [one.text for one in entries if one.event.kind == "captured" and one.retracted is None]


def pinned(door: Door, channel: str, *, text: str = "customers call", author: str = "ben", by: str = "ann") -> str:
    """Post a message, and let someone capture it."""
    ts = door.slack.acts.say(author, channel, text)
    door.slack.acts.react(by, channel, ts, "pushpin")
    assert set(door.deliver()) == {200}
    return ts


def test_a_reaction_puts_the_message_on_the_timeline(door: Door, incident: Incident, channel: str) -> None:
    ts = pinned(door, channel, text="customers & @lea call")
    event = captured(incident)
    assert (event.text, event.data["author"]) == ("customers & @Lea call", "Ben")
    assert event.by == door.house.person("ann")
    assert f"{event.at.timestamp():.6f}" == ts
    assert event.link.startswith("https://")
    assert event.recorded_at > event.at


def test_a_reply_in_a_thread_is_captured_alone(door: Door, incident: Incident, channel: str) -> None:
    first = door.slack.acts.say("ben", channel, "in the channel")
    reply = door.slack.acts.say("lea", channel, "in the thread", thread_ts=first)
    door.slack.acts.react("ann", channel, reply, "pushpin")
    door.deliver()
    assert captured(incident).text == "in the thread"


def test_other_reactions_and_channels_are_left_alone(door: Door, incident: Incident, channel: str) -> None:
    ts = door.slack.acts.say("ben", channel, "hello")
    door.slack.acts.react("ann", channel, ts, "eyes")
    elsewhere = door.slack.acts.say("ben", "lobby", "hello")
    door.slack.acts.react("ann", "lobby", elsewhere, "pushpin")
    door.slack.calls.clear()
    door.deliver()
    assert reads(incident) == []
    assert not list(door.slack.calls)


def test_two_people_capture_it_once(door: Door, incident: Incident, channel: str) -> None:
    ts = pinned(door, channel)
    door.slack.acts.react("lea", channel, ts, "pushpin")
    door.deliver()
    assert reads(incident) == ["customers call"]


def test_taking_the_reaction_away_retracts_it(door: Door, incident: Incident, channel: str) -> None:
    ts = pinned(door, channel)
    door.slack.acts.react("lea", channel, ts, "pushpin")
    door.slack.acts.unreact("lea", channel, ts, "pushpin")
    door.deliver()
    assert reads(incident) == ["customers call"], "only the one who captured it retracts it"
    door.slack.acts.unreact("ann", channel, ts, "pushpin")
    door.deliver()
    assert reads(incident) == []
    door.slack.acts.react("ann", channel, ts, "pushpin")
    door.deliver()
    assert reads(incident) == ["customers call"], "and it comes back"


def test_an_edit_is_followed(door: Door, incident: Incident, channel: str) -> None:
    ts = pinned(door, channel)
    door.slack.acts.edit("ben", channel, ts, "customers call, @lea")
    door.deliver()
    assert reads(incident) == ["customers call, @Lea"]
    assert captured(incident).text == "customers call", "what it said first is kept"


@pytest.mark.parametrize("fault", ["missing_scope", "internal_error"])
def test_an_edit_is_followed_though_the_message_cannot_be_read(
    door: Door, incident: Incident, channel: str, fault: str
) -> None:
    ts = pinned(door, channel)
    times = None if fault == "missing_scope" else 1
    door.slack.faults.add("error", method="conversations.replies", error=fault, times=times)
    door.slack.acts.edit("ben", channel, ts, "customers call, @lea")
    told = door.slack.take_deliveries()
    answers = [door.post(one).status_code for one in told + told]
    assert reads(incident) == ["customers call, @Lea"]
    assert answers == ([503, 200] if fault == "internal_error" else [200, 200])


def test_a_message_longer_than_an_entry_is_kept_as_far_as_it_fits(door: Door, incident: Incident, channel: str) -> None:
    ts = pinned(door, channel, text="a line of a log\n" * 1_000)
    assert len(captured(incident).text) in range(3_900, 4_001)
    door.slack.acts.edit("ben", channel, ts, "another line\n" * 1_000)
    door.deliver()
    assert reads(incident)[0].startswith("another line")


def test_what_was_taken_back_stays_away_when_its_author_edits_or_deletes_it(
    door: Door, incident: Incident, channel: str
) -> None:
    ts = pinned(door, channel)
    door.slack.acts.unreact("ann", channel, ts, "pushpin")
    door.slack.acts.edit("ben", channel, ts, "customers call, they say")
    door.slack.acts.delete("ben", channel, ts)
    assert set(door.deliver()) == {200}
    assert reads(incident) == []
    assert incident.events.filter(kind="retracted").count() == 1


@pytest.mark.parametrize("undone", [False, True], ids=["stands", "was taken back"])
@pytest.mark.parametrize("first", [(), ("reply",), ("edit",), ("reply", "edit"), ("edit", "reply")], ids=" ".join)
def test_a_deletion_is_followed_whatever_was_answered_to_it(
    first: tuple[str, ...], undone: bool, door: Door, incident: Incident, channel: str
) -> None:
    ts, acts = pinned(door, channel), door.slack.acts
    replies = [acts.say("ann", channel, "which ones?", thread_ts=ts) for what in first if what == "reply"]
    if "edit" in first:
        acts.edit("ben", channel, ts, "customers call: a password")
    if undone:
        acts.unreact("ann", channel, ts, "pushpin")
    acts.delete("ben", channel, ts)
    assert set(door.deliver()) == {200}
    assert reads(incident) == []
    because = "" if undone else "deleted in Slack"
    assert [one.text for one in incident.events.filter(kind="retracted")] == [because]
    for reply in replies:  # deleting the last reply also deletes what was left of the message
        acts.delete("ann", channel, reply)
    assert set(door.deliver()) <= {200}
    assert reads(incident) == []
    assert incident.events.filter(kind="retracted").count() == 1


def test_ordinary_messages_cost_nothing(
    door: Door, incident: Incident, channel: str, django_assert_num_queries: object
) -> None:
    door.slack.acts.say("ben", channel, "hello")
    with django_assert_num_queries(0):  # type: ignore[operator]  # pytest-django's fixture has no type to name
        assert door.deliver() == [200]


def test_slack_being_away_makes_it_come_again(
    door: Door, incident: Incident, channel: str, caplog: pytest.LogCaptureFixture
) -> None:
    ts = door.slack.acts.say("ben", channel, "customers call")
    door.slack.acts.react("ann", channel, ts, "pushpin")
    door.slack.faults.add("server_error", method="conversations.replies", times=1)
    deliveries = door.slack.take_deliveries()
    asked = [one for one in map(door.post, deliveries) if one.status_code != 200]
    assert [(one.status_code, int(one["Retry-After"]) > 0) for one in asked] == [(503, True)]
    assert "in a listener" not in caplog.text, "which is for what is ours to mend"
    assert {door.post(one).status_code for one in deliveries} == {200}
    assert reads(incident) == ["customers call"]


def test_slack_refusing_for_good_does_not_make_it_come_again(door: Door, incident: Incident, channel: str) -> None:
    ts = door.slack.acts.say("ben", channel, "customers call")
    door.slack.acts.react("ann", channel, ts, "pushpin")
    door.slack.faults.add("error", method="conversations.replies", error="missing_scope")
    assert set(door.deliver()) == {200}
    assert reads(incident) == []


def test_a_shortcut_in_the_channel_adds_the_message(door: Door, incident: Incident, channel: str) -> None:
    ts = door.slack.acts.say("ben", channel, "customers call")
    door.shortcut("ann", "firekind:capture-this", channel=channel, ts=ts)
    assert reads(incident) == ["customers call"]
    assert door.slack.ephemerals("ann")[-1].text.startswith("Added to the timeline of <http")


def test_a_shortcut_elsewhere_asks_where_to(door: Door, incident: Incident) -> None:
    ts = door.slack.acts.say("out", "lobby", "mail is late as well")
    door.shortcut("out", "firekind:capture-this", channel="lobby", ts=ts)
    assert "Out: mail is late as well" in door.reads(door.modal("out"))
    door.submit("out", incident=incident.codename)
    assert reads(incident) == ["mail is late as well"]
    assert captured(incident).data["author"] == "Out"


def test_a_message_with_only_a_file_names_it(door: Door, incident: Incident, channel: str) -> None:
    ts = door.slack.acts.say("ben", channel, "x")
    delivery = door.slack.acts.shortcut("ann", "firekind:capture-this", channel=channel, ts=ts)
    delivery.payload["message"] |= {"text": "", "files": [{"title": "dashboard.png"}]}
    door.send(delivery)
    assert reads(incident) == ["dashboard.png"]
