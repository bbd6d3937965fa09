"""Fill an account with people, teams, schedules, policies, services and subscriptions, by handle or name.

Ids are built from kind and name to be readable: ada is PUADA, the schedule "Support on call" is PSSUPPORTONCALL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

from integrations.pagerduty.fake.server.deliveries import EVENTS

from .records import DAY_S, Integration, Layer, Level, Policy, Priority, Schedule, Service, Subscription, Team, User
from .state import AccountState

T = TypeVar("T")
NINE_S = 9 * 3600.0


class Furnishing(AccountState):
    """Adds things to an account, and finds them by id, handle or name."""

    def add_user(self, handle: str, *, email: str = "", name: str = "", id: str = "", **about: Any) -> User:
        """Add a person."""
        user = User(id or made_id("PU", handle), name or handle.title(), email or f"{handle}@example.com", **about)
        return self._put(self.account.users, user.id, user)

    def add_team(self, name: str, *, id: str = "") -> Team:
        """Add a team."""
        team = Team(id or made_id("PT", name), name)
        return self._put(self.account.teams, team.id, team)

    def add_priority(self, name: str, *, id: str = "", **about: Any) -> Priority:
        """Add a priority."""
        priority = Priority(id or made_id("PP", name), name, **about)
        return self._put(self.account.priorities, priority.id, priority)

    def add_schedule(
        self, name: str, users: Iterable[str] = (), *, start: float | None = None, turn_s: float = DAY_S,
        every: bool = False, id: str = "", **about: Any,
    ) -> Schedule:  # fmt: skip
        """Add a schedule with one layer of people who take turns. `start` is the time of any handover.

        Without `start`, turns begin at nine, UTC.
        """
        schedule = Schedule(id or made_id("PS", name), name, **about)
        if users:
            self.add_layer(schedule, users, start=start, turn_s=turn_s, every=every)
        return self._put(self.account.schedules, schedule.id, schedule)

    def add_layer(
        self, schedule: Schedule, users: Iterable[str], *, start: float | None = None, turn_s: float = DAY_S,
        every: bool = False, **about: Any,
    ) -> Layer:  # fmt: skip
        """Add a layer on top of the others, or another rotation; an empty handle is a turn that no one takes."""
        at = self.now() // DAY_S * DAY_S + NINE_S if start is None else start
        n = len(schedule.layers) + 1
        people = [self.user(handle).id if handle else "" for handle in users]
        layer = Layer(f"{schedule.id}L{n}", people, at, turn_s, f"Layer {n}", every, **about)
        schedule.layers.append(layer)
        return layer

    def add_policy(
        self, name: str, *levels: str | Iterable[str], delay_min: int = 30, id: str = "", **about: Any
    ) -> Policy:
        """Add an escalation policy; each level names the schedules and people it pages."""
        whole = [[level] if isinstance(level, str) else list(level) for level in levels]
        rules = [Level([self._target(name) for name in level], delay_min) for level in whole]
        policy = Policy(id or made_id("PE", name), name, rules, **about)
        return self._put(self.account.policies, policy.id, policy)

    def add_service(self, name: str, policy: str, *, id: str = "", **about: Any) -> Service:
        """Add a service."""
        service = Service(id or made_id("PV", name), name, self.policy(policy).id, **about)
        return self._put(self.account.services, service.id, service)

    def add_integration(self, service: str, *, key: str, name: str = "Events API v2", id: str = "") -> Integration:
        """Add an integration, through which events reach a service."""
        found = self.service(service)
        integration = Integration(id or made_id("PI", f"{found.name}{len(found.integrations) or ''}"), name, key)
        found.integrations.append(integration)
        self.changed()
        return integration

    def add_subscription(
        self, url: str = "https://app.example/pagerduty/webhook", *, secret: str = "webhook-secret",  # noqa: S107 -- opens only this stand-in
        events: Iterable[str] = EVENTS, id: str = "", **about: Any,
    ) -> Subscription:  # fmt: skip
        """Add a subscription, to every event of the account by default."""
        made = id or made_id("PW", str(len(self.account.subscriptions) + 1))
        subscription = Subscription(made, url, secret, list(events), **about)
        return self._put(self.account.subscriptions, made, subscription)

    def user(self, who: str) -> User:
        """Find a person by id, handle, name or email address. Raises LookupError."""
        people = self.account.users
        by_email = (u for u in people.values() if who in (u.email, u.name))
        return people.get(who) or people.get(made_id("PU", who)) or _first(by_email, who)

    def team(self, name: str) -> Team:
        """Find a team by id or name. Raises LookupError."""
        return self.account.teams.get(name) or _first((t for t in self.account.teams.values() if t.name == name), name)

    def schedule(self, name: str) -> Schedule:
        """Find a schedule by id or name. Raises LookupError."""
        things = self.account.schedules
        return things.get(name) or _first((s for s in things.values() if s.name == name), name)

    def policy(self, name: str) -> Policy:
        """Find an escalation policy by id or name. Raises LookupError."""
        things = self.account.policies
        return things.get(name) or _first((p for p in things.values() if p.name == name), name)

    def service(self, name: str) -> Service:
        """Find a service by id or name. Raises LookupError."""
        things = self.account.services
        return things.get(name) or _first((s for s in things.values() if s.name == name), name)

    def priority(self, name: str) -> Priority:
        """Find a priority by id or name. Raises LookupError."""
        things = self.account.priorities
        return things.get(name) or _first((p for p in things.values() if p.name == name), name)

    def _target(self, name: str) -> str:
        try:
            return self.schedule(name).id
        except LookupError:
            return self.user(name).id

    def _put(self, things: dict[str, T], id: str, thing: T) -> T:
        with self.lock:
            things[id] = thing
            self.changed()
            return thing


def made_id(prefix: str, name: str) -> str:
    """Return a readable id."""
    return prefix + re.sub(r"[^A-Z0-9]", "", name.upper())


def _first(things: Iterable[T], name: str) -> T:
    for thing in things:
        return thing
    raise LookupError(f"there is no {name!r} in this account")
