"""The service that the fallback's routing key belongs to, cached for when PagerDuty is down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Protocol

from integrations.pagerduty.models import Route


class Routes(Protocol):
    """Remembers which service each routing key belongs to."""

    def leads_to(self, routing_key: str) -> str:
        """Return the id of the service, empty when it is not known."""

    def learn(self, routing_key: str, service_id: str) -> None:
        """Store the service of a routing key; empty when it has none."""


class KeptRoutes:
    """Stores them in the database, for all processes."""

    def leads_to(self, routing_key: str) -> str:
        """Return the id of the service, empty when it is not known."""
        kept = Route.objects.filter(digest=_digest(routing_key)).first()
        return kept.service_id if kept else ""

    def learn(self, routing_key: str, service_id: str) -> None:
        """Store the service of a routing key."""
        if self.leads_to(routing_key) != service_id:
            Route.objects.update_or_create(digest=_digest(routing_key), defaults={"service_id": service_id})


def service_of(routing_key: str, services: Iterable[Mapping[str, Any]]) -> str:
    """Return the id of the service whose integration has this key, empty when none has."""
    return next((str(one["id"]) for one in services if _has(one, routing_key)), "")


def _has(service: Mapping[str, Any], routing_key: str) -> bool:
    return any(one.get("integration_key") == routing_key for one in service.get("integrations") or ())


def _digest(routing_key: str) -> str:
    return sha256(routing_key.encode()).hexdigest()
