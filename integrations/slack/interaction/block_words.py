"""Extract the plain text of messages that have words only in blocks, as those of alerts and Slack workflows do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Plain = Callable[[str], str]
NOTHING: Final = frozenset({"This content can't be displayed.", "[no preview available]"})  # Slack's placeholders
UNSAID: Final = frozenset({"actions", "input", "image", "video", "divider"})


def of(message: Mapping[str, Any], *, plain: Plain) -> str:
    """Return the words of a message's blocks and attachments, without its buttons; ``plain`` converts mrkdwn."""
    lines = [*_lines(message.get("blocks"), plain), *_attached(message.get("attachments"), plain)]
    return "\n".join(dict.fromkeys(filter(None, (line.strip() for line in lines))))


def _attached(attachments: Any, plain: Plain) -> Iterator[str]:
    for one in _dicts(attachments):
        lines = [*_lines(one.get("blocks"), plain)]
        if not lines:
            told = (plain(str(one.get(name) or "")) for name in ("pretext", "title", "text"))
            lines = [
                *told,
                *(f"{one['title']}: {one.get('value', '')}" for one in _dicts(one.get("fields")) if one.get("title")),
            ]
        said = [line for line in lines if line.strip()]
        fallback = str(one.get("fallback") or "")
        yield from said or ([] if fallback in NOTHING else [plain(fallback)])


def _lines(blocks: Any, plain: Plain) -> Iterator[str]:
    for block in _dicts(blocks):
        if block.get("type") == "rich_text":
            yield from (_rich(part) for part in _dicts(block.get("elements")))
        elif block.get("type") not in UNSAID:
            parts = [block.get("text"), *_list(block.get("fields")), *_list(block.get("elements"))]
            yield from (_text(part, plain) for part in parts)


def _text(part: Any, plain: Plain) -> str:
    """Read a text object, or the text of a markdown block."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or not isinstance(said := part.get("text"), str):
        return ""
    return said if part.get("type") == "plain_text" else plain(said)


def _rich(part: Mapping[str, Any]) -> str:
    """Read one piece of rich text: a paragraph, a quote, or a list with one item per line."""
    inside = _dicts(part.get("elements"))
    if part.get("type") == "rich_text_list":
        return "\n".join(_rich(one) for one in inside)
    return "".join(str(one.get("text") or one.get("url") or _emoji(one)) for one in inside)


def _emoji(one: Mapping[str, Any]) -> str:
    return f":{one['name']}:" if one.get("type") == "emoji" and one.get("name") else ""


def _dicts(listed: Any) -> list[dict[str, Any]]:
    return [one for one in _list(listed) if isinstance(one, dict)]


def _list(listed: Any) -> list[Any]:
    return listed if isinstance(listed, list) else []
