"""Whatever people type stays text: it becomes no mention, link or date, and no cut leaves half of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from incidents import event_kinds
from integrations.slack.adapter import cards
from integrations.slack.interaction import plans
from integrations.slack.protocol import blocks, mrkdwn
from integrations.slack.tests.typed import CONTROL, FORGED, LONG, TYPED, controls, debris, written
from workflows.performing import performers
from workflows.planning.desired import desired_state
from workflows.planning.facts import ChannelPost, Facts, Published, RetypeNews, Room, TaskNow
from workflows.planning.observed import Observed
from workflows.planning.plan import Plan, PlanNote, plan
from workflows.planning.plan_lines import PlanLine
from workflows.planning.wording.card import Button, Card
from workflows.tests.shipped_facts import POLICIES, facts, someone

KINDS = ("updated", "impact", "next_step", *sorted(event_kinds.TOLD - {"updated", "impact", "next_step"}), "noted")
OUTSIDE = {"channel/1": {"id": "C1", "name": "one"}, "outlet": {"id": "C2", "name": "two"}}


def posted(said: str) -> tuple[ChannelPost, ...]:
    """Return an entry of every kind, with these words everywhere."""
    whole: dict[str, Any] = {"label": said, "by": said, "sentence": said, "text": said}
    return tuple(
        one
        for n, kind in enumerate(KINDS)
        for one in (
            ChannelPost(2 * n + 1, kind, room=1, **whole, **_more(kind, n + 1, said)),
            ChannelPost(2 * n + 2, kind, room=1, **whole, answer=said, by_hand=said, retry="3", unread=True),
        )
    )


def _more(kind: str, n: int, said: str) -> dict[str, Any]:
    """Return the fields that only entries of a kind have."""
    owner = replace(someone("ann"), name=said)
    match kind:
        case "evidence":
            return {"evidence": n}
        case "judged":
            return {"finding": n}
        case "retyped":
            return {"retype": RetypeNews(said, said, "red", "major", (f"+ invite {said}",))}
        case "task" | "followup":
            return {"task": TaskNow(n, kind, said, owner=owner, due=said, link="https://x.example", ticket=said)}
    return {"owner": owner}


def typed_into(known: Facts, said: str) -> Facts:
    """Return the facts with these words wherever someone may have typed them."""
    lead = replace(someone("ann"), name=said)
    public = Published("amber-otter", "outlet", said, "https://firekind.test/summaries/1/")
    told = posted(said)
    first, impact, step = (told[n] for n in (0, 2, 4))
    told = (replace(first, stated=(("Impact", impact), ("Next step", step))), *told[1:])
    policy = replace(known.policy, name=said, says=said)
    return replace(
        known, title=said, summary=said, lead=lead, roles=((said, lead),), told=told, update=told[0], impact=impact,
        next_step=step, published=public, policy=policy,
        rooms=tuple(replace(room, shown=said) for room in known.rooms),
    )  # fmt: skip


STATES = [
    *(facts(slug) for slug in POLICIES),
    replace(facts(), private=True, room=2, rooms=(*facts().rooms, Room(2, "x", True, "x"))),
    replace(facts(), active=False, status="resolved", there=frozenset({"channel/1", "announcement"})),
]


def messages(known: Facts) -> Iterator[dict[str, Any]]:
    """Yield every message and topic for an incident with these facts, as sent to Slack."""
    for thing in desired_state(known).things:
        if "card" in thing.spec:
            card = Card.from_dict(thing.spec["card"]).marked(lambda mark: performers._placed(mark, OUTSIDE))
            yield cards.message(card)
        elif thing.kind == "topic":
            yield {"text": mrkdwn.clip(mrkdwn.escape(thing.spec["text"]), 250)}


@given(state=st.sampled_from(STATES), said=TYPED)
def test_every_first_line_is_bold_to_its_end(state: Facts, said: str) -> None:
    shown = (thing.spec["card"] for thing in desired_state(typed_into(state, said)).things if "card" in thing.spec)
    for card in (Card.from_dict(one) for one in shown):
        if card.title.strip():
            first = cards.message(card)["blocks"][0]["text"]["text"]
            assert first.count("*") == 2
            assert "\n" not in first


def marked(sent: Iterable[dict[str, Any]]) -> tuple[Counter[str], list[str]]:
    """Count each mention, link and date in messages, and return those with all their texts."""
    said = [
        text for one in sent for text in (*written([one.get("blocks", []), one.get("attachments", [])]), one["text"])
    ]
    return Counter(control for text in said for control in controls(text)), said


@given(state=st.sampled_from(STATES), said=TYPED)
def test_the_messages_of_an_incident_mark_what_they_would_without_those_words(state: Facts, said: str) -> None:
    usual, _ = marked(messages(typed_into(state, "x")))
    found, texts = marked(messages(typed_into(state, said)))
    assert found - usual == Counter()
    assert not [text for text in texts if debris(text)]


@given(title=LONG, text=LONG, label=TYPED, value=LONG, says=LONG, link=TYPED)
def test_a_card_of_any_length_marks_nothing_by_its_words(
    title: str, text: str, label: str, value: str, says: str, link: str
) -> None:
    button = Button(label or "x", "open", link)
    card = Card("x", title, text, ((label, value),), f"https://x.example/{link}", label, (says or "x",), (button,))
    found, texts = marked([cards.message(card)])
    assert all(control.startswith("https://x.example/") for control in found)
    assert sum(found.values()) <= 1
    assert not [one for one in texts if debris(one)]


@given(said=TYPED)
def test_only_addresses_become_links(said: str) -> None:
    for url in (said, f"https://x.example/{said}"):
        (shown,) = [*controls(link := mrkdwn.link(url, said)), ""][:1]
        assert not debris(link)
        assert shown == "" or (shown.startswith(("https://", "http://")) and shown.count("|") == 1)
        assert len(controls(link)) <= 1
    assert controls(mrkdwn.mention(said, said)) == []
    assert controls(mrkdwn.channel(said, said)) == []


@given(lines=st.lists(LONG, max_size=4), notes=st.lists(LONG, max_size=3))
def test_a_plan_marks_nothing(lines: list[str], notes: list[str]) -> None:
    made = Plan(
        lines=tuple(PlanLine("=+"[n % 2], one) for n, one in enumerate(lines)), notes=tuple(map(PlanNote, notes))
    )
    said = list(written(plans.shown(made)))
    assert not [one for one in said if controls(one) or debris(one)]


@given(state=st.sampled_from(STATES), said=TYPED)
def test_nor_does_the_plan_of_an_incident(state: Facts, said: str) -> None:
    texts = list(written(plans.shown(plan(desired_state(typed_into(state, said)), Observed({}, {}, {})))))
    assert not [one for one in texts if controls(one) or debris(one)]


MARKED = st.lists(
    st.sampled_from(
        ["<@U1>", "<!date^1^{time}|x>", "<https://a.example/?a=1&amp;b=2|label &lt;x&gt;>", "&amp;", "&lt;"]
    )
    | st.text(alphabet="abc \n", max_size=20),
    max_size=40,
).map("".join)


@given(said=MARKED, limit=st.integers(2, 200))
def test_a_cut_leaves_nothing_half(said: str, limit: int) -> None:
    cut = mrkdwn.clip(said, limit)
    assert len(cut) <= max(limit, 1)
    assert not debris(cut)
    assert said.startswith(cut.removesuffix("…").rstrip()) or cut == said
    shown = blocks.mrkdwn(said, limit=limit)
    assert shown["text"] == cut


def test_the_words_that_are_tried_are_those_that_would_do_harm() -> None:
    assert [one for one in FORGED if CONTROL.search(one)]
