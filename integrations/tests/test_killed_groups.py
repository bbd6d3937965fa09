"""A process is killed at any statement or request of syncing a user group: its history says who changed what, once."""

from __future__ import annotations

from typing import Any, Final

import pytest
from django.db import transaction

from integrations.tests import once
from integrations.tests.house import House
from integrations.tests.mortal import Process, mortal
from integrations.tests.test_group_sync import NINE, at, read, rule, turn
from stack.short_runs import WalkPart
from workflows import ports
from workflows.models import GroupChange, Shift
from workflows.usergroups import sync, workspace_cache

# What happened before the look, and the history afterwards.
STORIES: Final = {
    "first": ["First check."],
    "handover": ["First check.", "Handover."],
    "edited": ["First check.", "Someone changed the group in Slack; Firekind restored it."],
}
BY_HAND: Final = ("Someone changed it in Slack.", ["U0EVE", "U0ELI"], ["U0ANN"])


def _happens(house: House, story: str) -> None:
    turn("ann", end=NINE if story == "handover" else None)
    if story == "handover":
        turn("ben", NINE)
    rule()
    read(-1)
    if story != "first":
        sync.sync(at=at(-0.5))
    if story == "edited":
        house.slack.acts.set_group("support", ["eve", "eli"])
        workspace_cache.refresh(at=at(0.4))


def _outcome(built: House, story: str, *, process: Process, again: bool) -> dict[str, Any]:
    """Return what a killed look led to; with ``again``, a new shift begins before the next look."""
    house = once.copied(built)
    with transaction.atomic(), ports.using(chat=house.chat), pytest.MonkeyPatch.context() as patch:
        _happens(house, story)
        with mortal(patch, process):
            sync.sync(at=at(0.5))
        if again:
            Shift.objects.update(start_at=None, end_at=at(1))
            turn("cat", at(1))
        for n in range(1, 12):
            sync.sync(at=at(0.5 + n))
        workspace_cache.refresh(at=at(13))
        sync.sync(at=at(13))
        moves = [(one.says, one.joined, one.left) for one in GroupChange.objects.order_by("pk")]
        members = sorted(house.slack.group("support").members)
        found = {"members": members, "moves": moves, "due": sync.due(at=at(14))}
        transaction.set_rollback(True)
    return found


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("story", STORIES)
def test_a_change_of_ours_is_recorded_as_ours(house: House, story: str, again: bool, part: WalkPart) -> None:
    """With a new shift in between, the killed look's change is skipped if it was never sent."""
    lived = Process()
    expected = _outcome(house, story, process=lived, again=again)
    assert [says for says, *_ in expected["moves"]][: len(STORIES[story])] == STORIES[story]
    for dies_at in part.of(range(1, lived.moments + 1)):
        killed = Process(dies_at)
        found = _outcome(house, story, process=killed, again=again)
        assert (found["members"], found["due"]) == (expected["members"], expected["due"]), killed.died
        assert again or found["moves"] == expected["moves"], killed.died
        assert {says for says, *_ in found["moves"]} <= {says for says, *_ in expected["moves"]}, killed.died
        first, *rest = found["moves"]
        members = set(house.slack.group("support").members)
        for _, joined, left in (first, *([BY_HAND] if story == "edited" else []), *rest):
            members = members - {*left} | {*joined}
        assert sorted(members) == found["members"], killed.died
