"""Which pages should be open: by the type, by hand, kept because someone answered; and who cannot be reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from workflows.planning import pages
from workflows.planning.pages import (
    ACKNOWLEDGED,
    OPENING,
    RESOLVED,
    TRIGGERED,
    Callee,
    Paged,
    RequestedPage,
    Stranger,
    WantedPage,
)
from workflows.planning.wording import page_notes
from workflows.tests.shipped_facts import someone

MAX, EVE = someone("max"), someone("eve")
WEB = Callee("policy/PW", "Web", "S1", (MAX,), "pages Max")
DB = Callee("policy/PD", "Database", "S2", (EVE,))
HOMELESS = Callee("policy/PH", "Homeless", "")
KNOWN = {"Web": WEB, "Database": DB, "Homeless": HOMELESS, "Gone": None}


def page(status: str = TRIGGERED, *, turn: int = 1, **given: object) -> Paged:
    """A page to Web that was opened before."""
    made = Paged(pages.key_of("policy/PW", turn=turn), "policy/PW", "Web", "S9", status, (EVE,))
    return replace(made, **given)  # type: ignore[arg-type]  # a table of pages


def void(turn: int = 1) -> Paged:
    return page(RESOLVED, turn=turn, withdrawn=True)


def wanted(
    *names: str, paged: Sequence[Paged] = (), asked: Sequence[RequestedPage] = (), room: int = 1
) -> list[WantedPage]:
    return list(pages.wanted(names, callees=KNOWN, asked=asked, paged=paged, room=room))


@pytest.mark.parametrize(
    ("paged", "asked", "key", "again"),
    [
        ([], [], "page/policy/PW", False),
        ([page()], [], "page/policy/PW", False),
        ([page(ACKNOWLEDGED)], [], "page/policy/PW", False),
        ([page(RESOLVED)], [], "page/policy/PW", False),  # resolved in the pager: counts
        ([page(RESOLVED, withdrawn=True, answered=True)], [], "page/policy/PW", False),
        ([void()], [], "page/policy/PW/2", True),  # withdrawn before anyone answered
        ([void(), void(2)], [], "page/policy/PW/3", True),
        ([void(), page(turn=2)], [], "page/policy/PW/2", False),
        ([], [RequestedPage(WEB)], "page/policy/PW", False),
        ([void()], [RequestedPage(WEB, 2)], "page/policy/PW/2", False),
        ([page(RESOLVED)], [RequestedPage(WEB, 2)], "page/policy/PW/2", False),
        ([void(2)], [RequestedPage(WEB, 2)], "page/policy/PW/3", True),
        ([], [RequestedPage(DB)], "page/policy/PW", False),
    ],
)
def test_a_type_pages_again_only_what_was_withdrawn_unanswered(
    paged: list[Paged], asked: list[RequestedPage], key: str, again: bool
) -> None:
    first = wanted("Web", paged=paged, asked=asked)[0]
    assert (first.key, first.again, first.brings) == (key, again, True)
    assert ("again" in first.label) == again


@pytest.mark.parametrize("name", ["Gone", "Homeless", "Never heard of"])
def test_nobody_is_paged_where_there_is_nobody_or_nothing_to_page_on(name: str) -> None:
    assert wanted(name) == []


def test_a_name_that_the_pager_lost_stands_for_what_was_paged_under_it_unless_that_was_taken_back() -> None:
    lost = page(name="Gone", ref="policy/PG", key="page/policy/PG")
    (one,) = wanted("Gone", paged=[lost])
    assert (one.key, one.callee.ref) == ("page/policy/PG", "policy/PG")
    assert wanted("Gone", paged=[replace(lost, status=RESOLVED, withdrawn=True)]) == []
    assert wanted("PG", paged=[lost])[0].key == "page/policy/PG"


def test_each_is_paged_once_however_often_it_is_named() -> None:
    assert [one.callee.name for one in wanted("Web", "Database", "Web")] == ["Web", "Database"]
    assert len(wanted("Web", asked=[RequestedPage(WEB)], paged=[page(ACKNOWLEDGED)])) == 1


def test_what_is_open_keeps_its_service_and_whom_it_reached() -> None:
    (one,) = wanted("Web", paged=[page(ACKNOWLEDGED, by="Eve")])
    assert (one.callee.service, one.callee.people, one.before) == ("S9", (EVE,), "acknowledged by Eve")
    (new,) = wanted("Web")
    assert (new.callee.service, new.callee.people, new.before) == ("S1", (MAX,), "")


def test_what_someone_is_on_stays_open_although_nothing_asks_for_it_and_brings_nobody() -> None:
    (one,) = wanted(paged=[page(ACKNOWLEDGED)])
    assert (one.key, one.brings) == ("page/policy/PW", False)
    for status in (OPENING, TRIGGERED, RESOLVED):
        assert wanted(paged=[page(status)]) == []


@pytest.mark.parametrize(("room", "brings"), [(1, True), (2, False)])
def test_whom_someone_paged_by_hand_comes_into_the_room_of_then_alone(room: int, brings: bool) -> None:
    (one,) = wanted(asked=[RequestedPage(WEB, room=room)])
    assert (one.key, one.brings) == ("page/policy/PW", brings)


# one page


@pytest.mark.parametrize(
    ("status", "withdrawn", "answered", "is_open", "is_void"),
    [
        (OPENING, False, False, True, False),
        (TRIGGERED, True, False, True, False),  # it is being withdrawn
        (ACKNOWLEDGED, True, True, True, False),
        (RESOLVED, False, False, False, False),
        (RESOLVED, True, True, False, False),
        (RESOLVED, True, False, False, True),
    ],
)
def test_a_page_counts_unless_it_was_taken_back_before_anyone_answered(
    status: str, withdrawn: bool, answered: bool, is_open: bool, is_void: bool
) -> None:
    one = page(status, withdrawn=withdrawn, answered=answered)
    assert (one.is_open, one.is_void) == (is_open, is_void)


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (page(OPENING), ""),
        (page(TRIGGERED, by="Max"), ""),
        (page(ACKNOWLEDGED), "acknowledged"),
        (page(ACKNOWLEDGED, by="Max"), "acknowledged by Max"),
        (page(RESOLVED, answered=True), "someone answered"),
        (page(RESOLVED, answered=True, by="Max"), "Max answered"),
        (page(RESOLVED), "it was resolved in PagerDuty"),
    ],
)
def test_how_a_page_stands_in_words(one: Paged, says: str) -> None:
    assert one.says == says


def test_keys_count_the_pages_to_one_and_the_same() -> None:
    for turn in (1, 2, 17):
        key = pages.key_of("service/PX", turn=turn)
        assert pages.turn_of(key, "service/PX") == turn
        assert page(turn=turn).turn == turn
    assert pages.key_of("service/PX", turn=1) == pages.key_of("service/PX") == "page/service/PX"
    assert RequestedPage(WEB, 3).key == "page/policy/PW/3"


@pytest.mark.parametrize(
    ("said", "means"),
    [("Web", True), ("wEB", True), ("PW", True), ("We", False), ("pw", False), ("W", False), ("policy", False)],
)
def test_a_policy_names_what_it_pages_by_name_or_by_the_pagers_id(said: str, means: bool) -> None:
    assert page().goes_to(said) is means


def test_who_is_known_late_comes_with_those_it_paged_while_it_is_public() -> None:
    stranger = Stranger("PMAX", "Max", "was not matched")
    one = page(late=((MAX, stranger),))
    assert one.brought == (EVE, MAX)
    assert (one.closed(()).brought, one.closed(()).strangers) == ((EVE,), (stranger,))
    assert one.closed({"MAX"}).strangers == ()


def test_a_page_says_where_it_goes_in_words_and_in_values() -> None:
    (one,) = wanted("Web")
    assert one.label == "Web (pages Max)"
    assert wanted("Database")[0].label == "Database"
    assert one.spec("It burns") == {"target": "policy/PW", "name": "Web", "service": "S1", "title": "It burns"}


# what is missing


def missing(*names: str, paged: Sequence[Paged] = ()) -> dict[str, str]:
    return dict(page_notes.missing(names, callees=KNOWN, paged=paged, type_name="Major"))


def test_what_cannot_be_paged_is_missing_and_says_what_to_do() -> None:
    found = missing("Web", "Gone", "Unread", "Homeless")
    assert list(found) == ["page/Gone", "page/Unread", "page/Homeless"]
    assert "has no escalation policy or service Gone" in found["page/Gone"]
    assert "Major" in found["page/Gone"]
    assert "could not be read yet" in found["page/Unread"]
    assert "PAGERDUTY_SERVICE" in found["page/Homeless"]


def test_what_was_paged_before_is_not_missing_unless_it_was_taken_back() -> None:
    lost = page(name="Gone")
    assert not missing("Gone", paged=[lost])
    assert missing("Gone", paged=[replace(lost, status=RESOLVED, withdrawn=True)])
    assert list(missing("Gone", "Unread", paged=[lost])) == ["page/Unread"]


def test_strangers_are_named_once_and_in_private_only_by_pages_that_bring_people() -> None:
    uma, bob = Stranger("PB", "Uma", "they are a guest"), Stranger("PA", "Bob", "they left")
    both = [
        WantedPage("page/1", replace(WEB, strangers=(uma, bob))),
        WantedPage("page/2", replace(DB, strangers=(uma,)), brings=False),
    ]
    assert [key for key, _ in page_notes.strangers(both, private=False)] == ["callee/PA", "callee/PB"]
    assert [key for key, _ in page_notes.strangers(both[1:], private=False)] == ["callee/PB"]
    assert [key for key, _ in page_notes.strangers(both[1:], private=True)] == []
    public, private = uma.says(private=False), uma.says(private=True)
    assert all(word in says for says in (public, private) for word in ("Uma", "they are a guest"))
    assert "not in this private incident" in private
    assert "not invited" in public
    assert dict(page_notes.strangers(both, private=True))["callee/PB"] == private
