"""Laws of a plan's summary: its sums, and who is named or warned."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from workflows.planning import participation
from workflows.planning.desired import desired_state
from workflows.planning.facts import ChannelPost, TaskNow
from workflows.planning.plan import Plan, plan
from workflows.planning.plan_lines import PlanLine
from workflows.planning.wording import shut_out
from workflows.tests.shipped_facts import facts, someone
from workflows.tests.stories import play, steps, types
from workflows.tests.world import World

NAMED = re.compile(r"(?:invite|end access for) (?P<names>[^(]+?)(?: \(.*)?")
PAGES = re.compile(r"\(pages (?P<names>[^)]+)\)")
FIGURES = {
    "page": r"(?:sends (\d+) pages?|pages (.+))",
    "over": r"resolves (\d+) pages?",
    "in": r"brings in (\d+) (?:more )?(?:person|people)",
    "out": r"(\d+) loses? access",
    "channel": r"opens (\d+) channels?",
    "post": r"posts in (\d+) channels?",
    "capture": r"captures (\d+) profiles?",
    "uncaptured": r"cancels (\d+) captures?",
    "other": r"(\d+) other changes?",
}


def paged_in(plan: Plan) -> list[str] | None:
    """Read off a plan's lines who is paged; None if one of them names no one."""
    found = [PAGES.search(line.text) for line in plan.lines if (line.sign, line.key) == ("+", "page")]
    names = [name for one in found if one for name in re.split(", | and ", one["names"])]
    return None if not found or None in found else list(dict.fromkeys(names))


def stood_for(line: PlanLine) -> tuple[str, int]:
    """Read off a line's words what it is about, and how many of it there are."""
    times = int(found[1]) if (found := re.search(r" \((\d+) times\)$", line.text)) else 1
    verb = line.text.split()[0]
    if match := NAMED.fullmatch(line.text):
        return "in" if verb == "invite" else "out", len(match["names"].split(", "))
    words = {"+ page": "page", "- resolve": "over", "+ post": "post", "+ capture": "capture", "+ open": "channel"}
    if line.text.startswith(("move the conversation", "open ")) and "ticket" not in line.text:
        return "channel", times
    if line.text.startswith("no longer capture"):
        return "uncaptured", times
    what = words.get(f"{line.sign} {verb}", "other")
    return what, times * (len(line.text.split(", ")) if line.key == "small" else 1)


@settings(max_examples=150, deadline=None)
@given(first=types, story=st.lists(steps, max_size=25), to=types, owner=st.sampled_from(["ann", "zoe", "dee", ""]))
def test_the_sum_of_a_plan_adds_up_to_its_steps_and_names_no_figure_that_is_nought(
    first: str, story: list[tuple[str, object]], to: str, owner: str
) -> None:
    world = World(facts(first, pager=True))
    play(world, story)
    if owner:
        world.facts = replace(world.facts, next_step=step_of(owner))
    before = world.known()
    if world.facts.active and to != world.facts.policy.slug:
        world.retype(to)
        assert world.known().inside == {stay.who.person_id for stay in before.stays if stay.here}
    result = plan(desired_state(world.known()), world.observed())
    result = replace(result, lines=(*shut_out.lines(before, world.known()), *result.lines))
    counted: Counter[str] = Counter()
    for line in (one for one in result.lines if one.sign in "+~-"):
        what, count = stood_for(line)
        counted[what] += count
    if counted["post"]:
        made = [one for one in result.actions if one.kind == "post" and one.verb == "create"]
        assert counted["post"] == len(made)
        counted["post"] = len({one.spec.get("room") or one.spec["channel"] for one in made})
    inside = {stay.who.name for stay in before.stays if stay.who.person_id in world.known().inside}
    named = [match["names"] for line in result.lines if line.sign == "+" and (match := NAMED.fullmatch(line.text))]
    counted["in"] -= sum(name in inside for names in named for name in names.split(", "))
    parts = result.in_short.split(" · ")
    texts = [(what, re.fullmatch(one, part, re.IGNORECASE)) for part in parts for what, one in FIGURES.items()]
    read = {what: found for what, found in texts if found}
    said = {what: int(found[1] or 0) for what, found in read.items()}
    if (who := paged_in(result)) is not None:
        text = f"Pages {len(who)} people" if len(who) > 3 else f"Pages {' and '.join(who)}"
        assert parts[0].replace(", ", " and ") == text
        said["page"] = counted["page"]
    reach = ("page", "over", "in", "out")
    whole = [found[0] for what, found in read.items() if what in reach]
    assert result.reach.casefold() == " · ".join([*(() if counted["page"] else ("pages no one",)), *whole]).casefold()
    assert said == {what: count for what, count in counted.items() if count}
    assert len(parts) == max(len(said), 1)
    assert (result.in_short == "Nothing changes for anyone") == (not said)


def step_of(name: str, n: int = 99) -> ChannelPost:
    """A next step that someone takes."""
    return ChannelPost(n, "next_step", "the next step", "Dee", "", "look at the pool", 1, owner=someone(name))


@settings(max_examples=150, deadline=None)
@given(
    first=types,
    story=st.lists(steps, max_size=25),
    to=types,
    owners=st.lists(st.tuples(st.sampled_from(["ann", "zoe", "dee", "sam"]), st.booleans()), max_size=4),
    next_owner=st.sampled_from(["ann", "zoe", "dee", "sam"]),
)
def test_everyone_who_owns_something_and_is_shut_out_is_warned_of_once_and_nobody_else(
    first: str, story: list[tuple[str, object]], to: str, owners: list[tuple[str, bool]], next_owner: str
) -> None:
    world = World(facts(first, pager=True))
    play(world, story)
    tasks = [replace(step_of(name, 100 + n), kind="task", owner=None) for n, (name, _) in enumerate(owners)]
    tasks = [
        replace(one, task=TaskNow(n, "task", "do it", "open" if is_open else "done", someone(name)))
        for n, (one, (name, is_open)) in enumerate(zip(tasks, owners, strict=True))
    ]
    told = (*world.facts.told, *tasks)
    world.facts = replace(world.facts, told=told, next_step=step_of(next_owner))
    before = world.known()
    if not world.facts.active or to == world.facts.policy.slug:
        return
    world.retype(to)
    after = world.known()
    found = list(shut_out.lines(before, after))
    turned = after.private and not before.private
    inside = {one.who.name for one in participation.of(after).standings.values() if one.wanted}
    owning = {someone(name).name for name, is_open in owners if is_open} | {someone(next_owner).name}
    warned = [line.text.split()[0] for line in found if line.is_warning]
    assert sorted(warned) == sorted(owning - inside if turned else ())
    taking_part = {one.who.name for one in before.stays if one.here} | owning
    named = [line.text for line in found if not line.is_warning]
    lost = sorted(taking_part - inside) if turned else []
    assert named == ([f"end access for {', '.join(lost)}"] if lost else [])
