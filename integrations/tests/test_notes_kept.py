"""A retype to private says what happens to the old channel, and that is what is done, however far it had come."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House
from workflows import ports
from workflows.channels import rooms
from workflows.effects import effect_queue
from workflows.performing import perform
from workflows.planning import actions
from workflows.reconcile import reconcile, retyping

# What each part of the note means in Slack, and how it reads.
MEANS = {
    "chat.update": r"\bof our messages? (?:is|are) withdrawn\b",
    "conversations.setTopic": r"topic is cleared",
    "chat.postMessage": r"neutral line is posted",
    "conversations.archive": r"channel is archived\.",
}


@pytest.mark.parametrize("few", range(7))
@pytest.mark.parametrize("archived", [False, True])
def test_what_is_said_of_the_old_channel_is_what_is_done_there(house: House, few: int, archived: bool) -> None:
    incident = lifecycle.declare("Keys", by=house.person("dee"), at=house.now(), type=house.type("ambiguous"))
    begun(house, incident, few)
    old = incident.resources.get(key="channel/1").external_id
    if archived:
        house.slack.acts.join("out", old)
        house.slack.acts.archive("out", old)
        rooms.archived_by_hand(old, archived=True, at=house.now())
    plan = retyping.preview(incident, to=house.type("security"), by=house.person("dee"))
    said = " ".join(note.text for note in plan.notes if note.heading == "What moves")
    before = len(list(house.slack.calls))
    house.retype(incident, "security")
    done = [call.method for call in list(house.slack.calls)[before:] if call.args.get("channel") == old and call.ok]
    assert {method: bool(re.search(words, said)) for method, words in MEANS.items()} == {
        method: method in done for method in MEANS
    }
    count = re.search(r"(\d+) of our messages? (?:is|are) withdrawn", said)
    assert int(count[1] if count else 0) == done.count("chat.update")


def test_nothing_is_said_to_happen_in_slack_while_it_is_not_connected(house: House) -> None:
    incident = house.declare("Keys")
    before = len(list(house.slack.calls))
    with ports.using(chat=None):
        plan = retyping.preview(incident, to=house.type("security"), by=house.person("dee"))
        incident = house.retype(incident, "security")
    assert len(list(house.slack.calls)) == before
    said = " ".join(note.text for note in plan.notes)
    assert not [words for words in (*MEANS.values(), "replaced by one neutral line") if re.search(words, said)]
    assert "what Firekind said in it stays" in said


def begun(house: House, incident: Incident, few: int) -> None:
    """Create the channel, then do a few more things in order; from six on, everything."""
    reconcile.reconcile(incident.pk, at=timezone.now())
    kinds = actions.of_queue("effects", ports=["chat"])
    for _ in range(few + 1):
        for work in effect_queue.claim(incident.pk, at=timezone.now(), limit=1, kinds=kinds):
            perform.perform(house.chat, work, kinds=[])
    if few == 6:
        house.settle(incident)
