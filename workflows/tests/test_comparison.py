"""What is done about one thing: by whether it exists, what is already owed, and how far that has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from workflows.planning.actions import CHANGE, CREATE, KINDS, RETIRE, Action
from workflows.planning.observed import GONE, REFUSED, THEIRS, THERE, Observed, ObservedThing, Owed
from workflows.planning.plan import Plan, plan
from workflows.planning.things import Desired, Thing

NEW, OLD = {"room": 1, "text": "new"}, {"room": 1, "text": "old"}
TOPIC = Thing("topic/1", "topic", NEW, "the topic", ("channel/1",), 1)
PIN = Thing("pin/1", "pin", {"post": "headline/1"}, "the headline", ("headline/1",), 1)
ARCHIVED = {"archived/1": ObservedThing("archived", {"room": 1}, THERE, 1)}


def member(name: str, *, why: str = "", asked: bool = True, room: int = 1) -> Thing:
    spec = {"room": room, "person": name.upper()}
    key = f"member/{room}/{name.upper()}"
    return Thing(key, "member", spec, name.capitalize(), (f"channel/{room}",), room, why, asked=asked)


def seen(thing: Thing = TOPIC, *, spec: Mapping[str, object] = NEW, state: str = THERE) -> dict[str, ObservedThing]:
    return {thing.key: ObservedThing(thing.kind, spec, state, thing.room, thing.label)}


def owed(verb: str, spec: Mapping[str, object] | None = NEW, how: str = "waiting", *, effect: str = "E1") -> Owed:
    return Owed(effect, verb, spec, how != "waiting", 1, how == "failed", ("channel/1",))


def hasty(verb: str, spec: Mapping[str, object] | None = NEW, how: str = "waiting") -> Owed:
    """An effect that waits for nothing, although its thing needs a channel by now."""
    return replace(owed(verb, spec, how), needs=())


def planned(
    *things: Thing,
    seen: Mapping[str, ObservedThing] | None = None,
    owed: Sequence[Owed] = (),
    of: str = "topic/1",
    counts: Mapping[str, int] | None = None,
) -> Plan:
    return plan(Desired(things), Observed(seen or {}, {of: tuple(owed)} if owed else {}, counts or {}))


def done(found: Plan) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.verb, one.thing, one.after) for one in found.actions]


GOING, FAILED = "going", "failed"


@pytest.mark.parametrize(
    ("there", "chain", "verb", "after", "cancels"),
    [
        # nothing is owed
        ({}, [], CREATE, [], []),
        (seen(), [], None, [], []),
        (seen(spec=OLD), [], CHANGE, [], []),
        (seen(spec=OLD, state=THEIRS), [], None, [], []),
        (seen(spec=OLD, state=GONE), [], None, [], []),
        (seen(spec=OLD, state=REFUSED), [], None, [], []),
        # it is to be made
        ({}, [owed(CREATE)], None, [], []),
        ({}, [owed(CREATE, OLD)], CREATE, [], ["E1"]),
        ({}, [owed(CREATE, NEW, GOING)], None, [], []),
        ({}, [owed(CREATE, OLD, GOING)], CHANGE, ["E1"], []),
        ({}, [owed(CREATE, NEW, FAILED)], None, [], []),
        ({}, [owed(CREATE, OLD, FAILED)], None, [], []),  # it would fail again, and report that again
        # it is to be changed
        (seen(spec=OLD), [owed(CHANGE)], None, [], []),
        (seen(spec=OLD), [owed(CHANGE, OLD)], CHANGE, [], ["E1"]),
        (seen(spec=OLD), [owed(CHANGE, NEW, GOING)], None, [], []),
        (seen(spec=OLD), [owed(CHANGE, {"text": "other"}, GOING)], CHANGE, ["E1"], []),
        (seen(), [owed(CHANGE, OLD, GOING)], CHANGE, ["E1"], []),  # the effect under way would undo what is wanted
        (seen(), [owed(CHANGE, OLD)], None, [], ["E1"]),
        (seen(spec=OLD), [owed(CHANGE, NEW, FAILED)], None, [], []),
        (seen(spec=OLD), [owed(CHANGE, {"text": "other"}, FAILED)], CHANGE, [], ["E1"]),
        (seen(spec=OLD), [owed(CREATE, {"text": "other"}, FAILED)], CHANGE, [], ["E1"]),
        (seen(spec=OLD, state=GONE), [owed(CHANGE)], None, [], ["E1"]),  # a person removed it
        # a change of something that does not exist and that nothing is making
        ({}, [owed(CHANGE)], CREATE, [], ["E1"]),
        ({}, [owed(CHANGE, NEW, FAILED)], None, [], []),
        ({}, [owed(CREATE, OLD, GOING), owed(CHANGE, NEW, effect="E2")], None, [], []),
        ({}, [owed(CREATE, OLD, GOING), owed(CHANGE, OLD, effect="E2")], CHANGE, ["E1"], ["E2"]),
        # what would be done too early is owed again, and waits for what it must
        ({}, [hasty(CREATE)], CREATE, [], ["E1"]),
        ({}, [hasty(CREATE, NEW, FAILED)], CREATE, [], ["E1"]),  # or a retry would be too early
        ({}, [hasty(CREATE, NEW, GOING)], None, [], []),
        (seen(spec=OLD), [hasty(CHANGE)], CHANGE, [], ["E1"]),
        (seen(), [hasty(CHANGE, OLD)], None, [], ["E1"]),
    ],
)
def test_the_least_is_done_that_makes_one_thing_right(
    there: dict[str, ObservedThing], chain: list[Owed], verb: str | None, after: list[str], cancels: list[str]
) -> None:
    found = planned(TOPIC, seen=there, owed=chain)
    assert done(found) == ([(verb, "topic/1", tuple(after))] if verb else [])
    assert list(found.cancels) == cancels
    assert found.is_empty == (not (verb or cancels))


def test_what_cannot_be_changed_is_left_as_it_is() -> None:
    assert not planned(PIN, seen=seen(PIN, spec={"post": "other"})).actions


@pytest.mark.parametrize(("state", "invited"), [(THERE, False), (GONE, True), (THEIRS, False), (REFUSED, False)])
def test_who_went_is_invited_again_once_somebody_names_them_and_who_was_refused_is_not(
    state: str, invited: bool
) -> None:
    ann = member("ann")
    found = planned(ann, seen=seen(ann, spec=ann.spec, state=state))
    assert [one.spec["people"] for one in found.actions] == ([["ANN"]] if invited else [])


def test_nothing_is_done_in_an_archived_room() -> None:
    found = planned(TOPIC, replace(TOPIC, key="topic/2", room=2), seen=ARCHIVED)
    assert [one.thing for one in found.actions] == ["topic/2"]
    assert not planned(member("ann", why="leads"), seen=ARCHIVED).lines
    again = planned(TOPIC, seen={"archived/1": replace(ARCHIVED["archived/1"], state=GONE)})
    assert [one.thing for one in again.actions] == ["topic/1"], "somebody unarchived it"


# effects that are no longer wanted


@pytest.mark.parametrize(
    ("one", "cancelled", "abandoned"),
    [
        (owed(CREATE), True, False),
        (owed(CHANGE), True, False),
        (owed(CREATE, NEW, FAILED), True, False),
        (owed(CREATE, NEW, GOING), False, True),
        (owed(CHANGE, NEW, GOING), False, True),
        (owed(RETIRE, None), False, False),
        (owed(RETIRE, None, GOING), False, False),
    ],
)
def test_what_has_not_begun_is_cancelled_and_what_has_is_only_looked_for(
    one: Owed, cancelled: bool, abandoned: bool
) -> None:
    found = planned(owed=[one])
    assert (list(found.cancels), list(found.abandons)) == (["E1"] * cancelled, ["E1"] * abandoned)
    assert not found.actions


def test_what_is_under_way_and_is_to_be_otherwise_by_now_is_only_looked_for() -> None:
    assert planned(TOPIC, owed=[owed(CREATE, OLD, GOING)]).abandons == ("E1",)
    assert planned(TOPIC, owed=[owed(CREATE, NEW, GOING)]).abandons == ()
    assert planned(TOPIC, owed=[hasty(CREATE, NEW, GOING)]).abandons == ("E1",)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_under_way_and_is_to_be_otherwise_is_changed_only_where_that_can_be(kind: str) -> None:
    spec = {**NEW, "person": "ANN", "name": "Ann", "card": {"kind": "headline"}}
    thing = Thing("topic/1", kind, spec, "the thing", (), 1)
    found = planned(thing, owed=[owed(CREATE, spec | OLD, GOING)])
    assert [one.verb for one in found.actions if one.verb == CHANGE] == [CHANGE] * (KINDS[kind].change is not None)
    assert found.abandons == ("E1",)


def test_words_that_may_stand_although_they_failed_are_looked_for_and_keep_their_room_open() -> None:
    doubted = replace(owed(CREATE, NEW, "failed"), doubted=True)
    found = planned(owed=[doubted])
    assert (found.cancels, found.abandons, found.doubts) == ((), (), ("E1",))
    assert planned(TOPIC, owed=[doubted]).doubts == (), "of what is wanted a retry is enough"
    archived = Thing("archived/1", "archived", {"room": 1}, "#inc-1", (), 1)
    unfound = replace(doubted, unfound=True)
    assert [one.thing for one in planned(archived, owed=[doubted]).actions] == ["archived/1"], "it waits for the look"
    assert [one.thing for one in planned(archived, owed=[unfound]).actions] == []
    assert [one.thing for one in planned(archived, owed=[replace(unfound, room=2)]).actions] == ["archived/1"]
    assert "archived/1" in [one.thing for one in planned(TOPIC, archived, owed=[unfound]).actions], "it is wanted"


@pytest.mark.parametrize("coming", [True, False])
def test_what_belongs_to_a_message_that_is_neither_there_nor_coming_is_ended_once_nobody_wants_it(
    *, coming: bool
) -> None:
    """After a restore it counts as begun: the message was looked for and not found, and it is no longer wanted."""
    pin = replace(owed(CREATE, NEW, GOING), needs=("headline/1",))
    message = {"headline/1": (owed(CREATE, NEW, GOING, effect="E2"),)} if coming else {}
    found = plan(Desired(()), Observed({}, {"pin/1": (pin,), **message}))
    assert found.cancels == (() if coming else ("E1",))


def test_in_an_archived_room_what_is_owed_is_cancelled_but_taking_back_what_outlives_it() -> None:
    assert planned(TOPIC, seen=ARCHIVED, owed=[owed(CHANGE)]).cancels == ("E1",)
    for kind, cancels in (("picture", ()), ("bookmark", ("E1",))):
        there = {f"{kind}/1": ObservedThing(kind, {}, THERE, 1)}
        assert planned(seen=ARCHIVED | there, owed=[owed(RETIRE, None)], of=f"{kind}/1").cancels == cancels


def test_an_invitation_is_written_anew_for_the_others_once_one_of_them_is_no_longer_wanted() -> None:
    ann, ben = member("ann"), member("ben")
    both = {one.key: (owed(CREATE, one.spec),) for one in (ann, ben)}
    found = plan(Desired((ann,)), Observed(owed=both))
    assert found.cancels == ("E1",)
    assert [one.spec for one in found.actions] == [{"room": 1, "people": ["ANN"]}]
    assert plan(Desired((ann, ben)), Observed(owed=both)).is_empty


def test_an_invitation_into_a_room_that_is_made_private_first_is_written_again_once() -> None:
    both = [replace(member(name), needs=("channel/1", "closed/1")) for name in ("ann", "ben")]
    found = plan(Desired(tuple(both)), Observed(owed={one.key: (owed(CREATE, one.spec),) for one in both}))
    assert found.cancels == ("E1",)
    assert [(one.spec["people"], one.needs) for one in found.actions] == [(["ANN", "BEN"], ("channel/1", "closed/1"))]


# things that are withdrawn


@pytest.mark.parametrize(
    ("kind", "state", "chain", "says"),
    [
        ("bookmark", THERE, [], "remove the bookmark for it"),
        ("picture", THERE, [], "delete it"),
        ("topic", THERE, [], None),  # is never withdrawn
        ("bookmark", GONE, [], None),
        ("bookmark", THEIRS, [], None),
        ("bookmark", THERE, [owed(RETIRE, None)], None),
        ("bookmark", THERE, [owed(CHANGE, OLD, GOING)], "remove the bookmark for it"),
    ],
)
def test_what_is_no_longer_wanted_is_taken_back_where_that_can_be_done(
    kind: str, state: str, chain: list[Owed], says: str | None
) -> None:
    there = {"it/1": ObservedThing(kind, NEW, state, 1, "it")}
    found = planned(seen=there, owed=chain, of="it/1", counts={"it/1": 2})
    if says is None:
        assert not found.actions
        return
    (one,) = found.actions
    assert (one.verb, one.sentence, one.sign, one.room, one.kind) == (RETIRE, says, "-", 1, kind)
    assert (one.key, one.needs, one.labels, one.spec) == ("it/1#3", ("it/1",), {"it/1": "it"}, NEW)
    assert one.after == tuple(owed.effect for owed in chain)


def test_in_an_archived_room_only_what_outlives_it_is_taken_back() -> None:
    there = {f"{kind}/1": ObservedThing(kind, NEW, THERE, 1, kind) for kind in ("bookmark", "picture")}
    assert [one.thing for one in planned(seen=ARCHIVED | there).actions] == ["picture/1"]


def test_what_was_still_to_be_changed_is_not_once_it_is_taken_back() -> None:
    there = {"bookmark/1": ObservedThing("bookmark", NEW, THERE, 1, "it")}
    found = planned(seen=there, owed=[owed(CHANGE)], of="bookmark/1")
    assert (found.cancels, [one.verb for one in found.actions]) == (("E1",), [RETIRE])
    going = planned(seen=there, owed=[owed(CHANGE, NEW, GOING)], of="bookmark/1")
    assert (going.cancels, going.abandons) == ((), ("E1",))


# the actions


def test_an_action_says_all_that_its_effect_needs() -> None:
    at = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)
    thing = replace(TOPIC, due_at=at)
    (made,) = planned(thing, counts={"topic/1": 3}).actions
    assert made == Action(
        "topic/1#4", "topic/1", "topic", CREATE, NEW, "set the topic", "+", ("channel/1",), (), 1,
        {"topic/1": "the topic"}, at,
    )  # fmt: skip
    (changed,) = planned(thing, seen=seen(spec=OLD)).actions
    assert (changed.key, changed.verb, changed.sentence, changed.sign) == ("topic/1#1", CHANGE, "update the topic", "~")
    assert changed.needs == ("channel/1", "topic/1")


def test_kinds_say_their_own_sign_when_they_are_done() -> None:
    for name, sign in (("closed", "~"), ("archived", "-"), ("title", "~"), ("channel", "+")):
        (one,) = planned(Thing("x", name, {"private": False, "name": "x"}, "it")).actions
        assert (one.kind, one.sign) == (name, sign)


def test_invitations_go_out_by_room_with_what_each_room_waits_for() -> None:
    found = planned(member("ann"), member("ben"), member("cat", room=2))
    assert [(one.thing, one.spec["people"], one.needs, one.room) for one in found.actions] == [
        ("invite/1", ["ANN", "BEN"], ("channel/1",), 1),
        ("invite/2", ["CAT"], ("channel/2",), 2),
    ]
    assert found.actions[0].labels == {"member/1/ANN": "Ann", "member/1/BEN": "Ben"}
    assert (found.actions[0].key, found.actions[0].verb, found.actions[0].sign) == ("invite/1#1", CREATE, "+")


@pytest.mark.parametrize(
    ("people", "says"),
    [
        ([("ann", "@web")], "invite @web (1 person)"),
        ([("ann", "@web"), ("ben", "@web, leads")], "invite @web (2 people)"),
        ([("ann", "leads")], "invite Ann"),
        (
            [("ann", "declared it"), ("ben", "@web"), ("cat", "@db, on call")],
            "invite @web (1 person), @db (1 person), Ann",
        ),
    ],
)
def test_an_invitation_counts_groups_and_names_everyone_else(people: list[tuple[str, str]], says: str) -> None:
    (one,) = planned(*(member(name, why=why) for name, why in people)).actions
    assert one.sentence == says


def test_archiving_comes_last_and_waits_for_all_that_the_chat_still_has_to_do() -> None:
    archive = Thing("archived/1", "archived", {"room": 1}, "#old", ("channel/1",), 1)
    page = Thing("page/x", "page", {"name": "Web"}, "Web")
    spare = {"bookmark/1": ObservedThing("bookmark", NEW, THERE, 1, "it")}
    found = planned(archive, TOPIC, page, seen=spare)
    assert [one.kind for one in found.actions] == ["topic", "page", "bookmark", "archived"]
    assert found.actions[-1].after == ("topic/1#1", "bookmark/1#1")
    assert not any(one.after for one in found.actions[:-1])


def test_while_it_is_done_a_kind_says_what_it_is_doing() -> None:
    assert KINDS["capture"].under_way("capture the heap") == "capturing the heap"
    assert KINDS["topic"].under_way("set the topic") == "set the topic"
