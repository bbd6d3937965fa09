"""What Slack sends to an app: events, commands and interactions, as data, and the signature they carry."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlencode

from integrations.slack.protocol.rules import words

Kind = Literal["event", "command", "interaction", "suggestion"]

EVENTS: Final = words(
    """
    app_home_opened channel_archive channel_deleted channel_id_changed channel_left channel_unarchive channel_rename
    channel_created group_archive group_deleted group_left group_unarchive group_rename link_shared
    member_joined_channel member_left_channel
    message pin_added pin_removed reaction_added reaction_removed subteam_created subteam_updated
    subteam_members_changed team_join user_change
    """
)
"""Event types an app is subscribed to unless told otherwise."""


@dataclass(slots=True)
class PendingDelivery:
    """One thing Slack has to tell the app, and how the app answered once it has."""

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
        """Return how the body is written: events are JSON, all else is a form."""
        return "application/json" if self.kind == "event" else "application/x-www-form-urlencoded"

    def body(self) -> bytes:
        """Return the bytes Slack would send."""
        if self.kind == "event":
            return json.dumps(self.payload).encode()
        if self.kind == "command":
            return urlencode(self.payload).encode()
        return urlencode({"payload": json.dumps(self.payload)}).encode()


def signed(delivery: PendingDelivery, secret: str, *, at: float) -> tuple[dict[str, str], bytes]:
    """Return the headers and body of a delivery, signed at a moment.

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
