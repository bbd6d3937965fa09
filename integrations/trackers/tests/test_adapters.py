"""Each adapter with its stand-in: writes arrive, reads return what is there, and errors have the right meaning."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import count

import pytest

from integrations.standin.faults import OrderedFault, Struck
from integrations.trackers.fake import kept
from integrations.trackers.fake.board import Board
from integrations.trackers.protocol import webhooks
from integrations.trackers.tests.board import VENDORS, TickingClock
from workflows.ports import VendorError
from workflows.tracker_port import TicketDraft, Tracker

FIELDS = {"title": "Rotate the keys", "state": "open", "owner": "ann-there", "due": "2026-12-01"}
SINCE = datetime(2026, 11, 20, 8, tzinfo=UTC)
Pair = tuple[Board, Tracker]


@pytest.fixture(params=sorted(VENDORS))
def pair(request: pytest.FixtureRequest) -> Pair:
    return VENDORS[request.param](TickingClock())


def test_what_is_opened_is_found_by_its_mark_and_read_back(pair: Pair) -> None:
    board, tracker = pair
    for private in (False, True):
        made = tracker.open_ticket(TicketDraft(FIELDS, "from here", f"mark{private}", private))
        assert tracker.find_ticket(f"mark{private}", private=private, since=SINCE) == made
        assert tracker.find_ticket("another", private=private, since=SINCE) is None
        assert tracker.look_at_ticket(made.ref, private=private) == made
        assert {name: FIELDS[name] for name in made.fields} == made.fields
    assert {one.project for one in board.tickets} == set(board.projects)


@pytest.mark.parametrize("private", [False, True])
def test_one_that_linear_has_already_is_the_one_that_is_opened(private: bool) -> None:
    board, tracker = VENDORS["linear"](TickingClock())
    draft = TicketDraft(FIELDS, "from here", "mark", private)
    assert tracker.open_ticket(draft) == tracker.open_ticket(draft)
    assert len(board.tickets) == 1


def test_tickets_that_were_kept_are_the_same_tickets(pair: Pair) -> None:
    board, tracker = pair
    made = [
        tracker.open_ticket(TicketDraft(FIELDS, "from here", f"mark{private}", private)) for private in (False, True)
    ]
    kept_as = json.loads(json.dumps(kept.dump(board)))
    board.tickets.clear()
    kept.restore(board, kept_as)
    assert [tracker.look_at_ticket(one.ref, private=bool(n)) for n, one in enumerate(made)] == made


@pytest.mark.parametrize("state", ["done", "dropped", "open"])
def test_each_field_is_changed_alone_and_any_state_follows_any(pair: Pair, state: str) -> None:
    _, tracker = pair
    made = tracker.open_ticket(TicketDraft(FIELDS, "", "m"))
    for first in ("done", "dropped", "open"):
        tracker.change_ticket(made.ref, {"state": first})
        found = tracker.change_ticket(made.ref, {"state": state})
        assert found.fields["state"] in ({state} if state == "open" else {state, "closed"})
    before = tracker.look_at_ticket(made.ref)
    assert before is not None
    for change in ({"title": "New words"}, {"owner": "ben-there"}, {"owner": ""}, {"due": "2026-12-24"}, {"due": ""}):
        expected = {**before.fields} | {name: value for name, value in change.items() if name in before.fields}
        before = tracker.change_ticket(made.ref, change)
        assert before.fields == expected


def test_a_withdrawn_one_holds_no_words_of_ours_and_a_deleted_one_is_known_to_be(pair: Pair) -> None:
    board, tracker = pair
    made = tracker.open_ticket(TicketDraft(FIELDS, "incident amber-otter", "m"))
    tracker.withdraw_ticket(made.ref)
    ticket = board.tickets[0]
    assert ticket.state != "open"
    assert not ticket.owner
    assert "keys" not in ticket.title
    assert "amber" not in ticket.body
    board.delete(ticket)
    assert tracker.look_at_ticket(made.ref) is None
    tracker.withdraw_ticket(made.ref)


def test_what_changed_is_listed_oldest_first_with_others_among_it(pair: Pair) -> None:
    board, tracker = pair
    project = board.projects[0]
    refs = [tracker.open_ticket(TicketDraft(FIELDS, "", f"m{n}")).ref for n in range(3)]
    board.add(project, "someone else's")
    moment = board.tickets[1].created_at
    board.edit(board.tickets[0], title="Rotated")
    found = [one.ref for one in tracker.changed_tickets(moment)]
    assert [one for one in found if one in refs] == [refs[1], refs[2], refs[0]]
    assert len(found) == 4


@pytest.mark.parametrize(
    ("fault", "code", "unknown"),
    [("down", "unavailable", True), ("lost", "connection_lost", True), ("refused", "connection_failed", False)],
)
def test_what_may_have_happened_is_said_to(pair: Pair, fault: str, code: str, unknown: bool) -> None:
    board, tracker = pair
    tracker.open_ticket(TicketDraft(FIELDS, "", "another"))  # by now the adapter has looked up people and projects
    board.faults.add(fault, times=1)
    with pytest.raises(VendorError) as raised:
        tracker.open_ticket(TicketDraft(FIELDS, "", "m"))
    assert (raised.value.code, raised.value.unknown, raised.value.retryable) == (code, unknown, True)
    assert (tracker.find_ticket("m", private=False, since=SINCE) is not None) == (fault == "lost")


@pytest.mark.parametrize("fault", ["down", "lost", "broken", "limited", "refused"])
@pytest.mark.parametrize("state", ["open", "done"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_an_error_says_that_a_ticket_may_be_there_whenever_one_is(
    pair: Pair, fault: str, state: str, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever request the fault hits: a later one can fail although the ticket was opened."""
    board, tracker = pair
    tracker.open_ticket(TicketDraft(FIELDS, "", "another"))  # by now the adapter has looked up people and projects
    strike, asked = board.strike, count(1)

    def struck(method: str, path: str) -> Struck[OrderedFault]:
        if next(asked) == nth:
            board.faults.add(fault, times=1)
        return strike(method, path)

    monkeypatch.setattr(board, "strike", struck)
    error = None
    try:
        tracker.open_ticket(TicketDraft(FIELDS | {"state": state}, "", "m"))
    except VendorError as raised:
        error = raised
    assert error is None or error.unknown or len(board.tickets) == 1
    assert error is None or error.lingers == error.unknown


def test_a_rate_limit_names_its_wait(pair: Pair) -> None:
    board, tracker = pair
    tracker.open_ticket(TicketDraft(FIELDS, "", "another"))
    board.faults.add("limited", times=1, retry_after_s=37)
    with pytest.raises(VendorError) as raised:
        tracker.open_ticket(TicketDraft(FIELDS, "", "m"))
    assert raised.value.retry_after is not None
    assert 30 <= raised.value.retry_after <= 38
    assert raised.value.method == "tracker.open"


def test_a_bad_token_is_said_and_not_tried_again(pair: Pair) -> None:
    board, tracker = pair
    board.token = "another"
    with pytest.raises(VendorError) as raised:
        tracker.open_ticket(TicketDraft(FIELDS, "", "m"))
    assert not raised.value.retryable
    assert "TRACKER_TOKEN" in raised.value.says


def test_who_cannot_be_assigned_there_is_left_out(pair: Pair) -> None:
    board, tracker = pair
    board.people = ("ben-there",)
    made = tracker.open_ticket(TicketDraft(FIELDS, "", "m"))
    assert made.fields["owner"] == ""
    assert made.fields["title"] == FIELDS["title"]


@pytest.mark.parametrize("kind", sorted(VENDORS))
def test_a_webhook_is_believed_when_it_is_signed_and_says_which_ticket(kind: str) -> None:
    board, tracker = VENDORS[kind](lambda: datetime.now(UTC))
    made = tracker.open_ticket(TicketDraft(FIELDS, "", "m"))
    hook = board.hooks[-1]
    assert webhooks.is_from(kind, hook.body, hook.headers, secrets=("old", board.secret))
    assert not webhooks.is_from(kind, hook.body, {}, secrets=(board.secret,))
    assert not webhooks.is_from(kind, hook.body, hook.headers, secrets=("old",))
    assert webhooks.about(kind, hook.body, at=datetime.now(UTC)) == (tracker.place(), made.ref)
    for body in (b"{", b"[]", b"{}", b'{"issue": 3}', b"null"):
        assert webhooks.about(kind, body, at=datetime.now(UTC)) is None
