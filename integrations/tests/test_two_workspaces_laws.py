"""Firekind moves between two Slack workspaces while requests are unanswered: nothing private stays public in either."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from integrations.slack.fake import FakeSlack
from integrations.tests import another_workspace, test_late_laws
from integrations.tests.duty import Duty
from integrations.tests.test_late_laws import LateStory, Step, acts, anybody, silences, texts
from integrations.tests.test_people_laws import built_duty
from integrations.tests.test_unanswered_laws import ANNOUNCED, SECRET
from workflows import ports, tasks
from workflows.effects import workspaces

__all__ = ["built_duty"]  # the fixture of this module

ONLY_HERE: Final = ("ann", "sid")
ONLY_THERE: Final = "zoe"

steps = st.one_of(
    acts,
    st.tuples(st.sampled_from(["say", "title"]), st.one_of(anybody, st.just(ONLY_THERE))),
    silences,
    silences,
    st.tuples(st.just("move")),
    st.tuples(st.just("move")),
    st.tuples(st.just("read")),
    st.tuples(st.just("wait"), st.sampled_from([1, 20, 50])),
    st.tuples(st.just("settle")),
)


@dataclass
class MovingStory(LateStory):
    """A story in which another workspace is connected, where some people are not and others are."""

    stack: ExitStack = field(default_factory=ExitStack)
    elsewhere: FakeSlack = field(default_factory=lambda: another_workspace.workspace([]))

    def sees(self, by: str) -> bool:
        return by in another_workspace.handles(self.slack) and super().sees(by)

    def move(self) -> None:
        """Connect the other workspace, and start the processes again."""
        house = self.duty.house
        self.elsewhere, house.slack = house.slack, self.elsewhere
        house.chat = another_workspace.chat_on(house.slack)
        self.stack.enter_context(ports.using(chat=house.chat, pager=self.duty.pager, tracker=ports.tracker()))
        self.work()

    def read(self) -> None:
        """Read the workspace, as a worker does at its start and now and then."""
        tasks.refresh_directory()

    def settle(self) -> None:
        self.wait(20)
        self.read()
        super().settle()

    def check_said(self) -> None:
        """What a channel shows is checked where nothing moves."""

    def check(self) -> None:
        chat = self.duty.house.chat
        assert workspaces.is_followed(chat)
        super().check()
        if self.incident.private:
            told = " ".join(self.incident.resources.filter(kind="gap").values_list("label", flat=True))
            failed = " ".join(self.incident.effects.filter(state="failed").values_list("error", flat=True))
            assert not secrets(self.elsewhere) or "workspace" in told + failed, (secrets(self.elsewhere), told, failed)

    def end_all(self) -> None:
        """Become private in either workspace; then each is connected again."""
        self.become_private()
        for _ in range(4):
            self.settle()
            self.play(("move",))
        self.settle()
        assert self.incident.private
        for slack in (self.slack, self.elsewhere):
            assert not secrets(slack)
            assert not [text for text in texts(slack.channel(ANNOUNCED)) if self.incident.codename in text]


def secrets(slack: FakeSlack) -> list[str]:
    """Return what anyone in a workspace can read of it."""
    public = [one for one in slack.workspace.channels.values() if not one.is_private and one.kind != "im"]
    return [text for one in public for text in (*texts(one), one.topic.value) if SECRET in text]


@contextmanager
def begun(built: Duty, first: str) -> Iterator[MovingStory]:
    """An incident declared and nothing of it carried out yet; all of it is rolled back afterwards."""
    with test_late_laws.begun(built, first) as story, ExitStack() as stack:
        people = [one for one in another_workspace.handles(story.slack) if one not in ONLY_HERE]
        other = another_workspace.workspace([*people, ONLY_THERE])
        other.now = story.slack.now
        yield MovingStory(story.duty, story.incident, story.late, story.other, stack=stack, elsewhere=other)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.sampled_from(["ambiguous", "major", "internal"]), taken=st.lists(steps, min_size=2, max_size=8))
def test_nothing_private_stays_public_in_either_workspace(
    built_duty: Duty, db: None, first: str, taken: list[Step]
) -> None:
    with begun(built_duty, first) as story:
        for step in taken:
            story.play(step)
            event(step[0])
        story.end_all()
