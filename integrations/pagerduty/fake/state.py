"""The state of the stand-in: the account, who was notified, and the queued webhooks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar
from uuid import uuid4

from integrations.pagerduty.fake.server import shapes
from integrations.pagerduty.fake.server.deliveries import PendingDelivery
from integrations.pagerduty.fake.server.faults import KINDS, Fault
from integrations.standin.faults import InForce
from integrations.standin.state import StandInState

from .records import Account, Incident, Json, Rang
from .times import iso_ms


def unique(prefix: str = "") -> str:
    """Return an id that no account has ever used, because an app keeps incident and webhook ids for good."""
    return prefix + uuid4().hex[:24].upper()


class AccountState(StandInState[PendingDelivery, Fault]):
    """The shared state that requests, events and acts work on."""

    ID_DIGITS: ClassVar[int] = 6

    def __init__(
        self,
        account: Account | None = None,
        *,
        clock: Callable[[], float] = time.time,
        base_url: str = "",
        seed: int = 0,
    ) -> None:
        super().__init__(clock=clock, base_url=base_url, faults=InForce(Fault, KINDS, seed=seed))
        self.account = account or Account()

    @property
    def rang(self) -> list[Rang]:
        """Return the notifications, oldest first."""
        return self.account.rang

    def next_id(self, prefix: str = "P") -> str:
        """Return an id that was never used before in this account."""
        return super().next_id(prefix)

    def ring(self, incident: Incident, user: str, why: str) -> None:
        """Notify a person of an incident, if they have a rule for its urgency."""
        if incident.urgency in self.account.users[user].notified_of:
            self.rang.append(Rang(self.now(), user, incident.id, why, incident.level, incident.urgency))

    def pages(self, *, user: str = "", incident: str = "") -> list[Rang]:
        """List the notifications, optionally of one person or one incident."""
        with self.lock:
            return [r for r in self.rang if user in ("", r.user) and incident in ("", r.incident)]

    def emit(self, event_type: str, incident: Incident, agent: Json, data: Json | None = None) -> None:
        """Queue a webhook for every subscription that wants this event and may see the incident."""
        at = self.now()
        event = {
            "id": unique("01"),
            "event_type": event_type,
            "resource_type": "incident",
            "occurred_at": iso_ms(at),
            "agent": agent,
            "client": None,
            "data": shapes.of(self).incident_told(incident) if data is None else data,
        }
        told = []
        for subscription in self.account.subscriptions.values():
            if self._wants(subscription.id, event_type, incident):
                about = (unique().lower(), subscription.id, incident.id, {"event": event}, at)
                headers = dict(subscription.custom_headers)
                told.append(PendingDelivery(self.next_delivery(), *about, headers=headers))
        self.queue(*told)

    def _wants(self, id: str, event_type: str, incident: Incident) -> bool:
        subscription = self.account.subscriptions[id]
        seen = {
            "account_reference": [""],
            "service_reference": [incident.service],
            "team_reference": self.account.services[incident.service].teams,
        }
        allowed = subscription.filter_type == "account_reference" or subscription.filter_id in seen.get(
            subscription.filter_type, ()
        )
        return allowed and event_type in subscription.events and self.is_active(id)

    def is_active(self, subscription: str) -> bool:
        """Return whether webhooks go to a subscription: it exists, is on, and is not disabled for the day."""
        found = self.account.subscriptions.get(subscription)
        return found is not None and found.active and found.disabled_until <= self.now()

    def discard(self, subscription: str) -> None:
        """Discard a subscription's queued webhooks."""
        kept = [d for d in self._outbox if d.subscription != subscription]
        self._outbox.clear()
        self._outbox.extend(kept)

    def replace(self, account: Account, *, serial: int | None = None) -> None:
        """Replace this account's contents with another's, and continue the numbering."""
        with self.lock:
            self.account = account
            self._serial = self._serial if serial is None else serial
            self._outbox.clear()
            self.changed()
