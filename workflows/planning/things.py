"""What should exist outside, as values: one thing, what is missing, all of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from workflows.planning.invitee import Invitee
from workflows.planning.wording.card import Card

Spec = Mapping[str, Any]
DISABLED, GROUPLESS = "disabled", "groupless"  # why a group does not exist, where that is known


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing that should exist outside.

    ``key`` names it within the incident (``topic/1``); ``spec`` says how it should be, in plain JSON values; ``needs``
    are keys of things that must exist first; ``room`` is None for what is in none of our rooms; ``due_at`` is when it
    may be made, if not at once. ``asked`` is false for someone who came for a reason that has ended: they stay in, and
    nothing asks for them any more. ``inside`` is true for someone who takes part before anything is done. ``reaches``
    are the names of those a page goes to.
    """

    key: str
    kind: str
    spec: Spec
    label: str
    needs: tuple[str, ...] = ()
    room: int | None = None
    why: str = ""
    due_at: datetime | None = None
    asked: bool = True
    inside: bool = False
    reaches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Something the policy asks for that is unavailable; ``says`` what is missing and how to fix it.

    It is ``told`` in the channel, unless it says that the channel is out of reach: once that can be read, it is no
    longer true.
    """

    key: str
    says: str
    told: bool = True


@dataclass(frozen=True, slots=True)
class Desired:
    """Everything that should exist, what is missing, and who has each one-of role.

    Without ``chat``, nothing is wanted there because it is not connected, and what exists there is left alone.
    """

    things: tuple[Thing, ...] = ()
    gaps: tuple[Gap, ...] = ()
    chosen: Mapping[str, Invitee] = field(default_factory=dict)
    chat: bool = True


def post(key: str, card: Card, label: str, room: int) -> Thing:
    """Return a message in a room; it waits for its channel."""
    return Thing(key, "post", {"room": room, "card": card.as_dict()}, label, needs=(f"channel/{room}",), room=room)
