"""What Slack sends to an app: events, commands and interactions as data, and their signature."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlencode

from integrations.slack.protocol.installation import EVENT_SCOPES

Kind = Literal["event", "command", "interaction", "suggestion"]

EVENTS: Final = frozenset(one.partition(".")[0] for one in EVENT_SCOPES)
"""What an app is told of unless told otherwise: what its manifest subscribes to, and nothing else."""


@dataclass(slots=True)
class PendingDelivery:
    """One delivery to the app, and the app's answer once there is one."""

    n: int
    kind: Kind
    type: str
    payload: dict[str, Any]
    user: str = ""
    channel: str = ""
    response_id: str = ""
    view_id: str = ""
    attempts: int = 0
    status: int = 0
    ms: int = 0
    outcome: dict[str, Any] = field(default_factory=dict)

    @property
    def content_type(self) -> str:
        """Return the content type: JSON for events, a form for everything else."""
        return "application/json" if self.kind == "event" else "application/x-www-form-urlencoded"

    def body(self) -> bytes:
        """Return the bytes that Slack would send."""
        if self.kind == "event":
            return json.dumps(self.payload).encode()
        if self.kind == "command":
            return urlencode(self.payload).encode()
        return urlencode({"payload": json.dumps(self.payload)}).encode()


def signed(delivery: PendingDelivery, secret: str, *, at: float) -> tuple[dict[str, str], bytes]:
    """Return the headers and body of a delivery, signed at a given time.

    https://docs.slack.dev/authentication/verifying-requests-from-slack
    """
    body = delivery.body()
    stamp = str(int(at))
    headers = {
        "Content-Type": delivery.content_type,
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": signature(body, secret, stamp=stamp),
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
    }
    return headers, body


def signature(body: bytes, secret: str, *, stamp: str) -> str:
    """Return Slack's v0 signature of a body."""
    digest = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256)
    return f"v0={digest.hexdigest()}"
