"""What should exist outside, as values: one thing, what is missing, all of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from workflows.planning.invitee import Invitee
from workflows.planning.wording.card import Card

Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing that should exist outside.

    ``key`` names it within the incident (``topic/1``); ``spec`` says how it should be, in plain JSON values;
    ``needs`` are keys of things that must be there first; ``room`` is None for what stands in no room of ours;
    ``due_at`` is when it may be made, where that is not at once. ``asked`` is false for someone who came for a reason
    that has ended: they stay in, and nothing asks for them any more. ``inside`` is true for someone who takes part
    before anything is done. ``reaches`` are the names of those whom a page goes to.
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
    """Something the policy asks for that cannot be had; ``says`` what is missing and how to mend it.

    It is ``told`` where people talk, unless it says that this is out of reach: it is not true once that can be read.
    """

    key: str
    says: str
    told: bool = True


@dataclass(frozen=True, slots=True)
class Desired:
    """Everything that should exist, what is missing, and who has each role of one.

    Without ``chat`` nothing is asked for there because it is not connected, and what stands there is left alone.
    """

    things: tuple[Thing, ...] = ()
    gaps: tuple[Gap, ...] = ()
    chosen: Mapping[str, Invitee] = field(default_factory=dict)
    chat: bool = True


def post(key: str, card: Card, label: str, room: int) -> Thing:
    """Return a message in a room, which waits for its channel."""
    return Thing(key, "post", {"room": room, "card": card.as_dict()}, label, needs=(f"channel/{room}",), room=room)
