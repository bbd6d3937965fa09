"""Whatever an incident contains, Slack accepts every message and modal about it, by the stand-in's checks."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from incidents.models import IncidentType, PolicyVersion
from integrations.slack.adapter import cards
from integrations.slack.interaction import plans
from integrations.slack.listeners.incident.declare import type_options
from integrations.slack.protocol import block_kit, blocks
from integrations.slack.protocol.limits import MAX_BLOCKS_WEIGHT, MAX_UPDATE_BYTES
from integrations.slack.tests.test_typed_laws import STATES, messages, typed_into
from workflows.planning.facts import ChannelPost, Facts, RetypeNews
from workflows.planning.plan import Plan, PlanNote
from workflows.planning.plan_lines import PlanLine
from workflows.tests.shipped_facts import POLICIES, someone

LETTERS = st.sampled_from(["x", "é", "🔥", "&", "<", "*", "`", "\n", " "])
PEOPLE = 130
TYPES = 60
LINES = 120


def grown(known: Facts, said: str) -> Facts:
    """Return the facts with the longest possible title, long words everywhere, a role for everyone, a long retype."""
    leads = replace(someone("ann"), name=said[:120] or "x")
    everybody = tuple((f"{number} {said[:100]}", replace(leads, chat_id=f"U{number}")) for number in range(PEOPLE))
    names = ", ".join(one.name for _, one in everybody)
    news = RetypeNews(said[:80], said[:80], "red", "major", tuple(f"+ invite {names} {n}" for n in range(LINES)))
    post = ChannelPost(99, "retyped", "", said[:120], "", said, known.room, retype=news)
    filled = typed_into(known, said)
    told = (*filled.told, post)
    return replace(filled, title=said[:200], roles=everybody, lead=leads, told=told)


@given(state=st.sampled_from(STATES), letter=LETTERS, length=st.sampled_from([1, 200, 3_001, 10_000]))
def test_slack_takes_every_message(state: Facts, letter: str, length: int) -> None:
    for message in messages(grown(state, letter * length)):
        assert block_kit.message_problems(message) == []
        shown = [message.get("blocks"), message.get("attachments")]
        assert block_kit.weight(shown) <= cards.HEAVIEST < MAX_BLOCKS_WEIGHT
        assert len(message["text"].encode()) <= MAX_UPDATE_BYTES


@given(letter=LETTERS, lines=st.integers(0, LINES), length=st.sampled_from([1, 75, 150, 3_001]))
def test_slack_takes_every_plan_with_every_type_to_choose_from(letter: str, lines: int, length: int) -> None:
    said = letter * length
    names = ", ".join([said[:60]] * PEOPLE)
    signs = "+~-=!"
    drawn = [PlanLine(signs[n % 5], f"invite {names} {n}", "invite/1") for n in range(lines)]
    plan = Plan(lines=tuple(drawn), notes=tuple(PlanNote(said[:400], f"{n % 4}") for n in range(min(lines, 4))))
    select = blocks.select(type_options([kind(number, said) for number in range(TYPES)]), action_id="type")
    parts = [blocks.field("New type", select, block_id="type", hint=said), *plans.shown(plan)]
    view = blocks.modal("Retype", parts, callback_id="x", submit="Confirm", close="Cancel")
    assert block_kit.view_problems(view) == []
    assert not block_kit.is_too_large(view)


def kind(number: int, said: str) -> IncidentType:
    policy = replace(POLICIES["major"], slug=f"type-{number}", name=f"{number} {said[:80]}", says=said)
    return IncidentType(slug=policy.slug, current=PolicyVersion(body=policy.as_dict()))


LINE = st.sampled_from([("+", "invite"), ("~", "post"), ("!", "invite/U1"), ("=", "page/policy/P1")])


@given(lines=st.lists(LINE, min_size=plans.SHOWN - 1, max_size=2 * plans.SHOWN))
def test_however_long_a_plan_is_its_warnings_and_who_is_not_paged_are_shown(lines: list[tuple[str, str]]) -> None:
    plan = Plan(lines=tuple(PlanLine(sign, f"line {n} of it", key) for n, (sign, key) in enumerate(lines)))
    shown = str(plans.shown(plan))
    needed = [one.text for one in plan.lines if one.sign in "!="]
    assert sum(text in shown for text in needed) == min(len(needed), plans.SHOWN)
    assert sum(one.text in shown for one in plan.lines) == min(len(lines), plans.SHOWN)
    numbers = [shown.index(one.text) for one in plan.lines if one.text in shown]
    assert numbers == sorted(numbers)
