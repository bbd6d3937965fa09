"""The state of a world of plain values, as the planner receives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from incidents.policies.policy import Policy
from workflows.planning.actions import RETIRE, Action
from workflows.planning.facts import Facts, Room
from workflows.planning.observed import DELETED, GONE, THERE, Observed, ObservedThing, Owed
from workflows.tests.shipped_facts import (
    POLICIES,
)


@dataclass(slots=True)
class WorldState:
    """What exists, what is owed, and everything that was ever done."""

    facts: Facts
    seen: dict[str, ObservedThing] = field(default_factory=dict)
    open: dict[str, Action] = field(default_factory=dict)  # effects that have not ended, by key
    started: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    done: list[Action] = field(default_factory=list)
    policies: Mapping[str, Policy] = field(default_factory=lambda: POLICIES)
    answered: set[str] = field(default_factory=set)  # targets that the type must not page, as of the last plan

    def observed(self) -> Observed:
        """What the planner receives."""
        return Observed(self.known_things(), self._owed(), dict(self.counts))

    def known_things(self) -> dict[str, ObservedThing]:
        """What exists: for pages, those that have not ended, in whatever way."""
        over = {one.key for one in self.facts.paged if not one.is_open}
        return {key: replace(one, state=GONE) if key in over else one for key, one in self.seen.items()}

    def _owed(self) -> dict[str, tuple[Owed, ...]]:
        owed: dict[str, tuple[Owed, ...]] = {}
        for action in self.open.values():
            began, failed = action.key in self.started, action.key in self.failed
            things = {action.thing: None if action.verb == RETIRE else dict(action.spec)}
            if action.kind == "member":
                room = action.room
                things = {f"member/{room}/{one}": {"room": room, "person": one} for one in action.spec["people"]}
            for key, spec in things.items():
                one = Owed(action.key, action.verb, spec, began or failed, action.room, failed, action.needs)
                owed[key] = (*owed.get(key, ()), one)
        return owed

    def known(self) -> Facts:
        """The facts, with what exists or is under way."""
        seen = {key for key, one in self.known_things().items() if one.state == THERE}
        begun = {key for key, chain in self._owed().items() if any(owed.under_way for owed in chain)}
        rooms = tuple(self._room_now(room) for room in self.facts.rooms)
        return replace(self.facts, there=frozenset(seen | begun), rooms=rooms)

    def _room_now(self, room: Room) -> Room:
        return replace(room, public=self.is_public(room.number), gone=DELETED if self.is_gone(room.number) else "")

    def is_public(self, room: int) -> bool:
        """Whether everyone can read a room's channel."""
        seen = self.seen.get(f"channel/{room}")
        return seen is not None and seen.state == THERE and not seen.spec["private"]

    def is_gone(self, room: int) -> bool:
        """Whether someone deleted a room's channel."""
        seen = self.seen.get(f"channel/{room}")
        return seen is not None and seen.state == GONE

    def is_archived(self, room: int) -> bool:
        """Whether a room's channel is archived."""
        seen = self.seen.get(f"archived/{room}")
        return seen is not None and seen.state == THERE

    def _go_on_elsewhere(self) -> None:
        number = self.facts.room + 1
        room = Room(number, f"inc-successor-{number}", self.facts.private, f"inc-successor-{number}")
        rooms, revision = (*self.facts.rooms, room), self.facts.revision + 1
        self.facts = replace(self.facts, room=number, rooms=rooms, revision=revision, archive_asked=False)
