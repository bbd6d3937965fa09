"""A stand-in for Slack: a whole workspace in memory that follows Slack's rules.

    slack = fake.FakeSlack()                     # an empty workspace and the app's bot
    slack = fake.demo()                          # the people of fixtures/workspace.yaml
    reply = slack.call("chat.postMessage", {"channel": "C0INCIDENTS", "text": "hi"}, token="xoxb-sandbox")
    slack.acts.say("ada", "incidents", "on it")  # what people do
    slack.texts("incidents")                     # what there is to see
    slack.faults.add("drop", method="conversations.create", times=1)

The workspace never sleeps and makes no calls. A transport applies `reply.latency_s` and `reply.dropped`, and sends the
deliveries. `integrations.sandbox` is that transport over HTTP.
"""

from __future__ import annotations

from typing import Any

from integrations.slack.fake import seed, snapshot
from integrations.slack.fake.server import transfers
from integrations.slack.fake.server.answering import respond
from integrations.slack.fake.server.answers import NotPossible, Reply
from integrations.slack.fake.server.calls import Call
from integrations.slack.fake.server.deliveries import EVENTS, PendingDelivery, signature, signed
from integrations.slack.fake.server.faults import EVENT_AGAIN, EVENT_LATE, EVENT_LOST, KINDS, Fault, FaultEffect
from integrations.slack.fake.server.fields import Incomplete

from .core import BOT_SCOPES, FakeSlack
from .state import APP_ID, BOT_ID, BOT_USER
from .workspace import Channel, Ephemeral, Group, Message, Person, View, Workspace

__all__ = [
    "APP_ID",
    "BOT_ID",
    "BOT_SCOPES",
    "BOT_USER",
    "EVENTS",
    "EVENT_AGAIN",
    "EVENT_LATE",
    "EVENT_LOST",
    "KINDS",
    "Call",
    "Channel",
    "Ephemeral",
    "FakeSlack",
    "Fault",
    "FaultEffect",
    "Group",
    "Incomplete",
    "Message",
    "NotPossible",
    "PendingDelivery",
    "Person",
    "Reply",
    "View",
    "Workspace",
    "demo",
    "respond",
    "seed",
    "signature",
    "signed",
    "snapshot",
    "transfers",
]


def demo(**settings: Any) -> FakeSlack:
    """Return the demo workspace; settings are those of `FakeSlack`."""
    slack = FakeSlack(**settings)
    seed.furnish(slack, seed.read())
    return slack
