"""What people do with schedules: put someone on call, move handovers, add overrides. None of it sends a webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from integrations.pagerduty.fake.server.answers import NotPossible

from . import rendering
from .records import Layer, Override, Schedule

if TYPE_CHECKING:
    from .core import FakeAccount


class Hours:
    """The acts on schedules. Times are seconds since 1970."""

    _account: FakeAccount

    def set_override(self, schedule: str, user: str, start: float, end: float) -> Override:
        """Put a person on a schedule for a time, in place of the person on call.

        In v3 an override replaces one person of one rotation; if no one is on call, it becomes a shift.
        """
        with self._account.lock:
            found, id = self._account.schedule(schedule), self._account.user(user).id
            if end <= start:
                raise NotPossible("It must end after it starts")
            override = Override(self._account.next_id(), id, start, end)
            if not found.v3:
                found.overrides.append(override)
            else:
                _override_v3(found, override)
            self._account.changed()
            return override

    def remove_override(self, schedule: str, override: str) -> None:
        """Remove an override."""
        with self._account.lock:
            found = self._account.schedule(schedule)
            found.overrides = [o for o in found.overrides if o.id != override]
            found.shifts = [s for s in found.shifts if s.id != override]
            self._account.changed()

    def move_handover(self, schedule: str, to: float) -> None:
        """Keep the person on call until a given time, from which every later turn is counted."""
        with self._account.lock:
            found = self._account.schedule(schedule)
            if to <= self._account.now():
                raise NotPossible("A handover lies ahead")
            for layer in found.layers:
                users = _from_now(layer, found, self._account.now())
                turns = int((to - self._account.now()) // layer.turn_s)
                if turns:
                    raise NotPossible("A handover comes within one turn")
                # Turn -1 ends at `to`, so it is the current one.
                layer.start, layer.users = to, [*users[1:], users[0]]
            self._account.changed()

    def set_on_call(self, schedule: str, user: str) -> None:
        """Put a person on call now, until the next handover; one outside the rotation gets an override."""
        with self._account.lock:
            found, id, now = self._account.schedule(schedule), self._account.user(user).id, self._account.now()
            mine = [layer for layer in found.layers if id in layer.users]
            if not mine:
                self.set_override(schedule, user, now, self.next_handover(schedule))
                return
            for layer in mine:
                n = rendering.turn_at(layer, found.time_zone, now)
                shift = (layer.users.index(id) - n) % len(layer.users)
                layer.users = [*layer.users[shift:], *layer.users[:shift]]
            found.overrides = [o for o in found.overrides if not o.start <= now < o.end]
            self._account.changed()

    def next_handover(self, schedule: str) -> float:
        """Return when the current turn ends. Raises NotPossible if there are no turns."""
        with self._account.lock:
            found, now = self._account.schedule(schedule), self._account.now()
            ends = [
                rendering.boundary(layer, found.time_zone, rendering.turn_at(layer, found.time_zone, now) + 1)
                for layer in found.layers
            ]
            if not ends:
                raise NotPossible("No one is on its rotation")
            return min(ends)

    def on_call(self, schedule: str) -> list[str]:
        """List the ids of the people on call now."""
        with self._account.lock:
            return rendering.now_on(self._account.schedule(schedule), self._account.now())


def _from_now(layer: Layer, schedule: Schedule, now: float) -> list[str]:
    """Return the people of a layer in order of their turns, starting with the current one."""
    n = rendering.turn_at(layer, schedule.time_zone, now) % len(layer.users)
    return [*layer.users[n:], *layer.users[:n]]


def _override_v3(schedule: Schedule, override: Override) -> None:
    spans = rendering.rendered(schedule, override.start, override.end)
    replaced = next((s for s in spans if s.kind == "schedule_rotation" and s.user), None)
    if replaced is None:
        schedule.shifts.append(override)
        return
    override.replaced, override.rotation = replaced.user, replaced.rotation
    schedule.overrides.append(override)
