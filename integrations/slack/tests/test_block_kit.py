"""Block Kit: what fits where, and how long it may be."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.models.blocks import ActionsBlock, HeaderBlock, SectionBlock

from integrations.slack.protocol.block_kit import block_problems, view_problems

Block = dict[str, Any]


def plain(words: str = "x") -> Block:
    return {"type": "plain_text", "text": words}


def mrkdwn(words: str = "x") -> Block:
    return {"type": "mrkdwn", "text": words}


def button(**more: Any) -> Block:
    return {"type": "button", "text": plain(), "action_id": "a", **more}


def option(value: str = "v") -> Block:
    return {"text": plain(), "value": value}


def select(**more: Any) -> Block:
    return {"type": "static_select", "action_id": "s", "options": [option()], **more}


CONFIRM = {"title": plain(), "text": mrkdwn(), "confirm": plain(), "deny": plain(), "style": "danger"}

GOOD: list[Block] = [
    {"type": "header", "text": plain("x" * 150)},
    {"type": "divider"},
    {"type": "section", "text": mrkdwn("x" * 3000), "accessory": button(confirm=CONFIRM, style="primary")},
    {"type": "section", "fields": [mrkdwn()] * 10},
    {"type": "section", "text": mrkdwn(), "accessory": {"type": "overflow", "action_id": "o", "options": [option()]}},
    {"type": "context", "elements": [mrkdwn(), {"type": "image", "image_url": "https://x", "alt_text": "x"}]},
    {"type": "actions", "elements": [button(), select(initial_option=option())]},
    {"type": "input", "label": plain(), "element": {"type": "plain_text_input", "multiline": True}, "hint": plain()},
    {"type": "input", "label": plain(), "element": {"type": "multi_users_select", "max_selected_items": 3}},
    {"type": "input", "label": plain(), "element": {"type": "checkboxes", "options": [option()]}},
    {"type": "image", "image_url": "https://x", "alt_text": "x", "title": plain()},
    {"type": "markdown", "text": "**x**"},
]

BAD: list[tuple[Any, str]] = [
    ({"type": "sectoin"}, "/blocks/0/type"),
    ("text", "/blocks/0"),
    ({"type": "header", "text": mrkdwn()}, "/blocks/0/text/type"),
    ({"type": "header", "text": plain("x" * 151)}, "/blocks/0/text/text"),
    ({"type": "header", "text": plain("")}, "/blocks/0/text/text"),
    ({"type": "header", "text": plain(), "colour": "red"}, "invalid additional property: colour"),
    ({"type": "section"}, "missing required field: text"),
    ({"type": "section", "text": mrkdwn("x" * 3001)}, "/blocks/0/text/text"),
    ({"type": "section", "fields": [mrkdwn()] * 11}, "/blocks/0/fields"),
    ({"type": "section", "fields": [mrkdwn("x" * 2001)]}, "/blocks/0/fields/0/text"),
    ({"type": "section", "text": mrkdwn(), "accessory": {"type": "plain_text_input"}}, "/blocks/0/accessory/type"),
    ({"type": "section", "text": {**mrkdwn(), "emoji": True}}, "invalid additional property: emoji"),
    ({"type": "context", "elements": [button()]}, "/blocks/0/elements/0/type"),
    ({"type": "context", "elements": [mrkdwn()] * 11}, "/blocks/0/elements"),
    ({"type": "actions", "elements": []}, "no fewer than 1"),
    ({"type": "actions", "elements": [button(action_id=str(n)) for n in range(26)]}, "no more than 25"),
    ({"type": "actions", "elements": [button(), button()]}, "already exists"),
    ({"type": "actions", "elements": [button(text=plain("x" * 76))]}, "/text/text"),
    ({"type": "actions", "elements": [button(value="x" * 2001)]}, "/value"),
    ({"type": "actions", "elements": [button(style="pretty")]}, "/style"),
    ({"type": "actions", "elements": [button(confirm={"title": plain()})]}, "missing required field"),
    ({"type": "actions", "elements": [select(options=[option(str(n)) for n in range(101)])]}, "no more than 100"),
    ({"type": "actions", "elements": [select(option_groups=[])]}, "exactly one"),
    ({"type": "actions", "elements": [select(initial_option=option("other"))]}, "must exactly match"),
    ({"type": "actions", "elements": [select(options=[option("x" * 151)])]}, "/value"),
    ({"type": "actions", "elements": [{"type": "plain_text_input", "action_id": "p"}]}, "/elements/0/type"),
    ({"type": "input", "label": plain(), "element": button()}, "/element/type"),
    ({"type": "input", "element": {"type": "plain_text_input"}}, "missing required field: label"),
    ({"type": "image", "alt_text": "x"}, "exactly one"),
    ({"type": "divider", "block_id": "x" * 256}, "/block_id"),
]


@pytest.mark.parametrize("block", GOOD, ids=lambda b: b["type"])
def test_good_blocks(block: Block) -> None:
    assert block_problems([block]) == []


@pytest.mark.parametrize(("block", "problem"), BAD, ids=lambda value: str(value)[:60])
def test_bad_blocks(block: Any, problem: str) -> None:
    assert problem in "\n".join(block_problems([block]))


def test_block_ids_are_unique() -> None:
    assert "already exists" in block_problems([{"type": "divider", "block_id": "d"}] * 2)[0]


def test_how_many_blocks() -> None:
    assert block_problems([{"type": "divider"}] * 50) == []
    assert block_problems([{"type": "divider"}] * 51)
    assert block_problems([{"type": "divider"}] * 100, "home") == []
    assert block_problems([{"type": "markdown", "text": "x"}], "modal")


def test_the_numbers_are_those_of_slacks_own_models() -> None:
    assert block_problems([{"type": "header", "text": plain("x" * HeaderBlock.text_max_length)}]) == []
    assert block_problems([{"type": "section", "fields": [plain()] * (SectionBlock.fields_max_length + 1)}])
    elements = [button(action_id=str(n)) for n in range(ActionsBlock.elements_max_length)]
    assert block_problems([{"type": "actions", "elements": elements}]) == []


VIEW: Block = {"type": "modal", "title": plain(), "blocks": []}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, ""),
        ({"title": plain("x" * 25)}, "/view/title/text"),
        ({"title": None}, "missing required field: title"),
        ({"private_metadata": "x" * 3001}, "/view/private_metadata"),
        ({"callback_id": "x" * 256}, "/view/callback_id"),
        ({"colour": "red"}, "invalid additional property: colour"),
        ({"type": "page"}, "/view/type"),
        ({"blocks": [{"type": "input", "label": plain(), "element": {"type": "plain_text_input"}}]}, "submit"),
        ({"blocks": [{"type": "table", "rows": []}]}, "/view/blocks/0/type"),
    ],
)
def test_views(change: Block, problem: str) -> None:
    problems = view_problems({**VIEW, **change})
    assert problem in "\n".join(problems)
    assert bool(problems) == bool(problem)
