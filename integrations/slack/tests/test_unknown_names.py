"""An unknown name is refused by name where a person is expected first, with nothing half done; later it is text."""

from __future__ import annotations

import pytest

from incidents.models import Event, Followup, Incident, Participant
from integrations.slack.tests.door import Door

ASKING = (
    *("next {} roll back", "task {} roll back", "followup {} roll back", "lead {}", "bring {}", "role Scribe {}"),
    *("update we look; next: {} roll back", "lead {} @ben", "lead @ben {}", "bring @ben {}"),
)


def kept(incident: Incident) -> tuple[object, ...]:
    """Return everything that these commands could have left behind."""
    now = Incident.objects.get(pk=incident.pk)
    events = Event.objects.filter(incident=incident).count()
    people = Participant.objects.filter(incident=incident).count()
    return now.last_n, now.lead_id, now.revision, events, people, Followup.objects.filter(incident=incident).count()


@pytest.mark.parametrize("said", ASKING)
@pytest.mark.parametrize("who", ["ann", "ben"])
@pytest.mark.parametrize("name", ["nobody", "no.one-here", "Ann-Marie", "ann_"])
def test_a_name_that_nobody_has_is_refused_by_name_and_nothing_is_kept(
    door: Door, incident: Incident, said: str, who: str, name: str
) -> None:
    before = kept(incident)
    answer = door.command(who, said.format(f"@{name}"), channel=door.house.channel(incident))
    assert f"I don't know @{name}." in answer
    assert "\n" not in answer
    assert kept(incident) == before


@pytest.mark.parametrize(
    "words",
    [
        "ask ops@example.com for the keys",
        "roll back left-pad@1.2.0",
        "@types/node back to 20",
        "tell @database-guild about it",
        "ask @nobody later",
        "mail the customers @ 14:00",
        "@ 14:00 roll back",
        "@support rolls back",
    ],
)
@pytest.mark.parametrize("verb", ["next", "task", "followup"])
def test_an_at_sign_that_is_no_leading_name_stays_text(door: Door, incident: Incident, verb: str, words: str) -> None:
    door.command("ann", f"{verb} {words}", channel=door.house.channel(incident))
    newest = Event.objects.filter(incident=incident).order_by("n").last()
    assert newest is not None
    assert newest.text == words


def test_a_name_that_somebody_has_is_theirs(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    door.command("ann", "next @ben roll back", channel=channel)
    newest = Event.objects.filter(incident=incident).order_by("n").last()
    assert newest is not None
    assert (newest.text, newest.data["name"]) == ("roll back", "Ben")
    assert "leads" in door.command("ann", "lead @ben", channel=channel)
