"""Blocks and the surfaces that hold them (docs.slack.dev/reference/block-kit/blocks)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from integrations.slack.protocol.limits import MAX_MESSAGE_BLOCKS, MAX_VIEW_BLOCKS

from .checks import (
    Check,
    Scan,
    Surface,
    all_of,
    anything,
    boolean,
    exactly_one,
    one_of,
    plain,
    record,
    rich,
    several,
    string,
    typed,
)
from .elements import IN_ACTIONS, IN_CONTEXT, IN_INPUT, IN_SECTION

MAX_VIEW_BYTES: Final = 250_000
MAX_ATTACHMENTS: Final = 100
BLOCK_WEIGHT: Final = 125


def _block(required: dict[str, Check], **optional: Check) -> Check:
    return record(required, {"block_id": string(255), **optional})


def _text_or_fields(value: Any, at: str, scan: Scan) -> None:
    if value.get("text") is None and not value.get("fields"):
        scan.note("missing required field: text", at)


_EVERYWHERE: Final[dict[str, Check]] = {
    "header": _block({"text": plain(150)}),
    "section": all_of(
        _block({}, text=rich(3000), fields=several(rich(2000), most=10), accessory=IN_SECTION, expand=boolean),
        _text_or_fields,
    ),
    "divider": _block({}),
    "image": all_of(
        _block({"alt_text": string(2000)}, image_url=string(3000), slack_file=anything, title=plain(2000)),
        exactly_one("image_url", "slack_file"),
    ),
    "context": _block({"elements": several(IN_CONTEXT, most=10)}),
    "actions": _block({"elements": several(IN_ACTIONS, most=25)}),
    "input": _block(
        {"label": plain(2000), "element": IN_INPUT},
        hint=plain(2000),
        optional=boolean,
        dispatch_action=boolean,
    ),
    "rich_text": _block({"elements": several(anything, most=100)}),
    "video": _block(
        {"alt_text": string(2000), "title": plain(200), "video_url": string(), "thumbnail_url": string()},
        author_name=string(50),
        description=plain(200),
        provider_icon_url=string(),
        provider_name=string(50),
        title_url=string(),
    ),
}
_MESSAGES_ONLY: Final[dict[str, Check]] = {
    "markdown": _block({"text": string(12_000)}),
    "table": _block(
        {"rows": several(several(anything, most=20), most=100)}, column_settings=several(anything, most=20)
    ),
    "file": _block({"external_id": string(255), "source": one_of("remote")}),
}
_BLOCKS: Final[dict[Surface, Check]] = {
    "message": typed({**_EVERYWHERE, **_MESSAGES_ONLY}, "a block"),
    "modal": typed(_EVERYWHERE, "a block"),
    "home": typed(_EVERYWHERE, "a block"),
}
_VIEW: Final = record(
    {"blocks": anything},
    {
        "title": plain(24),
        "submit": plain(24),
        "close": plain(24),
        "private_metadata": string(3000, least=0),
        "callback_id": string(255, least=0),
        "external_id": string(255, least=0),
        "clear_on_close": boolean,
        "notify_on_close": boolean,
        "submit_disabled": boolean,
    },
)


def block_problems(blocks: Any, surface: Surface = "message", *, at: str = "/blocks") -> list[str]:
    """List what Slack would reject in the blocks of a message or view; empty if nothing."""
    scan = Scan(surface)
    most = MAX_MESSAGE_BLOCKS if surface == "message" else MAX_VIEW_BLOCKS
    several(anything, most=most, least=0)(blocks, at, scan)
    if isinstance(blocks, list):
        for index, block in enumerate(blocks):
            scan.action_ids = set()
            _BLOCKS[surface](block, f"{at}/{index}", scan)
        _unique_block_ids(blocks, at, scan)
    return scan.problems


def weight(held: Any) -> int:
    """Return roughly how heavy Slack considers blocks: the characters of their texts, plus a constant per block."""
    if isinstance(held, list):
        return sum(map(weight, held))
    if not isinstance(held, dict):
        return 0
    own = len(held["text"]) if isinstance(held.get("text"), str) else 0
    container = BLOCK_WEIGHT if held.get("type") in {**_EVERYWHERE, **_MESSAGES_ONLY} else 0
    return own + container + sum(map(weight, held.values()))


def message_problems(message: Mapping[str, Any]) -> list[str]:
    """List what Slack would reject in the blocks of a message and its attachments; empty if nothing."""
    attachments = message.get("attachments") or []
    found = block_problems(message.get("blocks") or [])
    if len(attachments) > MAX_ATTACHMENTS:
        found.append(f"no more than {MAX_ATTACHMENTS} items allowed [json-pointer:/attachments]")
    for number, one in enumerate(attachments):
        found += block_problems(one.get("blocks") or [], at=f"/attachments/{number}/blocks")
    return found


def _unique_block_ids(blocks: list[Any], at: str, scan: Scan) -> None:
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        block_id = block.get("block_id") if isinstance(block, dict) else None
        if block_id in seen:
            scan.note(f"block_id {block_id!r} already exists", f"{at}/{index}/block_id")
        if block_id:
            seen.add(block_id)


def view_problems(view: Any) -> list[str]:
    """List what Slack would reject in a modal or App Home view."""
    if not isinstance(view, dict) or view.get("type") not in ("modal", "home"):
        return ["unsupported type of view [json-pointer:/view/type]"]
    scan = Scan(view["type"])
    _VIEW(view, "/view", scan)
    if view["type"] == "modal":
        _modal(view, scan)
    return scan.problems + block_problems(view.get("blocks"), view["type"], at="/view/blocks")


def _modal(view: dict[str, Any], scan: Scan) -> None:
    if not view.get("title"):
        scan.note("missing required field: title", "/view")
    has_input = any(isinstance(b, dict) and b.get("type") == "input" for b in view.get("blocks") or [])
    if has_input and not view.get("submit"):
        scan.note("missing required field: submit (the view has an input)", "/view")


def is_too_large(view: Any) -> bool:
    """Return whether a view exceeds Slack's size limit."""
    return len(json.dumps(view)) > MAX_VIEW_BYTES
