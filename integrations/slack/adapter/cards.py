"""Render the workflows' cards as Slack messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from integrations.slack.protocol import blocks, mrkdwn
from integrations.slack.protocol.block_kit import weight
from integrations.slack.protocol.mrkdwn import bold, clip, clip_bytes, escape, link, whole
from workflows.planning.wording import marks
from workflows.planning.wording.card import Button, Card
from workflows.planning.wording.marks import TextMark, Words, joined

NOTIFICATION: Final = 3_500  # bytes: an edit refuses more than 4,000
HEAVIEST: Final = 12_000  # the weight of one message: Slack refuses more than about 13,200
LONGEST: Final = 10_000
LENGTHS: Final = (LONGEST, 9_000, 8_000, 7_000, 6_000, 5_000, 4_000, 3_000, 2_000, 1_000, 500, 200, 100)
BUTTONS: Final = 5
MOST: Final = 50
# Each type's colour, as the bar next to a card; dark enough to distinguish on white, light enough on black.
COLOURS: Final[Mapping[str, str]] = {
    "slate": "#64748b",
    "blue": "#2f6fde",
    "violet": "#7c5cd6",
    "amber": "#d99a1c",
    "orange": "#e06c1f",
    "red": "#d0342c",
    "teal": "#14908b",
    "green": "#2e9e4f",
}
# The same as an emoji in the title, for notifications, which show no bar, and for people who cannot tell the bars
# apart.
CIRCLES: Final[Mapping[str, str]] = {
    "slate": ":white_circle:",
    "blue": ":large_blue_circle:",
    "violet": ":large_purple_circle:",
    "amber": ":large_yellow_circle:",
    "orange": ":large_orange_circle:",
    "red": ":red_circle:",
    "teal": ":large_green_square:",
    "green": ":large_green_circle:",
}
# The sign before a title instead, for kinds of card that say more than a colour does.
SIGNS: Final[Mapping[str, str]] = {
    "due": ":alarm_clock:",
    "gap": ":grey_question:",
    "failed": ":warning:",
    "by_hand": ":warning:",
    "warned": ":warning:",
    "page": ":pager:",
    "alert": ":bell:",
    "evidence": ":bar_chart:",
    "judged": ":mag:",
    "asked_in": ":door:",
    "offered": ":door:",
    "glass": ":rotating_light:",
    "updated": ":speech_balloon:",
    "impact": ":busts_in_silhouette:",
    "next_step": ":point_right:",
    "task": ":ballot_box_with_check:",
    "followup": ":ballot_box_with_check:",
    "resolved": ":white_check_mark:",
    "reopened": ":repeat:",
    "reviewed": ":memo:",
}
STANDING: Final = frozenset({"headline", "announcement"})  # kept current, and addressed to no one
OPENING = ("open", "open-ticket")  # buttons that open a page; Slack allows each id only once per block


def message(card: Card) -> dict[str, Any]:
    """Render a card as the arguments of a message: blocks, attachments with a coloured bar, and the notification text.

    Blocks and attachments are always both given, because an edit keeps what it does not mention, and withdrawn content
    would then stay in an attachment. Mentions of people go above the bar, because Slack does not notify a phone of one
    in an attachment.
    """
    drawn = (_drawn(card, longest) for longest in LENGTHS)
    shown, beside = next((one for one in drawn if weight(list(one)) <= HEAVIEST), None) or _drawn(card, LENGTHS[-1])
    return {"text": notification(card), "blocks": shown, "attachments": beside}


def _drawn(card: Card, longest: int) -> tuple[list[blocks.Block], list[dict[str, Any]]]:
    """Return the blocks above the bar and the attachment with it; each text has at most ``longest`` characters."""
    head, body = _head(card), _body(card, longest)
    if not (card.tone and head):
        return rendered(card, longest), []
    spoken = tuple(one for one in card.sections if _calls(one[1]))
    if card.kind not in STANDING and (spoken or _calls(card.text)):
        above = _body(Card(card.kind, "", card.text, sections=spoken), longest)
        rest = tuple(one for one in card.sections if one not in spoken)
        head, body = [*head, *above], _body(replace(card, text="", sections=rest), longest)
    bar = [{"color": COLOURS.get(card.tone, COLOURS["slate"]), "blocks": body[:MOST]}] if body else []
    return head, bar


def notification(card: Card) -> str:
    """Return a card as one line for lock screens and screen readers, in the same order as the card."""
    labelled = (joined(f"{label}: ", value) for label, value in (*card.fields, *card.sections))
    said = (" ".join(marks.bare(part).split()) for part in (card.title, card.text, *labelled) if part)
    return clip_bytes(escape(" · ".join(part for part in said if part)), NOTIFICATION)


def _calls(words: Words) -> bool:
    """Return whether someone is mentioned."""
    return any(isinstance(part, TextMark) and part.kind == "person" for part in marks.parts(words))


def rendered(card: Card, longest: int = LONGEST) -> list[blocks.Block]:
    """Render a card as blocks. All its words are plain text; its marks become mentions and times."""
    return [*_head(card), *_body(card, longest)][:MOST] or [blocks.section("…")]


def _head(card: Card) -> list[blocks.Block]:
    sign = f"{SIGNS.get(card.kind) or CIRCLES.get(card.tone, '')} " if card.tone else ""
    return [blocks.section(f"{sign}{bold(card.title)}")] if bold(card.title) else []


def _body(card: Card, longest: int) -> list[blocks.Block]:
    parts = [blocks.section(text) for text in _pieces(clip(said(card.text), longest))]
    parts += _fields(card, longest)
    parts += [blocks.section(f"{bold(label)}  {clip(said(value), longest)}") for label, value in card.sections]
    leads = (link(card.link, card.link_label or "Open"),) if card.link else ()
    if end := [text for text in (*leads, *map(said, card.context)) if text]:
        parts.append(blocks.section("\n".join(end)))
    if card.buttons:
        parts.append(blocks.actions(*(_button(button, card) for button in card.buttons[:BUTTONS])))
    return parts


def _fields(card: Card, longest: int) -> list[blocks.Block]:
    """Render fields side by side; next to a bar one per line, since a phone would put each label on its own line."""
    pairs = [(bold(label), clip(said(value), min(longest, blocks.FIELD))) for label, value in card.fields]
    if not card.tone:
        return blocks.fields(pairs)
    lines = "\n".join(f"{label}  {value}" for label, value in pairs)
    return [blocks.section(text) for text in _pieces(clip(lines, longest))]


def said(words: Words) -> str:
    """Write words as mrkdwn; text stays text, whatever it looks like."""
    return marks.shown(words, text=escape, mark=_marked)


def _marked(mark: TextMark) -> str:
    match mark.kind:
        case "person":
            return mrkdwn.mention(mark.id, mark.label)
        case "channel":
            return mrkdwn.channel(mark.id, mark.label)
        case "time":
            return mrkdwn.moment(int(mark.id), mark.label)
        case "ago":
            return mrkdwn.age(int(mark.id), mark.label)
    return escape(mark.label)


def _button(button: Button, card: Card) -> blocks.Block:
    url = button.value or card.link if button.verb in OPENING else None
    value = None if url else button.value or None
    return blocks.button(
        button.label, action_id=f"firekind:{button.verb}", value=value, url=url, style=button.style or None
    )


def _pieces(text: str) -> list[str]:
    """Split a long text at line ends into pieces that each fit a section."""
    pieces: list[str] = []
    while len(text) > blocks.SECTION:
        end = text.rfind("\n", 1, blocks.SECTION)
        end = end if end > 0 else len(whole(text[: blocks.SECTION])) or blocks.SECTION
        pieces.append(text[:end])
        text = text[end:].lstrip("\n")
    return [*pieces, text] if text else pieces
