"""Webhooks as PagerDuty sends them: bodies, signatures, and a door to send them to."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from integrations.pagerduty.fake.server import deliveries
from integrations.pagerduty.tests.straight import Given
from integrations.pagerduty.webhooks import inbox, translate_webhook
from workflows.oncall import people

ADDRESS = "/pagerduty/webhook"
SECRETS = ("new-secret", "old-secret")
GIVEN = Given(service="", webhook_secrets=SECRETS, routing_key="")
NINE = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
_numbers = itertools.count(1)


def user(id: str, name: str) -> dict[str, Any]:
    """Return a reference to a person."""
    return {"id": id, "type": "user_reference", "summary": name, "html_url": f"https://acme.pagerduty.com/users/{id}"}


EVE, LEO, OURS = user("PEVE", "Eve Ito"), user("PLEO", "Leo Ray"), user("POURS", "Firekind")


def incident(id: str = "PI1", **more: Any) -> dict[str, Any]:
    """Return an incident as in webhooks."""
    return {
        "id": id,
        "type": "incident",
        "number": 7,
        "html_url": f"https://acme.pagerduty.com/incidents/{id}",
        "status": "triggered",
        "incident_key": "",
        "title": "Checkout is slow",
        "created_at": "2026-11-20T08:59:00Z",
        "service": {"id": "PS1", "type": "service_reference", "summary": "Checkout"},
        "assignees": [],
        "escalation_policy": {"id": "PP1", "type": "escalation_policy_reference", "summary": "Major incidents"},
        "priority": None,
        "urgency": "high",
        **more,
    }


def about(id: str = "PI1", **more: Any) -> dict[str, Any]:
    """Return the data of a note, an update or a responder, which contains only a reference to the incident."""
    return {"incident": {"id": id, "type": "incident_reference", "summary": "Checkout is slow"}, **more}


def event(
    kind: str, data: Mapping[str, Any] | None = None, *, after_s: float = 0, agent: Any = EVE, id: str = ""
) -> dict[str, Any]:
    """Return an event that happened this many seconds after nine."""
    at = (NINE + timedelta(seconds=after_s)).isoformat().replace("+00:00", "Z")
    return {
        "id": id or f"01EVENT{next(_numbers)}",
        "event_type": f"incident.{kind}" if "." not in kind or kind.startswith("responder") else kind,
        "resource_type": "incident",
        "occurred_at": at,
        "agent": agent,
        "client": None,
        "data": dict(incident() if data is None else data),
    }


@dataclass(slots=True)
class Door:
    """PagerDuty at our door, and a worker behind it."""

    client: Client = field(default_factory=Client)

    def send(self, event: Mapping[str, Any], *, key: str = "", secrets: Sequence[str] = SECRETS[:1]) -> HttpResponse:
        """Send an event, signed."""
        return self.raw(json.dumps({"event": event}).encode(), key=key or f"hook-{event['id']}", secrets=secrets)

    def raw(
        self, body: bytes, *, key: str = "hook", secrets: Sequence[str] = SECRETS[:1], **headers: str
    ) -> HttpResponse:
        """Send any bytes, signed."""
        signature = ",".join(deliveries.signature(body, secret) for secret in secrets)
        given = {"X-PagerDuty-Signature": signature, "X-Webhook-Id": key, **headers}
        answer = self.client.post(ADDRESS, data=body, content_type="application/json", headers=given)
        return HttpResponse(answer.content, status=answer.status_code)

    def work(self, *, after_s: float = 0) -> int:
        """Process the stored webhooks as a worker does; return how many there were."""
        ours, at = people.our_ids(), timezone.now() + timedelta(seconds=after_s)
        done = 0
        while some := inbox.take(partial(translate_webhook.act, ours=ours, at=at), at=at):
            done += some
        return done


def without(**fields: Any) -> Given:
    """Return the settings with some replaced."""
    return dataclasses.replace(GIVEN, **fields)
