"""Cards of the workflows as Slack messages."""

from __future__ import annotations

from typing import Any, Final

from integrations.slack.protocol import blocks, mrkdwn
from integrations.slack.protocol.mrkdwn import clip, escape, link, whole
from workflows.planning.wording import marks
from workflows.planning.wording.card import Button, Card
from workflows.planning.wording.marks import TextMark, Words

NOTIFICATION: Final = 3_500  # an edit refuses more than 4,000 characters
LONGEST: Final = 12_000
BUTTONS: Final = 5


def message(card: Card) -> dict[str, Any]:
    """Render a card as the arguments of a message: its blocks, and the words of its notification."""
    return {"text": notification(card), "blocks": rendered(card)}


def notification(card: Card) -> str:
    """Say a card in one line, for lock screens and screen readers."""
    return clip(escape(" ".join(marks.bare(part) for part in (card.title, card.text) if part)), NOTIFICATION)


def rendered(card: Card) -> list[blocks.Block]:
    """Render a card as blocks; all its words are plain text, its marks become mentions and times."""
    parts = [blocks.section(f"*{escape(card.title)}*")] if card.title else []
    parts += [blocks.section(text) for text in _pieces(clip(said(card.text), LONGEST))]
    parts += blocks.fields((escape(label), said(value)) for label, value in card.fields)
    if card.link:
        parts.append(blocks.section(link(card.link, card.link_label or "Open")))
    if card.context:
        parts.append(blocks.context(*map(said, card.context)))
    if card.buttons:
        parts.append(blocks.actions(*(_button(button, card) for button in card.buttons[:BUTTONS])))
    return parts[:50] or [blocks.section("…")]


def said(words: Words) -> str:
    """Write words as mrkdwn: what is text stays text, whatever it looks like."""
    return marks.shown(words, text=escape, mark=_marked)


def _marked(mark: TextMark) -> str:
    match mark.kind:
        case "person":
            return mrkdwn.mention(mark.id, mark.label)
        case "channel":
            return mrkdwn.channel(mark.id, mark.label)
        case "time":
            return mrkdwn.moment(int(mark.id), mark.label)
    return escape(mark.label)


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
        end = end if end > 0 else len(whole(text[: blocks.SECTION])) or blocks.SECTION
        pieces.append(text[:end])
        text = text[end:].lstrip("\n")
    return [*pieces, text] if text else pieces
