"""What an app may put into a message: text, blocks, attachments, metadata, checked before anything is posted."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args
from integrations.slack.protocol import block_kit
from integrations.slack.protocol.limits import MAX_METADATA, MAX_POST_TEXT

from .workspace import Json

_MARKDOWN = 12_000
_ADDRESS = re.compile(r"(?<![<|])https?://[^\s<>|]*[^\s<>|.,:;!?)]")
_EMOJI = range(0x1F300, 0x1FB00)
_OLDER_EMOJI = "⚠✅❌⏰⛔"


def kept(text: str) -> str:
    """Return a text as Slack stores it: URLs as links, and emoji as their names.

    https://docs.slack.dev/messaging/formatting-message-text/. Here emoji have the names that Unicode gives them.
    """
    return "".join(map(_named, _ADDRESS.sub(r"<\g<0>>", text)))


def _named(one: str) -> str:
    if ord(one) not in _EMOJI and one not in _OLDER_EMOJI:
        return one
    return f":{unicodedata.name(one).lower().replace(' ', '_')}:"


def read(args: Args) -> dict[str, Any]:
    """Return the fields of a message from the arguments of a call. Text beyond 40,000 characters is cut off."""
    blocks, attachments = read_blocks(args), read_attachments(args)
    text = args.text("text")
    if "markdown_text" in args:
        if text or blocks:
            raise ErrorAnswer("markdown_text_conflict")
        text = args.text("markdown_text")
        if len(text) > _MARKDOWN:
            raise ErrorAnswer("invalid_arguments", "must be less than 12001 characters [json-pointer:/markdown_text]")
    if not text and not blocks and not attachments:
        raise ErrorAnswer("no_text")
    fields = {"text": kept(text[:MAX_POST_TEXT]), "blocks": blocks or [], "attachments": attachments or []}
    return fields | {"metadata": metadata(args)}


def read_blocks(args: Args) -> list[Json] | None:
    """Return the blocks of a call; None if it has none."""
    blocks = args.json("blocks", error="invalid_blocks_format")
    if blocks is None:
        return None
    if not isinstance(blocks, list):
        raise ErrorAnswer("invalid_blocks_format")
    problems = block_kit.block_problems(blocks)
    if problems:
        raise ErrorAnswer("invalid_blocks", *problems, errors=problems)
    return with_ids(blocks)


def with_ids(blocks: list[Json], *, within: str = "b") -> list[Json]:
    """Give an id to every block and element that the app gave none, as Slack does; block ids begin with ``within``."""
    for number, block in enumerate(blocks):
        block.setdefault("block_id", f"{within}{number}")
        elements = [*(block.get("elements") or []), block.get("accessory"), block.get("element")]
        if block.get("type") in ("actions", "section", "input"):
            for place, element in enumerate(e for e in elements if isinstance(e, dict)):
                if element.get("type") not in ("image", "plain_text", "mrkdwn"):
                    element.setdefault("action_id", f"a{number}-{place}")
    return blocks


def read_attachments(args: Args) -> list[Json] | None:
    """Return the attachments of a call; None if it has none, in which case an edit keeps the existing ones."""
    attachments = args.json("attachments", error="invalid_attachments")
    if attachments is None:
        return None
    if not isinstance(attachments, list) or not all(isinstance(one, dict) for one in attachments):
        raise ErrorAnswer("invalid_attachments")
    if len(attachments) > block_kit.MAX_ATTACHMENTS:
        raise ErrorAnswer("too_many_attachments")
    problems = block_kit.message_problems({"attachments": attachments})
    if problems:
        raise ErrorAnswer("invalid_blocks", *problems, errors=problems)
    for number, attachment in enumerate(attachments, start=1):
        with_ids(attachment.get("blocks") or [], within=f"a{number}-")
        attachment.setdefault("id", number)
    return attachments


def metadata(args: Args) -> Json | None:
    """Return a message's metadata: an event type and a flat payload that only apps see."""
    given = args.json("metadata", error="invalid_metadata_format")
    if given is None:
        return None
    if not isinstance(given, dict) or set(given) - {"event_type", "event_payload", "entities"}:
        raise ErrorAnswer("invalid_metadata_format")
    if not given:
        return None
    if not isinstance(given.get("event_type"), str) or not isinstance(given.get("event_payload"), dict):
        raise ErrorAnswer("invalid_metadata_format")
    if len(json.dumps(given)) > MAX_METADATA:
        raise ErrorAnswer("metadata_too_large")
    return given


def looks(args: Args) -> dict[str, str]:
    """Return the name and icon that a message overrides, if any."""
    return {"username": args.text("username"), "icon": args.text("icon_emoji") or args.text("icon_url")}
