from __future__ import annotations

import pytest

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.tests.door import Door
from workflows.models import Effect


@pytest.mark.parametrize(("verb", "kind"), [("update", "updated"), ("resolve", "resolved")])
def test_a_button_under_the_headline_opens_its_form(door: Door, incident: Incident, verb: str, kind: str) -> None:
    channel = door.house.channel(incident)
    door.press("ann", f"firekind:{verb}", channel=channel)
    door.submit("ann", text="it was the cache")
    last = incident.events.latest("n")
    assert (last.kind, last.text) == (kind, "it was the cache")


def test_an_update_written_beside_another_goes_through_once_that_was_read(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    door.press("ann", "firekind:update", channel=channel)
    door.command("ben", "update customers call", channel=channel)
    door.submit("ann", text="we roll back")
    assert "Ben customers call" in door.reads(door.modal("ann"))
    assert incident.events.filter(kind="updated").count() == 1
    door.submit("ann", text="we roll back")
    assert door.slack.modal("ann") is None
    assert incident.events.latest("n").text == "we roll back"


def test_the_lead_is_taken_once_and_from_nobody(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    (headline,) = door.slack.pinned(channel)
    door.press("ann", "firekind:take-lead", channel=channel)
    door.press("ben", "firekind:take-lead", channel=channel)
    assert door.slack.person("ann").id in door.slack.ephemerals("ben")[-1].text
    incident.refresh_from_db()
    assert incident.lead == door.house.person("ann")
    door.house.settle(incident)
    assert "take-lead" not in str(headline.attachments)
    assert door.slack.person("ann").id in str(headline.attachments)


def test_a_headline_grows_no_older_and_is_not_edited_for_what_time_alone_changes(
    door: Door, incident: Incident
) -> None:
    incident.refresh_from_db()
    assert incident.update_due_at is not None
    due, (headline,) = str(int(incident.update_due_at.timestamp())), door.slack.pinned(door.house.channel(incident))
    assert due in str(headline.attachments)
    door.slack.calls.clear()
    lifecycle.update_fell_due(incident, at=incident.update_due_at)
    door.house.settle(incident)
    assert [call.method for call in door.slack.calls] == ["chat.postMessage"]  # the reminder
    assert due in str(headline.attachments)


def test_after_the_end_there_is_a_way_back(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    door.command("ann", "resolved", channel=channel)
    door.house.settle(incident)
    door.press("ann", "firekind:reopen", channel=channel)
    door.submit("ann")
    incident.refresh_from_db()
    assert incident.status == "open"


def test_what_failed_is_tried_again(door: Door) -> None:
    door.slack.faults.add("error", method="conversations.setTopic", error="restricted_action", times=1)
    incident = door.declared()
    channel = door.house.channel(incident)
    failed = Effect.objects.get(incident=incident, state="failed")
    door.press("ann", "firekind:retry", channel=channel)
    assert door.slack.ephemerals("ann")[-1].text == "Retrying now."
    door.house.settle(incident)
    failed.refresh_from_db()
    assert failed.state == "done"
    door.press("ann", "firekind:retry", channel=channel)
    assert door.slack.ephemerals("ann")[-1].text.startswith("Nothing to retry here")


def test_a_form_that_slack_does_not_open_is_explained(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    door.slack.faults.add("error", method="views.open", error="expired_trigger_id", times=1)
    door.press("ann", "firekind:update", channel=channel)
    assert door.slack.ephemerals("ann")[-1].text == "That took too long for Slack to open a window. Try again."


def test_a_button_of_another_app_or_a_link_is_acknowledged(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    pressed = door.slack.acts.press("ann", "firekind:update", channel=channel)
    assert pressed is not None
    shown = len(door.slack.ephemerals("ann"))
    for action_id in ("firekind:open", "somebody-elses"):
        pressed.payload["actions"][0]["action_id"] = action_id
        answer = door.post(pressed)
        assert (answer.status_code, answer.content) == (200, b"")
        assert len(door.slack.ephemerals("ann")) == shown


def test_a_button_of_another_version_says_that_it_does_nothing(door: Door, incident: Incident) -> None:
    pressed = door.slack.acts.press("ann", "firekind:update", channel=door.house.channel(incident))
    assert pressed is not None
    pressed.payload["actions"][0]["action_id"] = "firekind:no-longer-there"
    assert door.post(pressed).status_code == 200
    assert "another version" in door.slack.ephemerals("ann")[-1].text
