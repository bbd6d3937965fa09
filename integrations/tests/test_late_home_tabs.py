"""Slack carries out late a Home tab that it never confirmed: it shows nothing that its owner may no longer see."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from integrations.slack.adapter import current
from integrations.slack.listeners import home_tab
from integrations.tests.duty import Duty
from integrations.tests.late_house import NEVER, Silence
from integrations.tests.test_late_laws import LateStory, begun
from integrations.tests.test_people_laws import built_duty
from integrations.tests.test_unanswered_laws import SECRET
from workflows.ports import VendorError

__all__ = ["built_duty"]  # the fixture of this module

LOOK_S: Final = 5
people = st.sampled_from(["out", "ann", "eli"])
acts = st.one_of(
    st.tuples(st.just("open"), people, st.just(0), st.just(0)),
    st.tuples(st.just("open"), people, st.sampled_from([5, 16, 31, 44, NEVER]), st.sampled_from([1, 2, 99])),
    st.tuples(st.just("open"), people, st.sampled_from([5, 16, 31, 44, NEVER]), st.sampled_from([1, 2, 99])),
    st.tuples(st.just("to"), st.just("dee"), st.sampled_from(["security", "ambiguous"])),
    st.tuples(st.just("leave"), people),
    st.tuples(st.just("pass"), st.sampled_from([1, 4, 12, 30])),
)


def open_tab(story: LateStory, who: str, hold_s: int, times: int) -> None:
    """Let someone open the tab; Slack answers none of these requests, and carries them out late."""
    if times:
        story.late.vendors.silences.append(Silence("views.publish", hold_s, times))
    with suppress(VendorError):
        home_tab.draw(story.slack.person(who).id)
    story.late.vendors.silences.clear()


def live(story: LateStory, seconds: int) -> None:
    """Let time pass; workers look at the tabs now and then."""
    for _ in range(0, seconds, LOOK_S):
        story.wait(LOOK_S)
        home_tab.redraw()
        home_tab.refresh()


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(taken=st.lists(acts, min_size=1, max_size=7))
@example(taken=[("open", "out", 31, 1), ("to", "dee", "security")])
@example(taken=[("open", "ann", 44, 1), ("to", "dee", "security"), ("pass", 12), ("leave", "ann")])
def test_no_tab_shows_what_its_owner_may_no_longer_see(
    built_duty: Duty, db: None, taken: list[tuple[Any, ...]]
) -> None:
    with begun(built_duty, "ambiguous") as story, current.using(story.duty.house.chat):
        story.settle()
        for verb, *given in taken:
            if verb == "open":
                open_tab(story, *given)
            elif verb == "pass":
                live(story, *given)
            else:
                story.play((verb, *given))
        live(story, 90)
        for who in ("out", "ann", "eli"):
            assert story.sees(who) or SECRET not in str(story.slack.home(who)), who
        calls = story.slack.count("views.publish")
        live(story, 20)
        assert story.slack.count("views.publish") == calls, "tabs are not drawn again and again"
