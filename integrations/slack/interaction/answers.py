"""The answers a listener can return: plain values, which ``replying`` carries out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from integrations.slack.protocol.blocks import Block


@dataclass(frozen=True, slots=True)
class Say:
    """Tell only the person who asked; ``text`` is mrkdwn. ``instead`` replaces the message with the pressed button."""

    text: str
    blocks: tuple[Block, ...] = ()
    instead: bool = False


@dataclass(frozen=True, slots=True)
class Open:
    """Open a modal."""

    view: Block


@dataclass(frozen=True, slots=True)
class Replace:
    """Show another view in the submitted modal."""

    view: Block


@dataclass(frozen=True, slots=True)
class Redraw:
    """Redraw the open modal, unless it changed in the meantime."""

    view: Block
    view_id: str
    hash: str


@dataclass(frozen=True, slots=True)
class Publish:
    """Publish a person's Home tab."""

    chat_id: str
    view: Block


@dataclass(frozen=True, slots=True)
class Wrong:
    """Keep the modal open and show errors under its fields, by block id."""

    errors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Later:
    """Do work that calls a vendor once the press is recorded, and tell the person what it returns."""

    run: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Nothing:
    """Acknowledge only; a submitted modal closes."""


Answer = Say | Open | Replace | Redraw | Publish | Wrong | Later | Nothing


def asks_on(answer: Answer) -> bool:
    """Return whether the submitted modal stays open, for corrections, reading or more input."""
    match answer:
        case Replace(view) | Open(view):
            return bool(view.get("submit"))
    return isinstance(answer, Wrong)
