"""Verbs work as tired people type them; a full stop does not make required words count as missing."""

from __future__ import annotations

import pytest

from incidents.models import Incident
from integrations.slack.tests.door import Door

UPDATES = (
    "update: {}",
    "Update, {}",
    "UPDATE : {}",
    "update\n{}",
    "update\u00a0{}",
    "\u201cupdate {}\u201d",
    "`update {}`",
    "/incident update {}",
    "/INCIDENT  update {}",
    "*update* {}",
    "\u200bupdate {}",
    "@update {}",
)
PARTED = (
    ("open up", "Which incident is"),
    ("break glass", "Say which incident and why"),
    ("on call", "PagerDuty is not connected"),
    ("catch up", "Which incident is"),
    ("check list", "Which incident is"),
    ("time line", "Which incident is"),
    ("follow ups", "Which incident is"),
    ("?", "`/incident declare"),
    ("help?", "`/incident declare"),
)


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    """Return its channel."""
    return door.house.channel(incident)


def test_a_verb_is_understood_with_whatever_is_around_it(door: Door, incident: Incident, channel: str) -> None:
    for n, typed in enumerate(UPDATES):
        assert door.command("ann", typed.format(f"still here {n}"), channel=channel).startswith("Update posted"), typed
        assert incident.events.latest("n").text == f"still here {n}", typed


@pytest.mark.parametrize(("typed", "said"), PARTED)
def test_a_verb_of_two_words_is_one_and_declares_nothing(door: Door, incident: Incident, typed: str, said: str) -> None:
    assert door.command("ann", typed).startswith(said)
    assert Incident.objects.count() == 1


@pytest.mark.parametrize(
    "typed", ["next step: roll back", "Next step roll back", "next: roll back", "next-step roll back"]
)
def test_the_next_step_is_what_it_is(door: Door, incident: Incident, channel: str, typed: str) -> None:
    door.command("ann", typed, channel=channel)
    assert incident.events.latest("n").text == "roll back"


def test_numbers_days_and_roles_end_in_whatever_ends_a_sentence(door: Door, incident: Incident, channel: str) -> None:
    for typed in ("task fix it by tomorrow!", "task fix it by Tomorrow."):
        assert "fix it: no owner, due" in door.command("ann", typed, channel=channel)
    assert door.command("ann", "tasks done 1.", channel=channel).startswith("\u2713")
    assert door.command("ann", "tasks Done: 2!", channel=channel).startswith("\u2713")
    assert door.command("ann", "role Scribe: @ben.", channel=channel) == "The role Scribe: <@U0BEN> now."
    assert door.command("ann", "role nobody's scribe", channel=channel).startswith("Name people")
    assert door.command("ann", "lead @ben.", channel=channel).startswith("<@U0BEN> leads")
    assert "has no lead now" in door.command("ann", "lead Nobody.", channel=channel)


@pytest.mark.parametrize(
    "link",
    [
        "https://x.example/d/7",
        "<https://x.example/d/7>",
        "<https://x.example/d/7|x.example/d/7>",
        "<https://x.example/d/7|the graph>",
    ],
)
def test_a_link_is_evidence_however_slack_writes_it(door: Door, incident: Incident, channel: str, link: str) -> None:
    delivery = door.slack.acts.command("ann", channel, "/incident evidence x")
    delivery.payload["text"] = f"evidence {link} how slow"
    door.send(delivery)
    assert door.slack.ephemerals("ann")[-1].text.startswith("Link added")
    made = incident.evidence.get()
    assert (made.link, made.title) == ("https://x.example/d/7", "how slow")


def test_duplicate_of_nothing_asks_of_what(door: Door, incident: Incident, channel: str) -> None:
    assert "duplicate amber-otter`" in door.command("ann", "duplicate", channel=channel)
