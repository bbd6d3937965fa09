"""A world of plain values for the planner: facts that change by verbs, and effects that succeed one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from incidents.policies.policy import Capture
from workflows.planning import captures, drills
from workflows.planning.facts import ChannelPost, Stay
from workflows.planning.observed import DELETED, GONE, THEIRS, THERE, ObservedThing
from workflows.tests.shipped_facts import SOURCES, entered, someone
from workflows.tests.world_work import WorkedWorld


@dataclass(slots=True)
class World(WorkedWorld):
    """A world in which people declare, retype, come, leave, and change channels by hand."""

    # the verbs

    def retype(self, type: str, *, by: str = "dee") -> None:
        """Take another type, as the lifecycle does: the people in the plan come in by name."""
        converts = self.facts.converts and self.is_public(self.facts.room) and not self.is_archived(self.facts.room)
        staying = {name: Stay(someone(name), came) for name, came in self._staying(by).items()}
        after = self.known().retyped(self.policies[type], staying=tuple(staying.values()), bring=(), converts=converts)
        after = entered(after)
        rooms = tuple(
            replace(room, name=f"inc-successor-{room.number}", shown=f"inc-successor-{room.number}")
            if not room.name
            else room
            for room in after.rooms
        )
        self.facts = replace(after, rooms=rooms)
        self.tell("retyped")

    def _staying(self, by: str) -> dict[str, str]:
        came = "joined" if self.facts.is_drill else "lead"
        lead = {self.facts.lead.name.casefold(): came} if self.facts.lead else {}
        return {"dee": "declared", **lead, by: "retyped"}

    def tell(self, kind: str) -> None:
        """Write an event that is posted."""
        n = len(self.facts.told) + 2
        event = ChannelPost(n, kind, f"the message “{kind}”", "Dee", f"{kind} it", f"secret words {n}", self.facts.room)
        stated = {"updated": "update", "impact": "impact", "next_step": "next_step"}
        last: dict[str, Any] = {stated[kind]: event} if kind in stated else {}
        self.facts = replace(self.facts, told=(*self.facts.told, event), revision=self.facts.revision + 1, **last)

    def measure(self) -> None:
        """Write an event that a picture goes below."""
        self.tell("evidence")
        *before, event = self.facts.told
        self.facts = replace(self.facts, told=(*before, replace(event, evidence=event.n, pictured=True)))

    def take_back(self, which: int) -> None:
        """Retract one of the events."""
        told = list(self.facts.told)
        if told:
            told[which % len(told)] = replace(told[which % len(told)], retracted=True)
            self.facts = replace(self.facts, told=tuple(told), revision=self.facts.revision + 1)

    def lead(self, name: str) -> None:
        """Make someone the lead. A person who did not agree to drills can only take the lead of one themselves."""
        one = someone(name, "leads")
        if one.person_id in self.facts.barred:
            return
        came = "lead" if drills.may_come(one.person_id, self.facts) else "joined"
        stays = {stay.who.person_id: stay for stay in self.facts.stays}
        stay = stays.get(one.person_id)
        if stay is None or not stay.here:
            stays[one.person_id] = Stay(one, came)
        self.facts = replace(self.facts, lead=one, stays=tuple(stays.values()), revision=self.facts.revision + 1)
        self.tell("led")

    def status(self, status: str) -> None:
        """Move through the lifecycle."""
        active = status in {"open", "mitigated"}
        self.facts = replace(self.facts, status=status, active=active, archive_asked=False)
        self.happened({"open": "reopen", "mitigated": "mitigate", "resolved": "resolve"}.get(status, ""))
        self.tell(status)

    def happened(self, moment: str, asked: Capture | None = None) -> None:
        """Something that may cause captures."""
        if moment:
            trigger = captures.Trigger(self.facts.next_n, moment, self.now(), asked)
            self.facts = replace(self.facts, triggers=(*self.facts.triggers, trigger), revision=self.facts.revision + 1)

    def ask(self, source: str) -> None:
        """Someone requests a profile now."""
        self.happened(captures.ASKED, Capture(source, SOURCES[source].kinds[0], captures.ASKED, 10))

    def serve(self, service: str) -> None:
        """A service turns out to be affected."""
        self.facts = replace(self.facts, services=(service,), revision=self.facts.revision + 1)

    def now(self) -> datetime:
        """A minute after the last thing that happened."""
        return self.facts.triggers[-1].at + timedelta(minutes=1)

    def leave(self, name: str) -> None:
        """Someone leaves the room by hand."""
        key = f"member/{self.facts.room}/{name.upper()}"
        if key in self.seen:
            self.seen[key] = replace(self.seen[key], state=GONE)
            gone = {stay.who.person_id: stay for stay in self.facts.stays}
            gone[someone(name).person_id] = Stay(someone(name), "joined", here=False, went=True)
            self.facts = replace(self.facts, stays=tuple(gone.values()), revision=self.facts.revision + 1)

    # what people do by hand to a channel

    def archive(self, which: int) -> None:
        """Someone archives a room's channel."""
        if number := self._standing(which):
            spec = {"room": number}
            self.seen[f"archived/{number}"] = ObservedThing("archived", spec, THERE, number)

    def unarchive(self, which: int) -> None:
        """Someone unarchives a channel."""
        number = self._standing(which)
        if not (number and self.is_archived(number)):
            return
        key = f"archived/{number}"
        if number == self.facts.room:
            del self.seen[key]
            self.facts = replace(self.facts, archive_asked=False)
        else:
            self.seen[key] = replace(self.seen[key], state=THEIRS)

    def delete(self, which: int) -> None:
        """Someone deletes a room's channel."""
        if number := self._standing(which):
            key = f"channel/{number}"
            self.seen[key] = replace(self.seen[key], state=GONE, why=DELETED)
            for gone in (f"archived/{number}", f"counted/{number}"):
                self.seen.pop(gone, None)

    def convert(self, which: int) -> None:
        """Someone makes a public channel private, or a private one public, which private conversations leave."""
        number = self._standing(which)
        if not number:
            return
        key = f"channel/{number}"
        private = not self.seen[key].spec["private"]
        self.seen[key] = replace(self.seen[key], spec={**self.seen[key].spec, "private": private})
        if not private:
            if closed := self.seen.get(f"closed/{number}"):
                self.seen[f"closed/{number}"] = replace(closed, state=GONE)
            if self.facts.private and number == self.facts.room:
                self._go_on_elsewhere()

    def open_another(self) -> None:
        """Someone asks for a new channel to replace one that is gone."""
        if self.facts.active and self.is_gone(self.facts.room):
            self._go_on_elsewhere()

    def _standing(self, which: int) -> int:
        """Return the number of one of the rooms whose channel exists, or 0."""
        numbers = [room.number for room in self.facts.rooms if f"channel/{room.number}" in self.seen]
        standing = [number for number in numbers if not self.is_gone(number)]
        return standing[which % len(standing)] if standing else 0
