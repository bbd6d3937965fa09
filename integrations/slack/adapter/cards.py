"""Cards of the workflows as Slack messages."""

from __future__ import annotations

from typing import Any, Final

from integrations.slack.protocol import blocks
from integrations.slack.protocol.mrkdwn import UNFINISHED, bare, cut, escape, link, mrkdwn
from workflows.planning.wording.card import Button, Card

NOTIFICATION: Final = 3_500  # an edit refuses more than 4,000 characters
LONGEST: Final = 12_000
BUTTONS: Final = 5


def message(card: Card) -> dict[str, Any]:
    """Render a card as the arguments of a message: its blocks, and the words of its notification."""
    return {"text": notification(card), "blocks": rendered(card)}


def notification(card: Card) -> str:
    """Say a card in one line, for lock screens and screen readers."""
    return _cut(escape(" ".join(bare(part) for part in (card.title, card.text) if part)), NOTIFICATION)


def rendered(card: Card) -> list[blocks.Block]:
    """Render a card as blocks; all its words are plain text, its markers become mentions and times."""
    parts = [blocks.section(f"*{mrkdwn(card.title)}*")] if card.title else []
    parts += [blocks.section(text) for text in _pieces(_fitting(card.text))]
    parts += blocks.fields((mrkdwn(label), mrkdwn(value)) for label, value in card.fields)
    if card.link:
        parts.append(blocks.section(link(card.link, card.link_label or "Open")))
    if card.context:
        parts.append(blocks.context(*(mrkdwn(text) for text in card.context)))
    if card.buttons:
        parts.append(blocks.actions(*(_button(button, card) for button in card.buttons[:BUTTONS])))
    return parts[:50] or [blocks.section("…")]


def _button(button: Button, card: Card) -> blocks.Block:
    url = button.value or card.link if button.verb == "open" else None
    return blocks.button(
        button.label, action_id=f"firekind:{button.verb}", value=None if url else button.value or None, url=url
    )


def _pieces(text: str) -> list[str]:
    """Cut a long text at line ends into pieces that fit a section each."""
    pieces: list[str] = []
    while len(text) > blocks.SECTION:
        end = text.rfind("\n", 1, blocks.SECTION)
        end = end if end > 0 else len(UNFINISHED.sub("", text[: blocks.SECTION])) or blocks.SECTION
        pieces.append(text[:end])
        text = text[end:].lstrip("\n")
    return [*pieces, text] if text else pieces


def _fitting(text: str) -> str:
    """Turn a text into mrkdwn, of which one message takes only so much: brackets grow to four characters each."""
    while len(said := mrkdwn(text)) > LONGEST:
        text = cut(text, len(text) * 9 // 10)
    return said


def _cut(escaped: str, limit: int) -> str:
    return escaped if len(escaped) <= limit else f"{UNFINISHED.sub('', escaped[: limit - 1]).rstrip()}…"
