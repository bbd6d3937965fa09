"""The answers a listener can return: plain values, carried out in ``replying``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from integrations.slack.protocol.blocks import Block


@dataclass(frozen=True, slots=True)
class Say:
    """Tell the one who asked, and nobody else; ``text`` is mrkdwn. ``instead`` of the message it was pressed in."""

    text: str
    blocks: tuple[Block, ...] = ()
    instead: bool = False


@dataclass(frozen=True, slots=True)
class Open:
    """Open a modal."""

    view: Block


@dataclass(frozen=True, slots=True)
class Replace:
    """Show another view in the modal that was submitted."""

    view: Block


@dataclass(frozen=True, slots=True)
class Redraw:
    """Redraw the open modal, unless it changed in the meantime."""

    view: Block
    view_id: str
    hash: str


@dataclass(frozen=True, slots=True)
class Publish:
    """Draw someone's Home tab."""

    chat_id: str
    view: Block


@dataclass(frozen=True, slots=True)
class Wrong:
    """Keep the modal open and show words under its fields, by block id."""

    errors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Later:
    """Do what has to ask a vendor, once the press is noted, and tell the one who pressed what it returns."""

    run: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Nothing:
    """Take note; close the modal that was submitted."""


Answer = Say | Open | Replace | Redraw | Publish | Wrong | Later | Nothing


def asks_on(answer: Answer) -> bool:
    """Return whether a modal that was submitted stays open with something to mend, read or fill in."""
    match answer:
        case Replace(view) | Open(view):
            return bool(view.get("submit"))
    return isinstance(answer, Wrong)
