"""Owed effects of a world of plain values are planned and succeed, one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workflows.planning.actions import CHANGE, CREATE, RETIRE, Action
from workflows.planning.desired import desired_state
from workflows.planning.observed import GONE, THERE, ObservedThing
from workflows.planning.pages import RESOLVED
from workflows.planning.plan import Plan, plan
from workflows.tests.world_pages import PagedWorld


@dataclass(slots=True)
class WorkedWorld(PagedWorld):
    """A world in which plans are made and effects performed."""

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

    def ready(self) -> list[Action]:
        """Effects whose needs exist and whose predecessors have ended, in the order in which they were owed."""
        return [action for action in self.open.values() if self._is_ready(action)]

    def _is_ready(self, action: Action) -> bool:
        begun = action.key in self.started  # it is looked for, even if what it needed is gone by now
        there = all(need in self.seen and (begun or self.seen[need].state == THERE) for need in action.needs)
        if action.kind == "archived" and self._owed_in(action.room):
            return False
        waits = any(key in self.open and not self._is_past(self.open[key], action) for key in action.after)
        return there and not waits and action.key not in self.failed

    def _owed_in(self, room: int | None) -> list[str]:
        """Keys of what is still owed in a room, except archiving it."""
        owed = [one for one in self.open.values() if one.room == room and one.kind != "archived"]
        return [one.key for one in owed if one.key not in self.failed]

    def _is_past(self, other: Action, action: Action) -> bool:
        """Whether a failed effect holds up another: it holds up archiving, unless it would have made something."""
        holds = action.kind == "archived" and other.room == action.room and other.verb != CREATE
        return other.key in self.failed and not holds

    def begin(self, action: Action) -> None:
        """A worker claimed it and is calling the vendor. A page is recorded before that."""
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

    def retry(self) -> None:
        """Someone pressed every retry button."""
        self.failed.clear()

    def perform(self, action: Action) -> None:
        """The vendor did it and it was recorded. Archiving comes last in its room."""
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
