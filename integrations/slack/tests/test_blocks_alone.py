"""The words of an alert or a Slack workflow that has only blocks are read for titles, timelines and tasks."""

from __future__ import annotations

from typing import Any

import pytest

from incidents.models import Incident
from integrations.slack.fake import changes
from integrations.slack.tests.door import Door

SAID = "p95 of checkout is 9 s"
SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": f"*{SAID}*"}}
RICH = {
    "type": "rich_text",
    "elements": [
        {
            "type": "rich_text_section",
            "elements": [
                {"type": "emoji", "name": "fire"},
                {"type": "text", "text": f" {SAID} "},
                {"type": "link", "url": "https://x.example/1"},
            ],
        }
    ],
}
BUTTONS = {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Mute"}}]}
SHAPES: dict[str, dict[str, Any]] = {
    "a section": {"text": "", "blocks": [SECTION, BUTTONS]},
    "a header": {"text": "", "blocks": [{"type": "header", "text": {"type": "plain_text", "text": SAID}}]},
    "fields": {"text": "", "blocks": [{"type": "section", "fields": [{"type": "mrkdwn", "text": SAID}]}]},
    "small print": {"text": "", "blocks": [{"type": "context", "elements": [{"type": "mrkdwn", "text": SAID}]}]},
    "markdown": {"text": "", "blocks": [{"type": "markdown", "text": SAID}]},
    "rich text": {"text": "", "blocks": [RICH]},
    "what Slack says of blocks": {"text": "This content can't be displayed.", "blocks": [SECTION]},
    "blocks of an attachment": {
        "text": "",
        "attachments": [{"fallback": "[no preview available]", "blocks": [SECTION]}],
    },
    "an old attachment": {"text": "", "attachments": [{"title": "Grafana", "text": SAID, "fallback": "Grafana"}]},
    "its fields": {"text": "", "attachments": [{"fields": [{"title": "State", "value": SAID}]}]},
    "its fallback": {"text": "", "attachments": [{"fallback": SAID}]},
    "none of its parts is well made": {"text": SAID, "blocks": [None, {"type": 3}], "attachments": ["x"]},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_its_words_are_read(door: Door, incident: Incident, shape: dict[str, Any]) -> None:
    channel = door.house.channel(incident)
    ts = door.slack.acts.say("ann", channel, "x")
    message = {"ts": ts, "user": door.slack.person("ann").id, "bot_id": "B1", **shape}
    for callback_id in ("firekind:capture-this", "firekind:declare-from", "firekind:task-of"):
        delivery = door.slack.acts.shortcut("ann", callback_id, channel=channel, ts=ts)
        delivery.payload["message"] = message
        door.send(delivery)
        if callback_id != "firekind:capture-this":
            shown = str(door.modal("ann"))
            assert SAID in shown
            assert "Mute" not in shown
    assert SAID in incident.events.get(kind="captured").text


def test_an_alert_that_is_put_right_in_its_blocks_is_followed(door: Door, incident: Incident) -> None:
    channel = door.slack.channel(door.house.channel(incident))
    ts = door.slack.acts.say("ann", channel.name, "x")
    channel.messages[ts].text, channel.messages[ts].blocks = "", [SECTION]
    door.shortcut("ann", "firekind:capture-this", channel=channel.name, ts=ts)
    door.slack.take_deliveries()
    now = {"type": "section", "text": {"type": "mrkdwn", "text": "p95 is fine"}}
    changes.edit(door.slack, channel, channel.messages[ts], "U0ALERTS", blocks=[now])
    door.deliver()
    entry = incident.events.filter(kind="edited").latest("n")
    assert entry.text == "p95 is fine"
