"""The account's page as one person sees it: schedules, incidents, who was paged; plain values for templates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from integrations.pagerduty import fake
from integrations.pagerduty.fake.records import Incident, Rang, Service, User
from integrations.sandbox.pagerduty.shifts import ScheduleRow, ShownDays, row

ENDED_SHOWN: Final = 12
RANG_SHOWN: Final = 25
PANELS: Final = ("webhooks", "faults", "calls")
RANKS: Final = {"triggered": 0, "acknowledged": 1}


@dataclass(frozen=True, slots=True)
class ScreenAddress:
    """A person's place on the page: the parts of its URL."""

    who: str = ""
    panel: str = ""
    all: bool = False

    def url(self, **changes: Any) -> str:
        """Return the URL of another place near this one."""
        kept = {"as": self.who, "panel": self.panel, "all": "1" if self.all else ""}
        parts = {key: value for key, value in (kept | changes).items() if value}
        return f"/pagerduty?{urlencode(parts)}" if parts else "/pagerduty"


class Screen:
    """The account as one of its people sees it."""

    def __init__(self, account: fake.FakeAccount, place: ScreenAddress) -> None:
        self.account = account.account
        self.place = place
        self._fake = account
        self.people = sorted(self.account.users.values(), key=lambda user: user.name)
        who = place.who.casefold()
        named = (user for user in self.people if who in (user.id.casefold(), user.email.casefold()))
        self.me = next(named, None) or self._first()
        self.window = ShownDays.around(account.now(), self.me.time_zone if self.me else "Etc/UTC")

    def _first(self) -> User | None:
        on = [id for r in self.account.schedules.values() for id in fake.rendering.now_on(r, self._fake.now())]
        return self.account.users.get(on[0]) if on else next(iter(self.people), None)

    def name(self, user: str) -> str:
        """Return a person's name."""
        found = self.account.users.get(user)
        return found.name if found else "somebody"

    def names(self, users: Iterable[str]) -> str:
        """Return several people's names as a list in words."""
        return ", ".join(self.name(user) for user in users)

    def hue(self, user: str) -> int:
        """Return a person's colour, one of twelve; neighbours in the list get distant ones."""
        return next((n * 5 % 12 for n, one in enumerate(self.people) if one.id == user), 0)

    def services(self) -> list[Service]:
        """List the services, those with monitoring first."""
        own = self._fake.routing_key
        return sorted(
            self.account.services.values(), key=lambda one: not any(way.key != own for way in one.integrations)
        )

    def rows(self) -> list[ScheduleRow]:
        """List the schedules."""
        schedules = sorted(self.account.schedules.values(), key=lambda schedule: schedule.name)
        return [row(self._fake, schedule, self.window) for schedule in schedules]

    def open(self) -> list[Incident]:
        """List open incidents: unacknowledged ones first, then the newest."""
        found = [one for one in self.account.incidents.values() if one.is_open]
        return sorted(found, key=lambda one: (RANKS[one.status], -one.number))

    def ended(self) -> list[Incident]:
        """List resolved incidents, newest first."""
        found = sorted((one for one in self.account.incidents.values() if not one.is_open), key=lambda one: -one.number)
        return found if self.place.all else found[:ENDED_SHOWN]

    def ended_more(self) -> int:
        """Return how many resolved incidents are left out."""
        return sum(not one.is_open for one in self.account.incidents.values()) - len(self.ended())

    def levels(self, incident: Incident) -> int:
        """Return how many levels an incident's policy has."""
        policy = self.account.policies.get(incident.policy)
        return len(policy.levels) if policy else 0

    def rang(self, incident: str = "") -> list[Rang]:
        """List who was notified, newest first."""
        return self._fake.pages(incident=incident)[-RANG_SHOWN:][::-1]

    def incident(self, id: str) -> Incident | None:
        """Return an incident by its id."""
        return self.account.incidents.get(id)
