"""A stand-in for PagerDuty: a whole account in memory that follows its rules.

    account = fake.FakeAccount()                 # an empty account
    account = fake.demo()                        # the people and schedules of fixtures/pagerduty.yaml
    account.request("GET", "/users", headers=account.headers())
    account.acts.acknowledge("ada", 1)           # what people do; each act queues webhooks
    account.rang                                 # who was notified of what
    account.faults.add("drop", method="POST", path="/incidents", times=1)

The account never sleeps and makes no calls. A transport applies `reply.latency_s`, `reply.dropped` and `reply.hangs`,
and sends the webhooks (`account.take_deliveries()`, `fake.signed(delivery, [secret])`, `account.answered(delivery,
status)`). `integrations.sandbox` is that transport over HTTP.
"""

from __future__ import annotations

from typing import Any

from integrations.pagerduty.fake.server.answers import ErrorAnswer, NotPossible, Reply
from integrations.pagerduty.fake.server.calls import Call
from integrations.pagerduty.fake.server.deliveries import EVENTS, PendingDelivery, signature, signed
from integrations.pagerduty.fake.server.faults import KINDS, Fault, FaultEffect

from . import rendering, seed, snapshot
from .core import ACCEPT, ENQUEUE, ROUTING_KEY, FakeAccount
from .records import (
    Account,
    Incident,
    Layer,
    Level,
    Override,
    Policy,
    Priority,
    Rang,
    Responder,
    Schedule,
    Service,
    Subscription,
    User,
)

__all__ = [
    "ACCEPT",
    "ENQUEUE",
    "EVENTS",
    "KINDS",
    "ROUTING_KEY",
    "Account",
    "Call",
    "ErrorAnswer",
    "FakeAccount",
    "Fault",
    "FaultEffect",
    "Incident",
    "Layer",
    "Level",
    "NotPossible",
    "Override",
    "PendingDelivery",
    "Policy",
    "Priority",
    "Rang",
    "Reply",
    "Responder",
    "Schedule",
    "Service",
    "Subscription",
    "User",
    "demo",
    "rendering",
    "seed",
    "signature",
    "signed",
    "snapshot",
]


def demo(**settings: Any) -> FakeAccount:
    """Return the demo company's account; settings are those of `FakeAccount`."""
    account = FakeAccount(**settings)
    seed.furnish(account, seed.read())
    return account
