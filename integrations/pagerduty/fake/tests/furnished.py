"""A small account for the tests of the stand-in."""

from __future__ import annotations

import json
from typing import Any

from integrations.pagerduty import fake
from integrations.pagerduty.protocol.rules import COMMON_ERRORS, RULES

SENDER = "bot@example.com"
NINE = 1_795_251_600.0
"""Saturday, 21 November 2026, 09:00 UTC."""
HOUR = 3600.0


class Clock:
    """A clock that moves only when told."""

    def __init__(self, now: float = NINE) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Strict(fake.FakeAccount):
    """A stand-in that may only refuse with codes listed in the table of rules."""

    clock: Clock

    def ask(self, request: str, body: Any = None, *, sender: str = SENDER, **query: Any) -> fake.Reply:
        """Make a request; list parameters get their brackets."""
        method, path = request.split()
        pairs = [(f"{k}[]", one) for k, v in query.items() if isinstance(v, list) for one in v]
        pairs += [(k, str(v)) for k, v in query.items() if not isinstance(v, list)]
        sent = b"" if body is None else json.dumps(body).encode()
        reply = self.request(method, path, query=pairs, headers=self.headers(sender), body=sent)
        if reply.call and reply.call.rule and reply.status >= 400:
            code = reply.body["error"]["code"]
            assert code in RULES[reply.call.rule].errors | COMMON_ERRORS, f"{request} is not known to answer {code}"
        return reply

    def ok(self, request: str, body: Any = None, **query: Any) -> Any:
        """Make a request and require success."""
        reply = self.ask(request, body, **query)
        assert reply.ok, reply.body
        return reply.body

    def code(self, request: str, body: Any = None, **query: Any) -> tuple[int, int]:
        """Make a request and return the status and code of its refusal."""
        reply = self.ask(request, body, **query)
        return reply.status, reply.body["error"]["code"]

    def event(self, action: str = "trigger", key: str = "k", **more: Any) -> fake.Reply:
        """Send an event."""
        payload = {"payload": {"summary": "It burns", "source": "host", "severity": "critical"}}
        whole = {"routing_key": self.routing_key, "event_action": action, "dedup_key": key, **payload, **more}
        return self.enqueue(json.dumps(whole).encode())

    def told(self) -> list[str]:
        """List the types of the queued webhooks, and empty the queue."""
        return [delivery.type.removeprefix("incident.") for delivery in self.take_deliveries()]


def small(**settings: Any) -> Strict:
    """Return an account of five people: ada and ben take turns of a day, and cat is on the level above."""
    clock = Clock()
    account = Strict(clock=clock, **settings)
    account.clock = clock
    account.add_user("bot", name="Bot", email=SENDER)
    for handle in ("ada", "ben", "cat", "dan"):
        account.add_user(handle)
    account.add_schedule("Primary", ["ada", "ben"], start=NINE)
    account.add_schedule("Unused", ["dan"], start=NINE)
    account.add_policy("Main", "Primary", "cat", delay_min=10)
    account.add_policy("Other", "dan")
    account.add_service("api", "Main")
    account.add_service("web", "Other")
    account.add_priority("P1")
    account.add_integration("api", key=account.routing_key)
    account.add_subscription(id="PW1")
    return account


def incident(key: str = "k", **more: Any) -> dict[str, Any]:
    """Return the body that opens an incident."""
    return {
        "incident": {
            "type": "incident",
            "title": "It burns",
            "service": {"id": "PVAPI", "type": "service_reference"},
            "incident_key": key,
            **more,
        }
    }


def status(word: str) -> dict[str, Any]:
    """Return the body that sets a status."""
    return {"incident": {"type": "incident_reference", "status": word}}


def ref(id: str, kind: str = "user") -> dict[str, str]:
    """Return a reference."""
    return {"id": id, "type": f"{kind}_reference"}
