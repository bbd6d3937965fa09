"""Every function that draws a message, a modal or a tab is called with the worst input, and Slack accepts the result.

Those functions are found in the sources: a new one that is not called here fails the test.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import pytest
from django.utils import timezone

from incidents import event_kinds, lifecycle
from incidents.models import Followup, Incident, Person
from incidents.models.access import Miss
from integrations.slack.adapter import cards
from integrations.slack.interaction import replying
from integrations.slack.listeners.events import links
from integrations.slack.listeners.incident import fill
from integrations.slack.protocol import block_kit
from integrations.slack.tests import worst
from integrations.slack.tests.door import Door
from integrations.slack.tests.test_limits_laws import grown
from integrations.slack.tests.test_typed_everywhere import READ, WRITTEN
from integrations.slack.tests.test_typed_laws import KINDS, STATES, messages
from integrations.slack.tests.typed import controls
from integrations.slack.tests.worst import NAME, TITLE, WORST, faults, told
from stack.tests import syntax
from workflows.models import Page
from workflows.planning.facts import ChannelPost
from workflows.planning.wording import cards as wording
from workflows.planning.wording import posts
from workflows.planning.wording.card import Card
from workflows.reconcile import missed, weekly
from workflows.status import workers

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).resolve().parents[3]
DRAWING: Final = (
    "integrations/slack/listeners",
    "integrations/slack/adapter",
    "integrations/slack/interaction",
    "workflows",
)
MAKERS: Final = frozenset({"Card", "Say"})
# Only called elsewhere: a seal sent to auditors, which contains nothing that anyone typed.
ELSEWHERE: Final = frozenset({"workflows/status/audit_head.py:post"})


def drawers() -> set[str]:
    """Return every function that makes a card, an answer or blocks, by file and name."""
    found = set()
    for folder in DRAWING:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "tests" not in file.parts:
                tree = syntax.tree(file)
                named = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and _draws(one))
                found |= {f"{file.relative_to(ROOT)}:{one.name}" for one in named}
    return found - ELSEWHERE


def _draws(function: ast.FunctionDef) -> bool:
    inner = {
        part
        for one in ast.walk(function)
        if one is not function and isinstance(one, ast.FunctionDef)
        for part in ast.walk(one)
    }
    calls = (one.func for one in ast.walk(function) if isinstance(one, ast.Call) and one not in inner)
    return any(
        (isinstance(call, ast.Name) and call.id in MAKERS)
        or (isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name) and call.value.id == "blocks")
        for call in calls
    )


@contextmanager
def watched() -> Iterator[set[CodeType]]:
    """Record every function that is called."""
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            called.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(before)


def names(called: set[CodeType]) -> set[str]:
    """Return the names of our own functions among the calls."""
    ours = (one for one in called if one.co_filename.startswith(str(ROOT)))
    return {f"{Path(one.co_filename).relative_to(ROOT)}:{one.co_name}" for one in ours}


@pytest.fixture
def incident(door: Door) -> Iterator[Incident]:
    """The worst incident."""
    with worst.declared(door) as made:
        yield made


def test_every_kind_of_entry_that_is_told_is_among_those_that_are_drawn_at_their_worst() -> None:
    assert set(KINDS) >= event_kinds.TOLD


def test_slack_takes_what_every_function_draws_and_marks_nothing_that_was_typed(door: Door, incident: Incident) -> None:
    with watched() as called:
        for state in STATES:
            for message in messages(grown(state, WORST * 60)):
                assert block_kit.message_problems(message) == []
        for card in by_themselves(incident):
            assert block_kit.message_problems(cards.message(card)) == []
        assert block_kit.view_problems(replying.notice(WORST * 60)) == []
        assert block_kit.view_problems(replying.over_form({}, WORST * 60, again=True)["view"]) == []
        assert block_kit.block_problems(list(links._card(incident)["blocks"])) == []
        typed(door, incident)
        pressed(door, incident)
        private(door)
    assert drawers() - names(called) == set()
    assert faults(told(door)) == []
    dates = [one for text in told(door) for one in controls(text) if one.startswith("!date^")]
    assert dates
    assert not [one for one in dates if not one.endswith(" UTC")], "where Slack shows no date, the zone is named"
    assert not [one for one in told(door) if "did not open the window" in one]


def by_themselves(incident: Incident) -> Iterator[Card]:
    """Yield cards outside any incident's plan: direct messages, and what remains of withdrawn messages."""
    at, ann = timezone.now(), Person.objects.get(name=NAME)
    late = Followup(incident=incident, n=1, text=WORST, due_on=date(2026, 1, 1), phase=Followup.Phase.AFTERWARDS)
    yield weekly._card([late] * 60)
    yield missed._card(Miss(person=ann, codename=WORST[:80], at=at))
    yield workers._card(at)
    for state in STATES:
        yield posts.by_hand(ChannelPost(1, "failed", WORST, NAME, WORST, WORST, 1, retry="3", by_hand=WORST), state)
        yield posts.unread(ChannelPost(1, "evidence", WORST, NAME, WORST, WORST, 1, evidence=1), state)
        yield wording.channel_gone(state)
        yield wording.nobody_invited(state)
        yield wording.ended_announcement(replace(state, title=TITLE))
    yield from (wording.withdrawn(), wording.farewell(), wording.redacted(), wording.withdrawn_announcement())
    yield wording.taken_back("message", did="retracted", done="retracted", by=NAME)


def typed(door: Door, incident: Incident) -> None:
    """Type every command, with and without words, in the channel and elsewhere."""
    channel = door.house.channel(incident)
    for words in (*READ, *ASKED):
        door.command("ann", words.replace("{}", WORST), channel=channel)
        if door.slack.modal("ann"):
            door.slack.acts.close("ann")
    for words in WRITTEN:
        door.command("ann", words.replace("{}", TITLE), channel=channel)
    door.command("ann", f"update {WORST}")
    door.press("ann", "firekind:pick", channel="lobby", value=incident.codename)
    door.press("ann", "firekind:picked", channel="lobby")
    door.slack.add_channel("inc-of-nobody", members=[door.slack.person("ann").id])
    door.command("ann", f"update {WORST}", channel="inc-of-nobody")
    ts = door.slack.acts.say("ben", "lobby", WORST)
    for shortcut in ("capture-this", "task-of", "declare-from"):
        door.shortcut("ann", f"firekind:{shortcut}", channel="lobby", ts=ts)
    for _ in range(20):
        lifecycle.add_followup(incident, text=WORST, phase=Followup.Phase.DURING, by=incident.lead, at=door.house.now())
    door.command("ann", "tasks", channel=channel)


def pressed(door: Door, incident: Incident) -> None:
    """Press the buttons of cards and the tab, and submit the modals that open."""
    channel, at = door.house.channel(incident), timezone.now()
    page = Page.objects.create(
        incident=incident, key="page/policy/P1", target="policy/P1", name=NAME, dedup_key="x", opened_at=at,
        status=Page.Status.TRIGGERED, status_at=at, url="https://pager.test/1",
    )  # fmt: skip
    page.rung.add(door.house.person("ann"))
    door.slack.acts.open_home("ann")
    door.deliver()
    carried(door, "firekind:acknowledge", f"{incident.codename}|{page.pk}", channel)
    door.house.settle(incident)
    assert block_kit.view_problems(fill.modal(incident, WORST[:80])) == []
    carried(door, "firekind:task-reassign", f"{incident.codename}|1", channel)
    door.command("ann", "lead @ben", channel=channel)
    carried(door, "firekind:take-lead", incident.codename, channel)
    carried(door, "firekind:new-channel", incident.codename, channel)
    carried(door, "firekind:retry", f"{incident.codename}|1", channel)
    door.command("ann", "type security", channel=channel)
    door.slack.acts.close("ann")
    door.command("ann", f"type major because {WORST}", channel=channel)
    door.submit("ann")
    retyped = door.house.settle(incident).events.get(kind="retyped")
    carried(door, "firekind:changes", f"{incident.codename}|{retyped.n}", channel)
    door.command("ann", "evidence", channel=channel)
    door.submit("ann", link=f"https://x.example/{WORST}", title=TITLE[:150])
    door.command("ann", "finding", channel=channel)
    door.submit("ann", claim=TITLE, verdict="refuted", text=WORST)
    door.command("ann", "declare")
    door.submit("ann", title=TITLE, summary=WORST)


def carried(door: Door, action_id: str, value: str, channel: str) -> None:
    """Press a button with this value, wherever it is."""
    one = door.slack.acts.press("ann", "firekind:update", channel=channel)
    assert one is not None
    one.payload["actions"][0] |= {"action_id": action_id, "value": value}
    door.send(one)
    if door.slack.modal("ann"):
        door.slack.acts.close("ann")


def private(door: Door) -> None:
    """Do what is possible only in a private incident."""
    secret = door.declared(TITLE, type="security", by="sam")
    channel = door.house.channel(secret)
    door.command("sia", "open-up", channel=channel)
    door.submit("sia", summary=WORST.replace("amber-otter", ""))
    door.house.settle(secret)
    door.press("sam", "firekind:publish", channel=channel)
    door.command("eve", f"access {secret.codename} because {WORST}")
    door.house.settle(secret)
    door.slack.acts.open_home("sam")
    door.deliver()
    door.command("out", f"break-glass {secret.codename} because {WORST}")
    door.command("sam", f"type major because {WORST}", channel=channel)
    door.submit("sam")
    door.house.settle(secret)


ASKED: Final = (
    "rename {}", "summary {}", "bring @ben", "role Scribe @ben", "role", "checklist 1", "checklist", "duplicate x",
    "services a, b", "services", "archive", "lead @ben", "lead none", "lead", "next {}", "next", "edit", "redact",
    "edit 2 {}", "task {}", "task", "tasks", "followup", "impact {}", "status", "catchup", "summary", "finding {}",
    "replay", "open-up", "help all", "drill", "evidence https://x.example {}",
)  # fmt: skip
