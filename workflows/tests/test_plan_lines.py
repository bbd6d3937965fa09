"""How a plan reads: one line for what matters to people, small things grouped, and what is unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from workflows.planning.actions import CREATE
from workflows.planning.observed import GONE, THEIRS, THERE, Observed, ObservedThing, Owed
from workflows.planning.plan import Plan, PlanNote, plan
from workflows.planning.plan_lines import PlanLine
from workflows.planning.things import Desired, Gap, Thing
from workflows.planning.wording import plan_sum
from workflows.tests.test_comparison import member

OTHER = {"text": "other"}


def lines(*things: Thing, seen: Mapping[str, ObservedThing] | None = None, gaps: tuple[Gap, ...] = ()) -> list[str]:
    return [str(line) for line in plan(Desired(things, gaps), Observed(seen or {})).lines]


def there(*things: Thing, state: str = THERE) -> dict[str, ObservedThing]:
    return {one.key: ObservedThing(one.kind, one.spec, state, one.room, one.label) for one in things}


def thing(kind: str, label: str, *, room: int | None = 1, **spec: object) -> Thing:
    return Thing(f"{kind}/{label}", kind, {"text": "x", "private": False, "name": label} | spec, label, room=room)


def test_lines_come_by_what_matters_and_small_things_share_one_line_a_sign() -> None:
    told = [thing("topic", "the topic"), thing("bookmark", "the page"), thing("post", "the headline")]
    told += [member("ann", why="leads"), thing("channel", "#inc"), thing("pin", "the headline")]
    spare = ObservedThing("bookmark", {}, THERE, 1, "the old page")
    assert lines(*told, seen={"bookmark/old": spare}) == [
        "+ open #inc",
        "+ invite Ann (leads)",
        "+ post the headline",
        "+ set the topic, bookmark the page, pin the headline",
        "- remove the bookmark for the old page",
    ]


def test_a_line_knows_what_it_is_about_so_that_guests_read_those_that_name_nobody() -> None:
    told = [thing("topic", "the topic"), thing("post", "the headline"), thing("channel", "#inc"), member("ann")]
    found = plan(Desired(tuple(told), (Gap("group/web", "There is no @web."),)), Observed())
    assert [line.key for line in found.lines] == ["channel", "invite/1", "post", "small", "group/web"]
    ben, going = member("ben", why="leads"), {}
    going[ben.key] = (Owed("E1", CREATE, ben.spec, True, 1),)
    assert [line.key for line in plan(Desired((ben,)), Observed({}, going)).lines] == ["invite"]
    guest = found.without_names()
    assert [str(line) for line in guest.lines] == [
        "+ open #inc",
        "+ post the headline",
        "+ set the topic",
        "+ bring in or page the people the type names",
    ]
    assert guest.digest == found.digest, "what a guest confirms is the same plan"
    assert (guest.gaps, guest.actions, guest.lines[-1].key) == ((), found.actions, "people")
    alone = plan(Desired(tuple(told[:1])), Observed())
    assert alone.without_names().lines == alone.lines


@pytest.mark.parametrize(
    ("whole", "guest"),
    [
        (["= Ann is already in", "! There is no @web."], []),
        (["= Ann is already in", "+ invite Ben"], ["+ bring in or page the people the type names"]),
        (["- end access for Ann, Ben"], ["- end access for 2 people"]),
        (["- end access for Ann"], ["- end access for 1 person"]),
        (["- resolve the page to Ann", "- resolve the page to Ben"], ["- resolve 2 pages"]),
        (["~ change the title of the page to Ann"], ["~ change the title of 1 page"]),
        (["~ change the title of the resolved page to Ann"], ["~ change the title of 1 resolved page"]),
        (
            ["- resolve the page to Ann", "+ page Ben (pages Ben)"],
            ["+ bring in or page the people the type names", "- resolve 1 page"],
        ),
    ],
)
def test_a_guest_reads_of_what_happens_to_people_and_of_nothing_else(whole: list[str], guest: list[str]) -> None:
    keys = {"end": "loses", "resolve": "page", "page": "page", "change": "page", "invite": "invite"}
    lines = [
        PlanLine(
            sign, text, "title" if "resolved page" in text else keys.get(text.split()[0], "x"), 1 + text.count(",")
        )
        for sign, _, text in (line.partition(" ") for line in whole)
    ]
    found = Plan(lines=tuple(lines)).without_names()
    assert list(map(str, found.lines)) == guest
    assert found.without_names().lines == found.lines
    assert found.changes == Plan(lines=tuple(lines)).changes


def test_notes_that_name_people_are_kept_from_guests() -> None:
    known = Plan(notes=(PlanNote("one"), PlanNote("Ann stays", names=True)))
    guest = known.without_names()
    assert (guest.notes, guest.digest) == ((PlanNote("one"),), known.digest)


def test_changes_of_small_things_are_told_apart_from_new_ones() -> None:
    topic, page = thing("topic", "the topic", text=""), thing("bookmark", "the page")
    known = {topic.key: replace(there(topic)[topic.key], spec=OTHER)}
    assert set(lines(topic, page, seen=known)) == {"~ clear the topic", "+ bookmark the page"}


@pytest.mark.parametrize(
    ("room", "private", "says"),
    [
        (1, False, "+ open #inc"),
        (1, True, "+ open the private channel #inc"),
        (2, True, "~ move the conversation to a new private channel"),
    ],
)
def test_a_further_room_is_a_move_of_the_conversation(room: int, private: bool, says: str) -> None:
    assert lines(thing("channel", "#inc", room=room, private=private)) == [says]


def test_the_same_line_is_said_once_and_counted() -> None:
    captures = [
        Thing(f"capture/{n}", "capture", {"turn": n, "of": 2}, "the heap from web", due_at=None) for n in (1, 2)
    ]
    assert lines(*captures) == ["+ capture the heap from web (2 times)"]
    posts = [replace(thing("post", "the headline"), key=f"post/{n}") for n in range(3)]
    assert lines(*posts, thing("post", "another")) == ["+ post the headline (3 times)", "+ post another"]


@pytest.mark.parametrize(("of", "says"), [(1, "capture the heap"), (2, "capture the heap (1 of 2)")])
def test_a_capture_that_is_repeated_says_which_it_is(of: int, says: str) -> None:
    capture = Thing("capture/1", "capture", {"turn": 1, "of": of}, "the heap")
    assert [one.sentence for one in plan(Desired((capture,)), Observed()).actions] == [says]


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("headline", "headline", "~ update it"),
        ("headline", "withdrawn", "~ withdraw it"),
    ],
)
def test_a_message_is_updated_or_withdrawn(before: str, after: str, says: str) -> None:
    post = thing("post", "it", card={"kind": after, "n": 2})
    known = {post.key: replace(there(post)[post.key], spec={"card": {"kind": before, "n": 1}})}
    assert lines(post, seen=known) == [says]


# people


def test_who_comes_is_named_by_why_and_in_order() -> None:
    told = [member("zoe", why="@web"), member("ben", why="leads"), member("ann", why="@web"), member("cat")]
    assert lines(*told) == ["+ invite Cat", "+ invite Ann, Zoe (@web)", "+ invite Ben (leads)"]


@pytest.mark.parametrize(
    ("verb", "failed", "is_there", "named"),
    [(CREATE, False, False, True), (CREATE, True, False, False), ("change", False, False, False)],
)
def test_who_is_being_invited_already_is_named_with_those_who_come(
    verb: str, failed: bool, is_there: bool, named: bool
) -> None:
    ann = member("ann", why="leads")
    chain = (Owed("E1", verb, ann.spec, True, 1, failed, ann.needs),)
    found = plan(Desired((ann,)), Observed(there(ann) if is_there else {}, {ann.key: chain}))
    assert ("+ invite Ann (leads)" in map(str, found.lines)) == named


def test_who_is_in_already_is_not_named_as_coming_whatever_is_owed() -> None:
    ann = member("ann", why="leads")
    found = plan(Desired((ann,)), Observed(there(ann), {ann.key: (Owed("E1", CREATE, ann.spec, True, 1),)}))
    assert list(map(str, found.lines)) == ["= Ann is already in (leads)"]


def test_who_is_in_already_stays_and_who_is_no_longer_asked_for_may_leave() -> None:
    ann, ben, cat = member("ann", why="@web"), member("ben", why="@web"), member("cat")
    dan, eve, far = member("dan", asked=False), member("eve"), member("far", room=2)
    gone = there(member("gus"), state=GONE) | there(member("hal"), state=THEIRS)
    found = plan(Desired((ben, ann, cat, dan)), Observed(there(ann, ben, cat, dan, eve, far) | gone))
    assert list(map(str, found.lines)) == [
        "= Cat is already in",
        "= Ann, Ben are already in (@web)",
        "= no longer needed, free to leave: Dan, Eve",
    ]
    assert all(line.is_quiet for line in found.lines)
    assert not found.actions


# pages


@pytest.mark.parametrize(
    ("state", "why", "says"),
    [
        (THERE, "", "= Web is already paged"),
        (THERE, "acknowledged", "= Web is already paged: acknowledged"),
        (GONE, "Max answered", "= Web was already paged and is not paged again: Max answered"),
        (THEIRS, "", ""),
    ],
)
def test_who_was_paged_before_is_said_on_the_face_of_the_plan(state: str, why: str, says: str) -> None:
    page = Thing("page/policy/PW", "page", {"name": "Web", "title": "t"}, "Web (pages Max)", why=why)
    found = plan(Desired((page,)), Observed(there(page, state=state)))
    assert list(map(str, found.lines)) == ([says] if says else [])
    assert not any(line.is_quiet for line in found.lines), "who is not paged is never folded away"


# the rest of a plan


def test_what_is_missing_is_a_line_of_its_own_after_all_others() -> None:
    assert lines(thing("post", "it"), gaps=(Gap("group/web", "There is no @web."),)) == [
        "+ post it",
        "! There is no @web.",
    ]
    assert plan(Desired((), (Gap("group/web", "says"),)), Observed()).gaps == (Gap("group/web", "says"),)


def test_notes_are_read_by_heading_in_order() -> None:
    found = Plan(notes=(PlanNote("one", "A"), PlanNote("two"), PlanNote("three", "A")))
    assert list(found.noted.items()) == [("A", ["one", "three"]), ("", ["two"])]
    assert [str(note) for note in found.notes] == ["A: one", "two", "A: three"]


def test_the_digest_is_over_every_word_and_nothing_else() -> None:
    said = Plan(lines=(PlanLine("+", "open it", "channel"),), notes=(PlanNote("it stays private"),))
    assert len(said.digest) == 16
    assert said.digest == replace(said, cancels=("E1",), lines=(PlanLine("+", "open it", "other"),)).digest
    others = (
        replace(said, lines=(PlanLine("-", "open it"),)),
        replace(said, lines=(PlanLine("+", "open that"),)),
        replace(said, notes=()),
        replace(said, notes=(PlanNote("it stays private", "Stays"),)),
        Plan(),
    )
    assert len({said.digest, *(one.digest for one in others)}) == 6


def test_a_plan_is_empty_when_nothing_is_done_nor_cancelled() -> None:
    (action,) = plan(Desired((thing("post", "it"),)), Observed()).actions
    assert Plan(lines=(PlanLine("=", "as it is"),), abandons=("E1",)).is_empty
    assert not Plan(cancels=("E1",)).is_empty
    assert not Plan(actions=(action,)).is_empty


def test_who_comes_in_is_more_where_the_lines_also_name_who_is_in_already() -> None:
    both = [
        PlanLine("+", "invite Ann, Ben (@oncall)", "invite", 2),
        PlanLine("+", "invite Dee (declared it)", "invite"),
    ]
    assert plan_sum.in_short(both, ()) == "Brings in 3 people"
    both[1] = replace(both[1], inside=1)
    assert plan_sum.in_short(both, ()) == "Brings in 2 more people"
    assert plan_sum.reach(both) == "Pages no one · brings in 2 more people"
    assert plan_sum.in_short(both[1:], ()) == plan_sum.NOTHING


@pytest.mark.parametrize(
    ("doubted", "says"),
    [
        ((), "Pages Ann and Eve"),
        (("maintenance/a",), "Pages Ann and Eve (1 of 2 in a maintenance window)"),
        (("maintenance/a", "maintenance/b"), "Pages Ann and Eve (in a maintenance window)"),
        (("unheard/a", "unheard/b"), "Pages Ann and Eve (without notifying anyone)"),
        (
            ("maintenance/a", "unheard/b"),
            "Pages Ann and Eve (1 of 2 in a maintenance window; 1 of 2 without notifying anyone)",
        ),
    ],
)
def test_the_sum_says_which_pages_may_reach_no_one(doubted: tuple[str, ...], says: str) -> None:
    pages = [PlanLine("+", "page A", "page", paged=("Ann",)), PlanLine("+", "page B", "page", paged=("Eve",))]
    lines = [*pages, *(PlanLine("!", "may notify no one", key) for key in doubted)]
    assert plan_sum.in_short(lines, ()) == says
    assert plan_sum.reach(lines) == says
