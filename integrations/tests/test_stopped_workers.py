"""A worker may be suspended before any request and resume after another did its work: nothing is done twice.

That happens to a host that is suspended, moved, or out of memory; SIGSTOP does the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.tests.straight import StraightWire
from integrations.tests.house import House, house, workspace
from integrations.tests.late_vendor import Late
from workflows.models import Effect
from workflows.reconcile import reconcile

REQUESTS = range(20)  # more than any of the stories has


@dataclass(slots=True)
class Stopped:
    """The request before which a worker is suspended, for how long, and how many requests there were."""

    late: Late
    before: int
    for_s: float
    incident: Incident | None = None
    meanwhile: Callable[[], object] = lambda: None
    seen: int = 0
    happened: bool = False

    def pass_by(self) -> None:
        """Suspend the caller at the chosen request, while others continue."""
        if self.incident is None or self.happened:
            return
        self.seen += 1
        if self.seen > self.before:
            self.happened = True
            until = self.late.now + timedelta(seconds=self.for_s)
            self.meanwhile()
            self.late.live_on(self.incident, until=until)
            self.late.now = max(self.late.now, until)


@pytest.fixture
def stopped(
    db: None, late: Late, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[tuple[House, Stopped]]:
    about, call = Stopped(late, *request.param), StraightWire.call

    def stopping(self: StraightWire, method: str, **arguments: Any) -> dict[str, Any]:
        about.pass_by()
        return call(self, method, **arguments)

    monkeypatch.setattr(StraightWire, "call", stopping)
    slack = workspace()
    slack.now = late.monotonic
    with house(slack) as made:
        yield made, about


def assert_once(at: House, incident: Incident) -> None:
    marks = Counter(
        str(message.metadata)
        for channel in at.slack.workspace.channels.values()
        for message in channel.messages.values()
        if message.metadata
    )
    assert not {mark: count for mark, count in marks.items() if count > 1}
    ours = [one for one in at.slack.workspace.channels.values() if one.creator == at.chat.self_id]
    assert len(ours) == incident.resources.filter(kind="channel").count()
    assert all(len(one.bookmarks) <= 1 for one in at.slack.workspace.channels.values())
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()


@pytest.mark.parametrize("late", [(0.1, "", 10.0)], indirect=True)
@pytest.mark.parametrize("stopped", [(n, 31) for n in REQUESTS], indirect=True)
@pytest.mark.parametrize("turns", [False, True], ids=["declared", "retyped"])
def test_what_another_worker_did_meanwhile_is_not_done_again(
    stopped: tuple[House, Stopped], late: Late, turns: bool
) -> None:
    at, about = stopped
    dee = at.person("dee")
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=at.type("ambiguous"))
    if turns:
        late.live_on(incident)
        lifecycle.retype(incident, to=at.type("security"), by=dee, at=late.now)
    about.incident = incident
    late.live_on(incident)
    late.live_on(incident)
    assert_once(at, incident)


@pytest.mark.parametrize("late", [(0.1, "", 10.0)], indirect=True)
@pytest.mark.parametrize("stopped", [(n, for_s) for n in range(7) for for_s in (1, 31)], indirect=True)
@pytest.mark.parametrize("unsure", [False, True], ids=["first-try", "tried-before"])
def test_what_turned_private_meanwhile_is_not_said_in_public(
    stopped: tuple[House, Stopped], late: Late, unsure: bool
) -> None:
    at, about = stopped
    dee = at.person("dee")
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=at.type("ambiguous"))
    late.live_on(incident)
    turned: list[int] = []

    def turn() -> None:
        lifecycle.retype(incident, to=at.type("security"), by=dee, at=late.now)
        turned.append(len(at.slack.calls))

    lifecycle.update(incident, text="The keys leaked", by=dee, at=late.now)
    lifecycle.rename(incident, title="The keys leaked", by=dee, at=late.now)
    if unsure:
        late.fates, late.about = ["timed out"], "chat.postMessage"
        reconcile.reconcile(incident.pk, at=late.now)
        Effect.objects.filter(incident=incident, state="waiting").update(unsure=True, tried_at=late.now)
        late.now += timedelta(seconds=50)
    about.incident, about.meanwhile = incident, turn
    late.live_on(incident)
    late.live_on(incident)
    assert "keys leaked" not in said_in_public(at, turned)
    assert_once(at, incident)


def said_in_public(at: House, since: list[int]) -> str:
    """Return everything that was sent to public channels, by id or name, since the first of these calls."""
    public = [one for one in at.slack.workspace.channels.values() if not one.is_private]
    named = {*(one.id for one in public), *(f"#{one.name}" for one in public)}
    calls = list(at.slack.calls)[since[0] :] if since else []
    return str([call.args for call in calls if call.args.get("channel") in named])


# The state of the announcement channel, and how many requests a declaration then takes.
BEFORE_IT: dict[str, tuple[Callable[[House], object], int]] = {
    "as-it-should": (lambda at: None, 7),
    "not-joined": (lambda at: at.slack.acts.kick("dee", "incidents", "firekind"), 10),
    "gone": (lambda at: at.slack.acts.rename("dee", "incidents", "old-incidents"), 8),
    "limited": (lambda at: at.slack.faults.add("ratelimited", method="chat.postMessage", times=2), 9),
}
STOPPED = [
    (name, (n, for_s)) for name, (_, requests) in BEFORE_IT.items() for n in range(requests) for for_s in (1, 31)
]


@pytest.mark.parametrize("late", [(0.1, "", 10.0)], indirect=True)
@pytest.mark.parametrize(("before", "stopped"), STOPPED, indirect=["stopped"])
def test_what_turns_private_while_it_is_announced_is_not_said_in_public_after_that(
    stopped: tuple[House, Stopped], late: Late, before: str
) -> None:
    """A request that Slack refused did nothing, and what it was for may no longer be wanted at the next one."""
    at, about = stopped
    BEFORE_IT[before][0](at)
    dee = at.person("dee")
    incident = lifecycle.declare("The keys leaked", by=dee, at=late.now, type=at.type("major"))
    turned: list[int] = []

    def turn() -> None:
        lifecycle.retype(incident, to=at.type("security"), by=dee, at=late.now)
        turned.append(len(at.slack.calls))

    about.incident, about.meanwhile = incident, turn
    late.live_on(incident)
    at.slack.faults.clear()
    late.live_on(incident)
    assert turned
    assert "keys leaked" not in said_in_public(at, turned)
