"""What happens to public content once an incident is private, and what a retype does to the facts before it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.planning import withdrawal
from workflows.planning.desired import desired_state
from workflows.planning.facts import ChannelPost, Facts, Published, Room, Stay
from workflows.planning.pages import RESOLVED, TRIGGERED, Paged, Stranger
from workflows.planning.things import Thing
from workflows.tests.shipped_facts import POLICIES, facts, someone

DEE, ZOE, ANN = someone("dee"), someone("zoe"), someone("ann")
SECURITY = POLICIES["security"]
NEW = Room(2, "inc-new", True, "inc-new")


def told(n: int, room: int = 1, **given: object) -> ChannelPost:
    return ChannelPost(n, "noted", f"message {n}", "Dee", "noted it", f"words {n}", room, **given)  # type: ignore[arg-type]


def moved(*there: str, **given: object) -> Facts:
    """An incident that was public in room 1 and has moved to a private room 2."""
    known = facts("major").retyped(SECURITY, staying=(Stay(DEE, "declared"),), bring=())
    known = replace(known, rooms=(known.rooms[0], NEW), told=(told(1), told(2, 2), told(3)), there=frozenset(there))
    return replace(known, **given)  # type: ignore[arg-type]  # a table of facts


def by_key(things: object) -> dict[str, Thing]:
    return {one.key: one for one in things}  # type: ignore[attr-defined]


def kind(thing: Thing) -> str:
    return str(thing.spec["card"]["kind"])


# the announcement


@pytest.mark.parametrize(
    ("type", "private", "there", "becomes"),
    [
        ("major", False, False, "announcement"),
        ("major", False, True, "announcement"),
        ("internal", False, False, ""),
        ("internal", False, True, "announcement"),
        ("security", True, False, ""),
        ("security", True, True, "withdrawn"),
        ("major", True, False, ""),  # a private incident stays so, whatever its type announces
        ("major", True, True, "withdrawn"),
    ],
)
def test_an_announcement_is_kept_ended_or_emptied_and_none_is_made_in_private(
    type: str, private: bool, there: bool, becomes: str
) -> None:
    known = replace(facts(type), private=private, there=frozenset({"announcement"} if there else ()))
    found = list(withdrawal.announcement(known))
    assert [kind(one) for one in found] == ([becomes] if becomes else [])
    for one in found:
        live = type == "major" and not private
        assert (one.key, one.spec["channel"], one.room) == ("announcement", "incidents", None)
        assert one.needs == (("channel/1",) if live else ()), "what is taken back waits for nothing"
        assert (known.title in str(one.spec)) == (not private)
        assert ("No more announcements" in str(one.spec)) == (not live)


# former rooms


def test_a_room_that_was_never_opened_is_left_alone() -> None:
    assert not list(withdrawal.rooms(moved("headline/1", "told/1", "topic/1")))


def test_our_words_are_withdrawn_at_once_and_one_line_said_once_the_new_room_stands() -> None:
    found = by_key(withdrawal.rooms(moved("channel/1", "headline/1", "told/1", "topic/1")))
    assert list(found) == ["headline/1", "told/1", "topic/1", "counted/1", "farewell/1", "archived/1"]
    assert {one.room for one in found.values()} == {1}
    assert [kind(found[key]) for key in ("headline/1", "told/1", "farewell/1")] == [
        "withdrawn",
        "withdrawn",
        "farewell",
    ]
    assert found["topic/1"].spec == {"room": 1, "text": ""}
    assert {found[key].spec["room"] for key in ("headline/1", "told/1", "farewell/1", "archived/1")} == {1}
    stands = {"channel/1", "channel/2", "handover/2"}
    assert set(found["farewell/1"].needs) == stands
    assert set(found["archived/1"].needs) == stands | {"farewell/1"}
    for key in ("headline/1", "told/1", "topic/1", "counted/1"):
        assert found[key].needs == ("channel/1",), "withdrawing waits for nothing new"
    assert found["counted/1"].spec == {"room": 1}
    assert found["counted/1"].label == "what others posted in #inc-amber-otter"
    assert all("old" in found[key].label for key in ("headline/1", "topic/1", "farewell/1"))
    assert found["archived/1"].label == "#inc-amber-otter"


def test_what_was_never_posted_or_belongs_to_another_room_is_not_withdrawn() -> None:
    everywhere = moved("channel/1", "told/1", "told/2", "told/3", "headline/2", "topic/2")
    assert list(by_key(withdrawal.withdrawn(everywhere, 1))) == ["told/1", "told/3"]


def test_what_others_wrote_is_counted_in_rooms_that_everybody_could_read() -> None:
    twice = moved("channel/1", "channel/2", rooms=(moved().rooms[0], NEW, replace(NEW, number=3)), room=3)
    assert [key for key in by_key(withdrawal.rooms(twice)) if "counted" in key] == ["counted/1"]


def test_an_incident_that_ended_before_its_private_room_stood_takes_back_what_it_said() -> None:
    over = moved("announcement", "told/1", "topic/1", "headline/1", active=False, status="resolved")
    assert list(by_key(desired_state(over).things)) == ["announcement", "headline/1", "told/1", "topic/1"]
    public = replace(over, private=False, room=1)
    assert not desired_state(public).things


# a room that is itself made private


def test_everything_waits_until_the_room_itself_is_shown_as_private_but_the_channel() -> None:
    known = replace(facts("security"), rooms=(replace(facts("security").rooms[0], public=True),))
    things = by_key(desired_state(known).things)
    closed = things["closed/1"]
    assert (closed.kind, closed.room, closed.needs, closed.label) == ("closed", 1, ("channel/1",), "#inc-amber-otter")
    people = [str(one.spec["person"]) for one in things.values() if one.kind == "member"]
    assert closed.spec == {"room": 1, "people": sorted(people)}
    waiting = {key for key, one in things.items() if "closed/1" in one.needs}
    assert waiting == {key for key, one in things.items() if one.room == 1} - {"channel/1", "closed/1"}
    assert "channel/1" in things["topic/1"].needs, "it waits for both"
    for other in (replace(known, private=False), facts("security")):
        assert "closed/1" not in by_key(desired_state(other).things)


# who is told directly


def test_what_waits_for_a_hand_is_told_to_one_person_while_no_channel_stands() -> None:
    failed_before = told(3, 2, by_hand="Archive #old", retry="7")
    again, elsewhere = told(4, 2, by_hand="Archive #old", retry="7"), told(5, 1, by_hand="Long ago", retry="8")
    stays = (Stay(ANN, "joined", here=False), Stay(ZOE, "picked"), Stay(DEE, "declared"))
    known = moved(told=(failed_before, again, elsewhere, told(6, 2)), failing=frozenset({"7", "8"}), stays=stays)
    (one,) = withdrawal.direct(known)
    assert (one.key, one.kind, one.spec["person"], one.room) == ("direct/4", "direct", "ZOE", None)
    assert one.spec["card"]["text"] == "Archive #old"
    assert known.title not in str(one.spec)
    assert one.label.startswith("Zoe")
    (led,) = withdrawal.direct(replace(known, lead=DEE))
    assert led.spec["person"] == "DEE"
    (open_to_all,) = withdrawal.direct(replace(known, private=False))
    assert open_to_all.spec["card"]["text"].startswith("Archive #old\n"), "and why"
    for silent in (
        replace(known, there=frozenset({"channel/2"})),
        replace(known, failing=frozenset({"8"})),
        replace(known, stays=(Stay(replace(ZOE, chat_id=""), "picked"),)),
        replace(known, stays=()),
    ):
        assert not list(withdrawal.direct(silent))


def test_where_nobody_could_be_invited_one_person_is_told_and_the_page_says_what_is_missing() -> None:
    known = moved("channel/2", uninvited="The app is not allowed to do this here.", stays=(Stay(ZOE, "picked"),))
    (one,) = withdrawal.direct(known)
    assert (one.key, one.kind, one.spec["person"]) == ("direct/empty/2", "direct", "ZOE")
    assert known.title not in str(one.spec)
    assert [gap.key for gap in desired_state(known).gaps if gap.key.startswith("empty")] == ["empty/2"]
    for silent in (
        replace(known, uninvited=""),
        replace(known, private=False),
        replace(known, active=False),
        replace(known, there=frozenset({"channel/2", "archived/2"})),
    ):
        assert not list(withdrawal.direct(silent))
        assert not [gap for gap in desired_state(silent).gaps if gap.key.startswith("empty")]


# titles of pages


@pytest.mark.parametrize(
    ("page", "tried"),
    [
        ({"title": "Checkout is slow"}, True),
        ({"title": ""}, False),
        ({"title": "amber-otter needs you"}, False),
        ({"title": "Checkout is slow", "status": TRIGGERED}, False),  # its own thing carries its title
    ],
)
def test_the_title_of_a_page_that_ended_is_changed_where_it_says_what_it_is_about(
    page: dict[str, str], tried: bool
) -> None:
    one = Paged("page/policy/PS", "policy/PS", "Security", "S2", **{"status": RESOLVED, **page})  # type: ignore[arg-type]
    known = moved(pager=True, paged=(one,))
    found = list(withdrawal.titles(known))
    assert [(thing.key, thing.kind, dict(thing.spec)) for thing in found] == (
        [("title/page/policy/PS", "title", {"page": "page/policy/PS", "title": "amber-otter needs you"})]
        if tried
        else []
    )
    assert all("Security" in thing.label for thing in found)
    assert not list(withdrawal.titles(replace(known, private=False)))
    assert not list(withdrawal.titles(replace(known, pager=False)))


# what is published


def test_a_summary_is_said_in_a_channel_of_its_own_and_linked_where_incidents_are_announced() -> None:
    said = Published("mild-heron", "inc-mild-heron", "All is well.", "https://firekind.test/summaries/1")
    things = by_key(desired_state(moved(published=said)).things)
    assert (things["outlet"].kind, things["outlet"].spec) == ("outlet", {"name": "inc-mild-heron", "private": False})
    assert things["outlet"].label == "#inc-mild-heron"
    assert (things["summary"].spec["in"], things["summary"].needs) == ("outlet", ("outlet",))
    assert things["notice"].spec["channel"] == "incidents"
    assert things["notice"].needs == ("outlet", "summary")
    assert "notice" not in by_key(desired_state(moved(published=said, announce_channel="")).things)
    assert "outlet" not in by_key(desired_state(moved(published=said, chat=False)).things)
    assert "outlet" not in by_key(desired_state(moved()).things)


# the facts after a retype


def public() -> Facts:
    stays = (Stay(DEE, "declared"), Stay(ZOE, "group", named=True), Stay(ANN, "joined", here=False, went=True))
    known = replace(facts("major"), stays=stays, archive_asked=True, chosen={"Speaker": ZOE})
    return replace(known, lead=ZOE, roles=(("Scribe", ZOE), ("Customer contact", DEE)))


def test_turning_private_leaves_for_a_new_room_with_those_who_stay() -> None:
    after = public().retyped(SECURITY, staying=(Stay(DEE, "declared"),), bring=(ZOE,))
    assert (after.private, after.is_closed, after.room, after.revision) == (True, False, 2, 2)
    assert after.rooms[:-1] == public().rooms
    assert after.rooms[-1] == Room(2, "", True, "a new private channel")
    assert (after.lead, after.roles) == (None, (("Customer contact", DEE),))
    assert (after.chosen, after.archive_asked) == ({}, False)
    assert {stay.who.name: (stay.here, stay.went, stay.named) for stay in after.stays} == {
        "Dee": (True, False, False),
        "Zoe": (False, False, False),
        "Ann": (False, False, False),  # that she left the old room says nothing about the new one
    }
    kept = public().retyped(SECURITY, staying=(Stay(DEE, "declared"), Stay(ZOE, "lead")), bring=())
    assert (kept.lead, len(kept.roles)) == (ZOE, 2)
    assert replace(public(), lead=None).retyped(SECURITY, staying=(), bring=()).lead is None


def test_a_room_that_is_made_private_itself_stays_the_room() -> None:
    after = public().retyped(SECURITY, staying=(Stay(DEE, "declared"),), bring=(), converts=True)
    assert (after.private, after.room, after.rooms, after.archive_asked) == (True, 1, public().rooms, False)
    assert {stay.who.name for stay in after.stays if stay.here} == {"Dee"}


@pytest.mark.parametrize("converts", [False, True])
def test_a_retype_that_does_not_turn_private_keeps_room_people_and_roles(converts: bool) -> None:
    before = public()
    after = before.retyped(POLICIES["isolated"], staying=(), bring=(), converts=converts)
    assert (after.private, after.room, after.rooms) == (False, 1, before.rooms)
    assert (after.lead, after.roles, after.chosen, after.archive_asked) == (ZOE, before.roles, before.chosen, True)
    assert [(stay.here, stay.went, stay.named) for stay in after.stays] == [
        (True, False, False),
        (True, False, False),  # by the previous type's plan, not this one's
        (False, True, False),
    ]
    for type in (SECURITY, POLICIES["isolated"]):
        again = replace(before, private=True, is_closed=True).retyped(type, staying=(), bring=())
        assert (again.private, again.is_closed, again.room, again.lead) == (True, False, 1, ZOE)


def test_who_is_brought_along_stays_by_hand_unless_they_were_in_for_good() -> None:
    who = {"zoe": Stay(ZOE, "group", "support"), "ann": Stay(ANN, "joined", here=False, went=True), "eve": None}
    who["dee"] = Stay(DEE, "glass", by="Boss")
    before = replace(public(), stays=tuple(stay for stay in who.values() if stay))
    bring = tuple(replace(someone(name), why="Boss") for name in who)
    after = before.retyped(POLICIES["isolated"], staying=(), bring=bring)
    assert {stay.who.name: (stay.came, stay.by, stay.here) for stay in after.stays} == {
        "Zoe": ("picked", "Boss", True),
        "Ann": ("picked", "Boss", True),
        "Eve": ("picked", "Boss", True),
        "Dee": ("glass", "Boss", True),
    }


def test_a_retype_is_a_moment_with_a_number_of_its_own() -> None:
    before = replace(public(), told=(told(7), told(3)))
    after = before.retyped(POLICIES["isolated"], staying=(), bring=())
    assert [(one.n, one.on) for one in after.triggers] == [(1, "declare"), (8, "retype")]
    assert (after.triggers[-1].at, after.policy.slug) == (before.declared_at, "isolated")
    assert replace(before, triggers=(), told=()).next_n == 1


def test_who_is_known_late_comes_in_by_a_page_while_all_is_public_alone() -> None:
    late = ((ZOE, Stranger("PZOE", "Zoe", "was not matched")), (ANN, Stranger("PANN", "Ann", "was not matched")))
    page = Paged("page/policy/PS", "policy/PS", "Security", "S2", TRIGGERED, (DEE,), late=late)
    before = replace(public(), paged=(page,))
    (closed,) = before.retyped(SECURITY, staying=(Stay(ANN, "picked"),), bring=()).paged
    assert ([one.id for one in closed.strangers], closed.brought) == (["PZOE"], (DEE,))
    (open_,) = before.retyped(POLICIES["isolated"], staying=(), bring=()).paged
    assert open_.brought == (DEE, ZOE, ANN)


def test_a_room_is_found_by_its_number_and_what_is_there_by_its_key() -> None:
    known = moved("channel/1")
    assert known.room_of(2) == NEW
    assert (known.is_there("channel/1"), known.is_there("channel/2")) == (True, False)
