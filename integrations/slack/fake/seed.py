"""Build a workspace from a YAML file of people, user groups and channels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from .workspace import Workspace

if TYPE_CHECKING:
    from .core import FakeSlack

DEMO = Path(__file__).parents[3] / "fixtures" / "workspace.yaml"


def read(path: Path = DEMO) -> dict[str, Any]:
    """Read a workspace file."""
    return dict(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


def furnish(slack: FakeSlack, about: dict[str, Any]) -> None:
    """Replace a workspace's contents with those of a file."""
    slack.replace(Workspace(**about.get("workspace", {})))
    for person in about.get("people", []):
        slack.add_person(**person)
    for group in about.get("groups", []):
        slack.add_group(**group)
    for channel in about.get("channels", []):
        _channel(slack, channel)
    slack.changed()


def _channel(slack: FakeSlack, about: dict[str, Any]) -> None:
    fields = dict(about)
    topic, messages = fields.pop("topic", ""), fields.pop("messages", [])
    if fields.get("members") == "everyone":
        people = slack.workspace.people.values()
        fields["members"] = [p.id for p in people if not (p.deleted or p.is_guest or p.is_stranger or p.is_bot)]
    channel = slack.add_channel(**fields)
    channel.topic.value = topic
    for message in messages:
        slack.acts.say(message["by"], channel.id, message["text"])
    for person in channel.members:
        channel.read[person] = slack.last_ts
    slack.take_deliveries()
