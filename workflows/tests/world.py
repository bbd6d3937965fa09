"""A world of plain values for the planner: facts that change by verbs, and effects that come true one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from incidents.policies.policy import Capture, Policy
from workflows.planning import captures, drills
from workflows.planning.actions import CHANGE, CREATE, RETIRE, Action
from workflows.planning.desired import desired_state
from workflows.planning.facts import ChannelPost, Facts, Room, Stay
from workflows.planning.observed import DELETED, GONE, THEIRS, THERE, Observed, ObservedThing, Owed
from workflows.planning.pages import ACKNOWLEDGED, OPENING, RESOLVED, TRIGGERED, Paged, RequestedPage
from workflows.planning.plan import Plan, plan
from workflows.tests.shipped_facts import (
    POLICIES,
    SOURCES,
    callees,
    entered,
    someone,
)


@dataclass(slots=True)
class World:
    """What exists, what is owed, and everything that was ever done."""

    facts: Facts
    seen: dict[str, ObservedThing] = field(default_factory=dict)
    open: dict[str, Action] = field(default_factory=dict)  # effects that have not ended, by key
    started: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    done: list[Action] = field(default_factory=list)
    policies: Mapping[str, Policy] = field(default_factory=lambda: POLICIES)
    answered: set[str] = field(default_factory=set)  # targets that were not to be paged by the type, as last planned

    def observed(self) -> Observed:
        """What the planner is given."""
        return Observed(self.known_things(), self._owed(), dict(self.counts))

    def known_things(self) -> dict[str, ObservedThing]:
        """What exists: of pages, those that have not ended, however they did."""
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
        """Whether everyone may read in a room's channel."""
        seen = self.seen.get(f"channel/{room}")
        return seen is not None and seen.state == THERE and not seen.spec["private"]

    def is_gone(self, room: int) -> bool:
        """Whether somebody deleted a room's channel."""
        seen = self.seen.get(f"channel/{room}")
        return seen is not None and seen.state == GONE

    def is_archived(self, room: int) -> bool:
        """Whether a room's channel is archived."""
        seen = self.seen.get(f"archived/{room}")
        return seen is not None and seen.state == THERE

    def reconcile(self) -> Plan:
        """Plan, and owe what the plan says."""
        over = [one for one in self.facts.paged if one.status == RESOLVED]
        self.answered = {one.ref for one in over if one.answered or not one.withdrawn}
        result = plan(desired_state(self.known()), self.observed())
        for key in result.cancels:
            assert key not in self.started, "an effect that has begun is never cancelled"
            del self.open[key]
            self.failed.discard(key)
        for action in result.actions:
            assert action.key not in self.open
            assert action.key not in {one.key for one in self.done}, f"{action.key} is done twice"
            self.counts[action.thing] = self.counts.get(action.thing, 0) + 1
            self.open[action.key] = action
        self._call_off()
        return result

    def _call_off(self) -> None:
        """Pages that nothing opens any more have ended."""
        coming = {action.thing for action in self.open.values()} | self.seen.keys()
        for one in self.facts.paged:
            if one.status == OPENING and one.key not in coming:
                self._change_page(one.key, status=RESOLVED, withdrawn=True, called_off=True)

    def ready(self) -> list[Action]:
        """Effects whose needs are there and whose predecessors have ended, in the order in which they were owed."""
        return [action for action in self.open.values() if self._is_ready(action)]

    def _is_ready(self, action: Action) -> bool:
        begun = action.key in self.started  # it is looked for, even where what it needed is gone by now
        there = all(need in self.seen and (begun or self.seen[need].state == THERE) for need in action.needs)
        if action.kind == "archived" and self._owed_in(action.room):
            return False
        waits = any(key in self.open and not self._is_past(self.open[key], action) for key in action.after)
        return there and not waits and action.key not in self.failed

    def _owed_in(self, room: int | None) -> list[str]:
        """Keys of what is still to be done in a room, but for archiving it."""
        owed = [one for one in self.open.values() if one.room == room and one.kind != "archived"]
        return [one.key for one in owed if one.key not in self.failed]

    def _is_past(self, other: Action, action: Action) -> bool:
        """Whether what failed is in nobody's way: it is in that of archiving, unless it would have made something."""
        holds = action.kind == "archived" and other.room == action.room and other.verb != CREATE
        return other.key in self.failed and not holds

    def begin(self, action: Action) -> None:
        """A worker claimed it and is calling the vendor. A page is written down before."""
        self.started.add(action.key)
        if action.kind == "page" and action.verb == CREATE:
            self._write_page(action)
        if action.kind == "page" and action.verb == RETIRE and self._page(action.thing).is_open:
            self._change_page(action.thing, withdrawn=True)

    def fail(self, action: Action) -> None:
        """The vendor refused for good."""
        self.started.discard(action.key)
        self.failed.add(action.key)
        if action.kind == "closed" and self.facts.room == action.room:
            self._go_on_elsewhere()

    def _go_on_elsewhere(self) -> None:
        number = self.facts.room + 1
        room = Room(number, f"inc-successor-{number}", self.facts.private, f"inc-successor-{number}")
        rooms, revision = (*self.facts.rooms, room), self.facts.revision + 1
        self.facts = replace(self.facts, room=number, rooms=rooms, revision=revision, archive_asked=False)

    def retry(self) -> None:
        """Somebody pressed every retry button."""
        self.failed.clear()

    def perform(self, action: Action) -> None:
        """The vendor did it and it was recorded. Archiving comes last of all in its room."""
        del self.open[action.key]
        left = self._owed_in(action.room)
        assert action.kind != "archived" or not left, f"{action.key} before {left}"
        self.started.discard(action.key)
        self.done.append(action)
        if action.kind == "page":
            self._paged(action)
        elif action.verb == RETIRE:
            del self.seen[action.thing]
        elif action.kind == "member":
            for person in action.spec["people"]:
                key = f"member/{action.room}/{person}"
                assert key not in self.seen or self.seen[key].state == GONE, f"{person} is invited twice"
                spec = {"room": action.room, "person": person}
                self.seen[key] = ObservedThing("member", spec, THERE, action.room, action.labels[key])
        else:
            by_hand = action.kind == "archived"  # it may have been archived by hand meanwhile
            assert by_hand or (action.thing in self.seen) == (action.verb == CHANGE), f"{action.key}: {action.verb}"
            label = action.labels[action.thing]
            self.seen[action.thing] = ObservedThing(action.kind, dict(action.spec), THERE, action.room, label)
            if action.kind == "closed":
                channel = self.seen[f"channel/{action.room}"]
                self.seen[f"channel/{action.room}"] = replace(channel, spec={**channel.spec, "private": True})

    def _paged(self, action: Action) -> None:
        """The pager did it. A page is never opened twice, nor taken from somebody who is on it."""
        key, spec = action.thing, dict(action.spec)
        if action.verb == CREATE:
            assert key not in self.seen, f"{key} is paged twice"
            self._write_page(action)
            self._change_page(key, status=TRIGGERED, title=spec["title"])
        self._change_page(key, title=spec["title"])
        theirs = self.facts.active and self._page(key).status == ACKNOWLEDGED
        if action.verb == RETIRE and not theirs and self._page(key).is_open:
            self._change_page(key, withdrawn=True)
        if action.verb == RETIRE and theirs:
            self._change_page(key, withdrawn=False)
        ended = self.seen[key].state == GONE if key in self.seen else False
        gone = ended or (action.verb == RETIRE and not theirs)
        self.seen[key] = ObservedThing("page", spec, GONE if gone else THERE, None, spec["name"])
        if gone:
            self._news(key, RESOLVED)

    def _write_page(self, action: Action) -> None:
        """Write a page down. At most one is open to the same one, and the type rings nobody who answered."""
        key, spec = action.thing, action.spec
        if any(one.key == key for one in self.facts.paged):
            if self._page(key).called_off:
                self._change_page(key, status=OPENING, withdrawn=False, called_off=False)
            return
        ref = spec["target"]
        others = [one.key for one in self.facts.paged if one.ref == ref and one.is_open]
        assert not others, f"{key} is opened beside {others}"
        by_hand = {one.key for one in self.facts.asked}
        assert key in by_hand or ref not in self.answered, f"{key} is paged again, though somebody answered"
        callee = next(one for one in callees().values() if one and one.ref == ref)
        strangers = callee.strangers
        one = Paged(key, ref, spec["name"], spec["service"], OPENING, callee.people, strangers=strangers)
        self.facts = replace(self.facts, paged=(*self.facts.paged, one))

    def _change_page(self, key: str, **changes: Any) -> None:
        paged = tuple(replace(one, **changes) if one.key == key else one for one in self.facts.paged)
        self.facts = replace(self.facts, paged=paged)

    def _page(self, key: str) -> Paged:
        return next(one for one in self.facts.paged if one.key == key)

    def _news(self, key: str, status: str) -> None:
        self._change_page(key, status=status)
        if status == RESOLVED:
            self._change_page(key, strangers=())
        self.facts = replace(self.facts, revision=self.facts.revision + 1)

    def hear(self, news: tuple[str, int]) -> None:
        """The pager tells what became of one of the pages."""
        status, which = news
        if not self.facts.paged:
            return
        key = self.facts.paged[which % len(self.facts.paged)].key
        if status == ACKNOWLEDGED:  # also late, of a page that ended meanwhile
            self._change_page(key, answered=True, by="Max")
        if not self._page(key).is_open:
            self._news(key, RESOLVED)
            return
        if self._page(key).status == OPENING:
            return
        self._news(key, status)
        if status == RESOLVED:
            self._change_page(key, withdrawn=False)

    def page(self, name: str) -> None:
        """Somebody pages by hand, unless such a page is open or asked for already. Nobody pages from a drill."""
        if self.facts.is_drill:
            return
        callee = callees()[name]
        assert callee is not None
        before = [one for one in self.facts.paged if one.ref == callee.ref]
        turns = {one.turn for one in self.facts.asked if one.callee.ref == callee.ref}
        opened = {one.turn for one in before}
        if any(one.is_open for one in before) or not self.facts.active or turns - opened:
            return
        asked = RequestedPage(callee, max(turns | opened, default=0) + 1, self.facts.room)
        known = {stay.who.person_id: stay for stay in self.facts.stays}
        for one in callee.people if self.facts.is_closed else ():  # whom somebody pages comes in by name
            stay = known.get(one.person_id)
            known[one.person_id] = stay if stay is not None and stay.here else Stay(one, "picked")
        stays, asked_for = tuple(known.values()), (*self.facts.asked, asked)
        self.facts = replace(self.facts, asked=asked_for, stays=stays, revision=self.facts.revision + 1)

    def settle(self) -> None:
        """Reconcile and perform until nothing is left."""
        self.retry()
        for _ in range(50):
            result, done = self.reconcile(), len(self.done)
            for action in iter(lambda: next(iter(self.ready()), None), None):
                self.perform(action)
            if result.is_empty and not self.open and len(self.done) == done:
                return
        raise AssertionError(f"does not converge; left: {list(self.open)}")

    # the verbs

    def retype(self, type: str, *, by: str = "dee") -> None:
        """Take another type, as the lifecycle does it: those whom the plan names come in by name."""
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
        """Make someone the lead. Who did not agree to drills takes the lead of one themselves, or not at all."""
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
        """Something that profiles may be captured on."""
        if moment:
            trigger = captures.Trigger(self.facts.next_n, moment, self.now(), asked)
            self.facts = replace(self.facts, triggers=(*self.facts.triggers, trigger), revision=self.facts.revision + 1)

    def ask(self, source: str) -> None:
        """Somebody asks for a profile there and then."""
        self.happened(captures.ASKED, Capture(source, SOURCES[source].kinds[0], captures.ASKED, 10))

    def serve(self, service: str) -> None:
        """A service turns out to be affected."""
        self.facts = replace(self.facts, services=(service,), revision=self.facts.revision + 1)

    def now(self) -> datetime:
        """A minute after whatever happened last."""
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
        """Somebody archives a room's channel."""
        if number := self._standing(which):
            spec = {"room": number}
            self.seen[f"archived/{number}"] = ObservedThing("archived", spec, THERE, number)

    def unarchive(self, which: int) -> None:
        """Somebody brings an archived channel back."""
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
        """Somebody deletes a room's channel."""
        if number := self._standing(which):
            key = f"channel/{number}"
            self.seen[key] = replace(self.seen[key], state=GONE, why=DELETED)
            for gone in (f"archived/{number}", f"counted/{number}"):
                self.seen.pop(gone, None)

    def convert(self, which: int) -> None:
        """Somebody makes a public channel private, or a private one public: what is private leaves that."""
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
        """Somebody asks for a new channel in place of one that is gone."""
        if self.facts.active and self.is_gone(self.facts.room):
            self._go_on_elsewhere()

    def _standing(self, which: int) -> int:
        """Return the number of one of the rooms whose channel stands, or 0."""
        numbers = [room.number for room in self.facts.rooms if f"channel/{room.number}" in self.seen]
        standing = [number for number in numbers if not self.is_gone(number)]
        return standing[which % len(standing)] if standing else 0
