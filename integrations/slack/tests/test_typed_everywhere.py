"""An incident made of the worst words: nothing anyone typed becomes a mention or a link in what Slack is sent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from incidents.models import Incident
from integrations.slack.tests import worst
from integrations.slack.tests.door import Door
from integrations.slack.tests.worst import TITLE, WORST, faults, told

pytestmark = pytest.mark.slow

READ = (
    "status", "timeline", "list", "help", "oncall", "oncall {}", "page", "page {}", "lead", "note", "update", "type",
    "type {}", "finding", "evidence", "evidence {}", "capture", "fill", "declare", "nonsense {}", "access {}",
)  # fmt: skip
WRITTEN = ("update {}", "note {}", "finding {}", "finding refuted: {} because {}", "finding refuted {}", "mitigated {}")


@pytest.fixture
def incident(door: Door) -> Iterator[Incident]:
    """The worst incident."""
    with worst.declared(door) as made:
        yield made


def test_nothing_that_slack_was_told_marks_what_was_typed(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    for typed in READ:
        door.command("ann", typed.replace("{}", WORST), channel=channel)
    for typed in WRITTEN:
        door.command("ann", typed.replace("{}", TITLE), channel=channel)
    door.slack.acts.open_home("ann")
    door.deliver()
    door.house.settle(incident)
    assert faults(told(door)) == []


def test_nor_once_it_is_private_and_over(door: Door, incident: Incident) -> None:
    moved = door.house.retype(incident, "security", by="ann")
    channel = door.house.channel(moved)
    for typed in ("status", "timeline", "type major because {}", "resolved {}", "reopen {}"):
        door.command("ann", typed.replace("{}", TITLE), channel=channel)
    door.house.settle(moved)
    assert TITLE[:20] in door.slack.topic(channel).replace("&lt;", "<").replace("&gt;", ">")
    assert faults(told(door)) == []
