"""The pages of a world of plain values: opened, changed and ended by us, acknowledged and resolved by the pager."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from workflows.planning.actions import CREATE, RETIRE, Action
from workflows.planning.facts import Stay
from workflows.planning.observed import GONE, THERE, ObservedThing
from workflows.planning.pages import ACKNOWLEDGED, OPENING, RESOLVED, TRIGGERED, Paged, RequestedPage
from workflows.tests.shipped_facts import (
    callees,
)
from workflows.tests.world_state import WorldState


@dataclass(slots=True)
class PagedWorld(WorldState):
    """A world whose pages are recorded, and reported on by the pager."""

    def _paged(self, action: Action) -> None:
        """The pager did it. A page is never opened twice, nor ended while someone is on it."""
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
        """Record a page. At most one per target is open, and the type pages no one who answered."""
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
        """The pager reports what happened to one of the pages."""
        status, which = news
        if not self.facts.paged:
            return
        key = self.facts.paged[which % len(self.facts.paged)].key
        if status == ACKNOWLEDGED:  # even late, for a page that has ended meanwhile
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
        """Someone pages by hand, unless such a page is open or requested already. No one pages from a drill."""
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
        for one in callee.people if self.facts.is_closed else ():  # people paged by hand come in by name
            stay = known.get(one.person_id)
            known[one.person_id] = stay if stay is not None and stay.here else Stay(one, "picked")
        stays, asked_for = tuple(known.values()), (*self.facts.asked, asked)
        self.facts = replace(self.facts, asked=asked_for, stays=stays, revision=self.facts.revision + 1)

    def _call_off(self) -> None:
        """Pages that nothing opens any more have ended."""
        coming = {action.thing for action in self.open.values()} | self.seen.keys()
        for one in self.facts.paged:
            if one.status == OPENING and one.key not in coming:
                self._change_page(one.key, status=RESOLVED, withdrawn=True, called_off=True)
