"""Slack waits three seconds for an answer, then offers to submit a modal again: a repeated one acts only once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from incidents.models import Event, Incident
from integrations.slack.tests.door import Door

# The command that opens each modal, and its input.
MODALS: Mapping[str, Mapping[str, Any]] = {
    "declare": {"title": "search is slow"},
    "note": {"text": "it was the cache"},
    "update": {"text": "we roll back"},
    "impact": {"text": "half of them"},
    "task": {"text": "call the bank"},
    "followup": {"text": "write a test"},
    "evidence": {"link": "https://graphs.example/1", "title": "the graph"},
    "finding": {"claim": "it is the cache"},
    "type major": {},
}


@pytest.mark.parametrize("typed", MODALS)
def test_a_modal_whose_answer_came_too_late_is_done_once_though_it_is_sent_again(
    door: Door, incident: Incident, typed: str
) -> None:
    channel, filled = door.house.channel(incident), MODALS[typed]
    door.command("ann", typed, channel=channel)
    before = Event.objects.count()
    assert door.post(sent(door, filled)).status_code == 200  # but Slack has stopped waiting for it
    done = Event.objects.count()
    assert done > before
    answer = door.post(sent(door, filled))
    assert Event.objects.count() == done
    assert b"errors" not in answer.content, answer.content
    assert b"update" not in answer.content, answer.content


def test_what_was_changed_before_it_is_sent_again_is_not_lost(door: Door, incident: Incident) -> None:
    door.command("ann", "note", channel=door.house.channel(incident))
    for words in ("it was the cache", "it was the cache", "it was the cache of sessions"):
        door.post(sent(door, {"text": words}))
    notes = Event.objects.filter(incident=incident, kind="noted").order_by("n")
    assert list(notes.values_list("text", flat=True)) == ["it was the cache", "it was the cache of sessions"]


def sent(door: Door, filled: Mapping[str, Any]) -> Any:
    """Return the delivery of a filled-in modal, which stays open."""
    inputs = {one["block_id"]: one["element"]["action_id"] for one in door.modal("ann")["blocks"] if "element" in one}
    return door.slack.acts.submit("ann", {block_id: {inputs[block_id]: value} for block_id, value in filled.items()})
