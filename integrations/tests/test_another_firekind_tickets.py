"""Staging and production put tickets of incidents with one codename into one project: none is mixed up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Final
from unittest.mock import patch

import pytest

from integrations.tests import another_firekind, ticket_desk
from integrations.trackers.fake.board import Board
from integrations.trackers.tests.board import VENDORS
from workflows.tracker_port import Tracker

Clock = Callable[[], datetime]
WORDS: Final = "Staging rehearsal"


@pytest.mark.parametrize("kind", list(VENDORS))
def test_a_ticket_of_the_other_one_is_neither_taken_nor_changed(db: None, kind: str) -> None:
    with another_firekind.same_codenames(), patch.object(ticket_desk, "VENDORS", {kind: once_made(VENDORS[kind])}):
        with another_firekind.elsewhere(), ticket_desk.desk(kind) as other:
            other.add(WORDS)
            other.settle()
            (theirs,) = other.board.tickets
            codename, before = other.incident.codename, asdict(theirs)
        with ticket_desk.desk(kind) as ours:
            assert ours.incident.codename == codename
            ours.board.faults.add("lost", times=2)
            ours.add("Rotate the keys")
            ours.settle()
            ours.board.faults.clear()
            assert len(ours.board.tickets) == 2
            assert ours.theirs()["title"] == "Rotate the keys"
            ours.turn_private()
            ours.settle()
            assert asdict(theirs) == before


def once_made(make: Callable[[Clock], tuple[Board, Tracker]]) -> Callable[[Clock], tuple[Board, Tracker]]:
    """Create one board and its tracker for all callers."""
    made: list[tuple[Board, Tracker]] = []

    def make_once(clock: Clock) -> tuple[Board, Tracker]:
        made.extend([] if made else [make(clock)])
        return made[0]

    return make_once
