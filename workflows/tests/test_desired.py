"""What should exist for an incident, thing by thing: its rooms, what is said there, what is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.planning.actions import CHANGE, CREATE, EFFECTS, EVIDENCE, KINDS, RETIRE, of_queue
from workflows.planning.desired import desired_state
from workflows.planning.facts import ChannelPost, Facts, Published, Room, Stay
from workflows.planning.invitee import Invitee
from workflows.planning.observed import GONE, THERE, Observed, ObservedThing
from workflows.planning.pages import ACKNOWLEDGED, TRIGGERED, Callee, Paged
from workflows.planning.plan import plan
from workflows.planning.things import Thing
from workflows.planning.wording.marks import TextMark
from workflows.tests.shipped_facts import POLICIES, STRANGERS, facts, someone


def things(known: Facts) -> dict[str, Thing]:
    return {one.key: one for one in desired_state(known).things}


def gaps(known: Facts) -> list[str]:
    return [gap.key for gap in desired_state(known).gaps]


def told(n: int, **given: object) -> ChannelPost:
    post = ChannelPost(n, "noted", f"the message {n}", "Dee", "noted it", f"words {n}", 1)
    return replace(post, **given)  # type: ignore[arg-type]  # a table of posts


QUIET = replace(facts("internal"), triggers=())


def test_a_room_with_its_topic_bookmark_and_pinned_headline() -> None:
    found = things(QUIET)
    assert list(found) == ["channel/1", "member/1/DEE", "topic/1", "bookmark/1", "headline/1", "pin/1"]
    assert {one.room for one in found.values()} == {1}
    channel = found["channel/1"]
    assert (channel.kind, channel.spec, channel.label, channel.needs) == (
        "channel",
        {"name": "inc-amber-otter", "private": False},
        "#inc-amber-otter",
        (),
    )
    for key in ("member/1/DEE", "topic/1", "bookmark/1", "headline/1"):
        assert found[key].needs == ("channel/1",)
    assert (found["pin/1"].needs, found["pin/1"].spec) == (("headline/1",), {"post": "headline/1"})
    assert found["topic/1"].spec["room"] == 1
    assert "Internal" in found["topic/1"].spec["text"]
    assert found["bookmark/1"].spec == {"room": 1, "title": "Incident page", "link": QUIET.url}
    member = found["member/1/DEE"]
    assert (member.kind, member.spec, member.label, member.why, member.asked) == (
        "member",
        {"room": 1, "person": "DEE"},
        "Dee",
        "declared it",
        True,
    )


def test_a_room_without_a_name_yet_is_a_channel_of_its_own() -> None:
    known = replace(QUIET, rooms=(Room(1, "", True, "a new private channel"),))
    assert things(known)["channel/1"].label == "a dedicated private channel"
    assert things(known)["channel/1"].spec == {"name": "", "private": True}


def test_who_has_no_chat_or_is_not_wanted_is_not_invited_and_who_stays_without_a_reason_is_not_asked_for() -> None:
    nameless = replace(someone("noah"), chat_id="")
    stays = (*QUIET.stays, Stay(nameless, "picked"), Stay(someone("ann"), "joined", here=False, went=True))
    kept = Stay(someone("zoe"), "group", "support", named=True)
    found = things(replace(QUIET, stays=(*stays, kept)))
    assert [key for key in found if "member" in key] == ["member/1/DEE", "member/1/ZOE"]
    assert (found["member/1/ZOE"].asked, found["member/1/DEE"].asked) == (False, True)


def test_a_successor_room_begins_with_its_handover() -> None:
    rooms = (*QUIET.rooms, Room(2, "inc-two", True, "inc-two"))
    found = things(replace(QUIET, rooms=rooms, room=2, private=True))
    assert (found["handover/2"].kind, found["handover/2"].room, found["handover/2"].needs) == (
        "post",
        2,
        ("channel/2",),
    )
    assert "handover/1" not in things(QUIET)


@pytest.mark.parametrize(
    ("asked", "active", "there"), [(True, True, False), (False, False, False), (True, False, True)]
)
def test_a_room_is_archived_once_it_ended_and_somebody_asked(asked: bool, active: bool, there: bool) -> None:
    known = replace(QUIET, archive_asked=asked, active=active, there=frozenset({"channel/1"}))
    assert ("archived/1" in things(known)) == there
    if there:
        one = things(known)["archived/1"]
        assert (one.kind, one.spec, one.room) == ("archived", {"room": 1}, 1)
        assert (one.label, one.needs) == ("#inc-amber-otter", ("channel/1",))


@pytest.mark.parametrize(
    ("there", "active", "missing"),
    [
        ({"channel/1", "archived/1"}, True, True),
        ({"channel/1", "archived/1"}, False, False),
        ({"channel/1"}, True, False),
        ({"archived/1"}, True, False),
    ],
)
def test_a_room_that_somebody_archived_is_missing_while_people_respond(
    there: set[str], active: bool, missing: bool
) -> None:
    known = replace(QUIET, there=frozenset(there), active=active)
    assert ("archived" in gaps(known)) == missing
    says = [gap.says for gap in desired_state(known).gaps]
    assert all("#inc-amber-otter is archived" in one for one in says)


def test_after_the_end_a_room_is_kept_up_only_if_it_was_opened() -> None:
    over = replace(QUIET, active=False, status="resolved")
    assert not things(over)
    assert "topic/1" in things(replace(over, there=frozenset({"channel/1"})))


def test_what_is_told_is_told_in_its_room_with_the_picture_below() -> None:
    posts = (told(2), told(3, room=2), told(4, evidence=9, pictured=True))
    found = things(replace(QUIET, told=posts))
    assert [key for key in found if key.partition("/")[0] in {"told", "upload", "picture"}] == [
        "told/2",
        "told/4",
        "upload/4",
        "picture/4",
    ]
    assert (found["told/2"].label, found["told/2"].room, found["told/2"].needs) == ("the message 2", 1, ("channel/1",))
    upload, picture = found["upload/4"], found["picture/4"]
    assert (upload.kind, upload.spec, upload.needs, upload.room) == (
        "upload",
        {"room": 1, "evidence": 9},
        ("channel/1",),
        1,
    )
    assert (picture.kind, picture.needs, picture.room) == ("picture", ("told/4", "upload/4"), 1)
    assert picture.spec == {"room": 1, "evidence": 9, "post": "told/4", "upload": "upload/4"}
    assert picture.label == upload.label == "the picture of evidence 9"
    taken_back = things(replace(QUIET, told=(told(4, evidence=9, pictured=True, retracted=True), told(5, evidence=8))))
    assert not [key for key in taken_back if "picture" in key or "upload" in key]
    assert taken_back["told/4"].spec["card"]["kind"] == "withdrawn"


def test_captures_are_asked_for_with_the_time_they_may_begin() -> None:
    found = things(facts("ambiguous"))["capture/1/checkout-api/cpu"]
    assert (found.kind, found.room, found.needs, found.due_at) == ("capture", None, (), facts().declared_at)
    assert found.label == "15 s of CPU from checkout-api"


def test_without_a_chat_only_pages_and_captures_are_wanted() -> None:
    known = replace(facts("ambiguous", pager=True), chat=False)
    assert {one.kind for one in desired_state(known).things} == {"page", "capture"}
    assert "callee/PUMA" not in gaps(replace(facts("major", pager=True), chat=False)), "there is nothing to invite to"


# pages


def test_a_page_names_whom_it_goes_to_and_in_private_nothing_it_is_about() -> None:
    page = things(facts("ambiguous", pager=True))["page/policy/PE"]
    assert (page.kind, page.room, page.label, page.why) == ("page", None, "Engineering (pages Eve)", "")
    assert page.spec == {
        "target": "policy/PE",
        "name": "Engineering",
        "service": "S1",
        "title": "Checkout is slow (amber-otter)",
    }
    private = replace(facts("ambiguous", pager=True), private=True)
    assert things(private)["page/policy/PE"].spec["title"] == "amber-otter needs you"
    kept = Paged("page/policy/PE", "policy/PE", "Engineering", "S1", ACKNOWLEDGED, by="Eve")
    assert things(replace(private, paged=(kept,)))["page/policy/PE"].why == "acknowledged by Eve"


def test_who_is_paged_and_cannot_be_reached_is_missing_while_people_respond() -> None:
    known = facts("major", pager=True)
    assert [key for key in gaps(known) if key.startswith("callee")] == [f"callee/{one.id}" for one in STRANGERS]
    for silent in (replace(known, active=False), replace(known, pager=False)):
        assert not [key for key in gaps(silent) if key.startswith(("callee", "page"))]
    old = Paged("page/policy/PM", "policy/PM", "Major incidents", "S1", TRIGGERED, strangers=STRANGERS)
    assert "callee/PUMA" in gaps(replace(known, paged=(old,), callees={"Major incidents": None}))


def test_what_is_missing_names_the_type_and_in_private_how_they_come_in() -> None:
    says = {gap.key: gap.says for gap in desired_state(facts("isolated", pager=True)).gaps}
    assert "Isolated" in says["page/Nobody home"]
    for private, word in ((True, "private incident"), (False, "not invited")):
        known = replace(facts("major", pager=True), private=private)
        assert word in {gap.key: gap.says for gap in desired_state(known).gaps}["callee/PUMA"]


def test_sources_that_are_missing_are_said_while_people_respond() -> None:
    assert "source/gone" in gaps(facts("major"))
    assert "source/gone" not in gaps(replace(facts("major"), active=False))


def test_everything_missing_is_told_together_and_who_has_each_role() -> None:
    pages = {"Major incidents": Callee("policy/PM", "Major incidents", "")}
    known = replace(facts("major", pager=True), groups={"support": None}, callees=pages)
    assert gaps(known) == ["group/support", "page/Major incidents", "source/gone"]
    assert desired_state(facts("security")).chosen["Platform leadership"].name == "Pat"


# the kinds of things


def test_the_queues_hold_the_kinds_that_someone_connected_can_do() -> None:
    everything = of_queue(EFFECTS, ports={"chat", "pager", "profiler", "tracker"})
    assert set(everything) | {"capture", "upload"} == set(KINDS)
    assert of_queue(EVIDENCE, ports={"chat"}) == ["upload"]
    assert of_queue(EVIDENCE, ports={"profiler"}) == ["capture"]
    assert of_queue(EFFECTS, ports={"pager"}) == ["page", "acknowledged", "title"]
    assert of_queue(EFFECTS, ports=()) == []


@pytest.mark.parametrize(
    ("kind", "verb", "spec", "says"),
    [
        ("channel", CREATE, {"private": False}, "open it"),
        ("channel", CREATE, {"private": True, "name": "inc"}, "open the private channel it"),
        ("channel", CREATE, {"private": True, "name": ""}, "open it"),
        ("outlet", CREATE, {}, "open it to everyone"),
        ("topic", CREATE, {"text": ""}, "set it"),
        ("topic", CHANGE, {"text": "x"}, "update it"),
        ("topic", CHANGE, {"text": ""}, "clear it"),
        ("post", CHANGE, {"card": {"kind": "headline"}}, "update it"),
        ("post", CHANGE, {"card": {"kind": "withdrawn"}}, "withdraw it"),
        ("bookmark", CHANGE, {}, "update the bookmark for it"),
        ("bookmark", RETIRE, {}, "remove the bookmark for it"),
        ("picture", CREATE, {}, "show it"),
        ("picture", RETIRE, {}, "delete it"),
        ("page", CREATE, {}, "page it"),
        ("page", CHANGE, {"name": "Web"}, "change the title of the page to Web"),
        ("page", RETIRE, {"name": "Web"}, "resolve the page to Web"),
        ("title", CREATE, {}, "change the title of it"),
        ("closed", CREATE, {}, "make it private"),
        ("counted", CREATE, {}, "count it"),
        ("direct", CREATE, {}, "tell it"),
        ("upload", CREATE, {}, "draw and upload it"),
        ("archived", CREATE, {}, "archive it"),
        ("capture", CREATE, {"turn": 1, "of": 1}, "capture it"),
        ("capture", CREATE, {"turn": 2, "of": 3}, "capture it (2 of 3)"),
    ],
)
def test_what_is_done_is_said_in_a_few_words(kind: str, verb: str, spec: dict[str, object], says: str) -> None:
    known = KINDS[kind]
    sentence = {CREATE: known.create, CHANGE: known.change, RETIRE: known.retire}[verb]
    assert sentence is not None
    assert sentence("it", spec) == says


def test_rooms_are_closed_while_they_are_archived_or_gone_and_only_they() -> None:
    seen = {
        "archived/1": ObservedThing("archived", {}, THERE, 1),
        "archived/2": ObservedThing("archived", {}, GONE, 2),
        "archived/x": ObservedThing("archived", {}, THERE, None),
        "channel/3": ObservedThing("channel", {}, THERE, 3),
        "channel/4": ObservedThing("channel", {}, GONE, 4),
    }
    assert Observed(seen).rooms_closed() == {1, 4}


def test_who_has_no_chat_is_mentioned_by_name() -> None:
    assert Invitee("UANN", "Ann").mention == (TextMark("person", "UANN", "Ann"),)
    assert Invitee("", "Ann").mention == "Ann"


def test_a_private_type_opens_a_private_room_and_announces_nothing() -> None:
    found = things(facts("security"))
    assert found["channel/1"].spec["private"] is True
    assert "announcement" not in found
    assert things(facts("major"))["announcement"].spec["channel"] == "incidents"
    assert POLICIES["major"].announce


def test_everything_that_should_exist_is_of_a_known_kind_and_has_a_word_for_people() -> None:
    said = Published("mild-heron", "inc-mild-heron", "All is well.", "https://firekind.test/summaries/1")
    rooms = (replace(QUIET.rooms[0], public=True), Room(2, "inc-two", True, "inc-two"))
    there = frozenset({"channel/1", "headline/1", "topic/1", "announcement"})
    posts = (told(2), told(3, room=2, by_hand="Archive it", retry="7"), told(4, room=2, evidence=9, pictured=True))
    known = replace(facts("security", pager=True), rooms=rooms, room=2, told=posts, published=said, there=there)
    known = replace(known, failing=frozenset({"7"}))
    for one in (known, replace(known, active=False, archive_asked=True), replace(facts("major", pager=True), room=1)):
        found = desired_state(one)
        assert {thing.kind for thing in found.things} <= set(KINDS)
        assert all(thing.label and thing.label.isprintable() for thing in found.things)
        assert all(gap.key and gap.says for gap in found.gaps)
        for thing in found.things:
            assert KINDS[thing.kind].create(thing.label, thing.spec)
            assert "card" not in thing.spec or {"kind", "title", "text"} <= set(thing.spec["card"])
            assert (thing.kind == "post") == ("card" in thing.spec) or thing.kind == "direct"
            assert thing.spec.get("room") in {None, thing.room}


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("slug", POLICIES)
def test_a_plan_for_a_channel_without_a_name_yet_reads_as_a_sentence(slug: str, private: bool) -> None:
    room = Room(1, "", private, "a dedicated channel")
    said = [str(line) for line in plan(desired_state(replace(facts(slug), rooms=(room,))), Observed()).lines]
    (opened,) = [line for line in said if " open " in line]
    assert opened == f"+ open a dedicated {'private ' if private else ''}channel"
