"""Random stories for the planner: verbs, effects that succeed or fail, and what people do by hand outside."""

from __future__ import annotations

from hypothesis import strategies as st

from workflows.planning.pages import ACKNOWLEDGED, RESOLVED, TRIGGERED
from workflows.tests.shipped_facts import POLICIES
from workflows.tests.world import World

types = st.sampled_from(sorted(POLICIES))
steps = st.one_of(
    st.tuples(st.just("retype"), types),
    st.tuples(st.just("tell"), st.sampled_from(["updated", "impact", "next_step", "due", "gap"])),
    st.tuples(st.just("measure"), st.just("")),
    st.tuples(st.just("take_back"), st.integers(0, 9)),
    st.tuples(st.just("lead"), st.sampled_from(["ann", "zoe"])),
    st.tuples(st.just("status"), st.sampled_from(["open", "mitigated", "resolved", "cancelled"])),
    st.tuples(st.just("ask"), st.sampled_from(["checkout-api", "fleet"])),
    st.tuples(st.just("serve"), st.sampled_from(["payments", "checkout"])),
    st.tuples(st.just("leave"), st.sampled_from(["ann", "lea", "sam", "dee"])),
    st.tuples(st.just("reconcile"), st.just("")),
    st.tuples(st.just("begin"), st.integers(0, 9)),
    st.tuples(st.just("perform"), st.integers(0, 9)),
    st.tuples(st.just("fail"), st.integers(0, 9)),
    st.tuples(st.just("retry"), st.just("")),
    st.tuples(st.just("settle"), st.just("")),
    st.tuples(
        st.just("hear"),
        st.tuples(st.sampled_from([TRIGGERED, ACKNOWLEDGED, RESOLVED, ACKNOWLEDGED]), st.integers(0, 9)),
    ),
    st.tuples(st.just("page"), st.sampled_from(["Engineering", "Security", "payments"])),
)
# What people do to the channels themselves, in Slack.
by_hand = st.tuples(st.sampled_from(["archive", "unarchive", "delete", "convert"]), st.integers(0, 3))
another = st.tuples(st.just("open_another"), st.just(""))
# What pages go through: types that page, what happens to the pages, and workers that stop anywhere in between.
nights = st.lists(
    st.one_of(
        st.tuples(st.just("retype"), st.sampled_from(["major", "isolated", "time-bomb", "security"])),
        st.tuples(st.just("hear"), st.tuples(st.sampled_from([TRIGGERED, ACKNOWLEDGED, RESOLVED]), st.integers(0, 3))),
        st.tuples(st.just("status"), st.sampled_from(["open", "resolved"])),
        st.tuples(st.just("page"), st.sampled_from(["Engineering", "payments"])),
        st.tuples(st.sampled_from(["reconcile", "settle", "settle", "retry"]), st.just("")),
        st.tuples(st.just("upon"), st.sampled_from(["begin", "perform", "fail"])),
    ),
    min_size=6,
    max_size=30,
)


def play(world: World, story: list[tuple[str, object]]) -> None:
    """Apply the steps, except those that the lifecycle would refuse."""
    for verb, value in story:
        if verb in {"begin", "perform", "fail"}:
            ready = world.ready()
            if ready and isinstance(value, int):
                getattr(world, verb)(ready[value % len(ready)])
        elif verb == "upon":
            for action in [one for one in world.ready() if one.kind == "page"][:1]:
                getattr(world, str(value))(action)
        elif verb in {"reconcile", "settle", "retry", "measure", "open_another"}:
            getattr(world, verb)()
        elif verb == "retype" and (not world.facts.active or world.facts.policy.slug == value):
            continue
        else:
            getattr(world, verb)(value)
