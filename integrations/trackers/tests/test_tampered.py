"""A field of a tracker's answer is missing, null or of another type: it is read alike or refused, never recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from integrations.tests import tampering
from integrations.trackers.adapter.wire import NeverSent, TrackerReply, TrackerRequest
from integrations.trackers.fake.board import Board
from integrations.trackers.tests.board import VENDORS, TickingClock
from workflows.ports import VendorError
from workflows.tracker_port import TicketDraft, Tracker

SINCE: Final = datetime(2026, 11, 20, 8, tzinfo=UTC)
FIELDS: Final = {"title": "Rotate the keys", "state": "open", "owner": "ann-there", "due": "2026-12-01"}
DRAFT: Final = TicketDraft(FIELDS, "from here", "mark")

Call = Callable[[Tracker, str], object]
CALLS: Final[dict[str, Call]] = {
    "open": lambda tracker, ref: tracker.open_ticket(TicketDraft(FIELDS, "from here", "another")),
    "open closed": lambda tracker, ref: tracker.open_ticket(TicketDraft(FIELDS | {"state": "done"}, "", "another")),
    "open again": lambda tracker, ref: tracker.open_ticket(DRAFT),
    "find": lambda tracker, ref: tracker.find_ticket("mark", private=False, since=SINCE),
    "look": lambda tracker, ref: tracker.look_at_ticket(ref),
    "look for a lost one": lambda tracker, ref: tracker.look_at_ticket("404"),
    "change": lambda tracker, ref: tracker.change_ticket(ref, FIELDS | {"title": "New words"}),
    "close": lambda tracker, ref: tracker.change_ticket(ref, {"state": "dropped"}),
    "withdraw": lambda tracker, ref: tracker.withdraw_ticket(ref),
    "changed": lambda tracker, ref: tracker.changed_tickets(SINCE),
}


class KeptAnswers:
    """Carries requests to a stand-in and keeps what it says, or says what it was ``told``, and after that nothing."""

    def __init__(self, board: Board, told: list[tuple[int, Any]] | None = None) -> None:
        self.board, self.told = board, told
        self.kept: list[tuple[int, Any]] = []

    def __call__(self, asked: TrackerRequest) -> TrackerReply:
        if self.told is None:
            answered = self.board.serve(asked.method, asked.url, asked.headers, asked.body)
            self.kept.append((answered.status, answered.body))
            status, body = self.kept[-1]
        elif self.told:
            status, body = self.told.pop(0)
        else:
            raise NeverSent("nothing more was told")
        return TrackerReply(status, b"" if body is None else json.dumps(body).encode())


def opened(vendor: str) -> tuple[KeptAnswers, Tracker, str]:
    """Return a tracker with one ticket, what carries to it, and the ticket's reference."""
    board, _ = VENDORS[vendor](TickingClock())
    carried = KeptAnswers(board)
    tracker = VENDORS[vendor](TickingClock(), carried)[1]
    ref = tracker.open_ticket(DRAFT).ref
    carried.kept.clear()
    return carried, VENDORS[vendor](TickingClock(), carried)[1], ref


@pytest.mark.parametrize("named", sorted(CALLS))
@pytest.mark.parametrize("vendor", sorted(VENDORS))
def test_no_field_of_another_type_is_taken_for_an_answer(vendor: str, named: str) -> None:
    carried, tracker, ref = opened(vendor)
    with suppress(VendorError):
        CALLS[named](tracker, ref)
    assert carried.kept
    for how, told in tampering.retold(carried.kept):
        with suppress(VendorError):
            result = CALLS[named](VENDORS[vendor](TickingClock(), KeptAnswers(carried.board, told))[1], ref)
            assert not tampering.taken(result), (how, result)


@pytest.mark.parametrize("named", sorted(CALLS))
@pytest.mark.parametrize("vendor", sorted(VENDORS))
def test_no_field_of_another_type_turns_a_refusal_into_anything_else(vendor: str, named: str) -> None:
    carried, _, ref = opened(vendor)
    limited = carried.board.limit(30)
    carried.board.token = "another"
    with pytest.raises(VendorError, match="http_401"):
        VENDORS[vendor](TickingClock(), carried)[1].look_at_ticket(ref)
    for status, answer in [*carried.kept, (limited.status, limited.body)]:
        for how, changed in tampering.tampered(answer):
            told = KeptAnswers(carried.board, [(status, changed)] * 5)
            with pytest.raises(VendorError):
                pytest.fail(f"{how}: {CALLS[named](VENDORS[vendor](TickingClock(), told)[1], ref)}")
