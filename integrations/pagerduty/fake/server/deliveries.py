"""What PagerDuty sends to an app: v3 webhooks as data, their signature, and the cost of refusing them."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from integrations.pagerduty.fake.records import DAY_S, Json

if TYPE_CHECKING:
    from integrations.pagerduty.fake.state import AccountState

Verdict = Literal["delivered", "retry", "dropped", "disabled", "expired"]

EVENTS: Final = (
    "incident.acknowledged",
    "incident.annotated",
    "incident.delegated",
    "incident.escalated",
    "incident.incident_type.changed",
    "incident.priority_updated",
    "incident.reassigned",
    "incident.reopened",
    "incident.resolved",
    "incident.responder.added",
    "incident.responder.replied",
    "incident.service_updated",
    "incident.status_update_published",
    "incident.triggered",
    "incident.unacknowledged",
)
"""Events of ours, all of which a subscription hears unless told otherwise. https://developer.pagerduty.com/docs/webhooks-overview"""

RETRY_S: Final = 2 * DAY_S
DROPS: Final = 3
"""Webhooks refused in a row until a subscription is switched off for a day."""


@dataclass(slots=True)
class PendingDelivery:
    """One webhook, and the app's answer once there is one. `key` stays the same across attempts."""

    n: int
    key: str
    subscription: str
    incident: str
    payload: Json
    created_at: float
    attempts: int = 0
    status: int = 0
    ms: int = 0
    verdict: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """Return the type of its event."""
        return str(self.payload["event"]["event_type"])

    @property
    def event_id(self) -> str:
        """Return the id of its event; the same one may go to several subscriptions."""
        return str(self.payload["event"]["id"])

    def body(self) -> bytes:
        """Return the bytes that PagerDuty would send."""
        return json.dumps(self.payload).encode()


def signed(delivery: PendingDelivery, secrets: Sequence[str]) -> tuple[dict[str, str], bytes]:
    """Return the headers and body of a webhook, signed with every valid secret.

    https://developer.pagerduty.com/docs/verifying-webhook-signatures
    """
    body = delivery.body()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "PagerDuty-Webhook/V3.0",
        "X-PagerDuty-Signature": ",".join(signature(body, secret) for secret in secrets),
        "X-Webhook-Id": delivery.key,
        "X-Webhook-Subscription": delivery.subscription,
    }
    return {**headers, **delivery.headers}, body


def signature(body: bytes, secret: str) -> str:
    """Return PagerDuty's v1 signature of a body."""
    return f"v1={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def answered(state: AccountState, delivery: PendingDelivery, status: int) -> Verdict:
    """Record how a webhook was answered (0: no answer), and return what PagerDuty does next.

    https://developer.pagerduty.com/docs/webhooks-behavior: 2xx is success; 5xx, 429 and no answer are retried for two
    days; anything else drops the webhook at once. Three drops in a row disable the subscription for a day and discard
    its queue.
    """
    with state.lock:
        delivery.attempts += 1
        delivery.status = status
        verdict = _verdict(state, delivery, status)
        delivery.verdict = verdict
        return verdict


def _verdict(state: AccountState, delivery: PendingDelivery, status: int) -> Verdict:
    subscription = state.account.subscriptions.get(delivery.subscription)
    if subscription is None or not state.is_active(subscription.id):
        return "dropped"
    if 200 <= status < 300:
        subscription.drops = 0
        return "delivered"
    if status == 0 or status == 429 or status >= 500:
        return "retry" if state.now() < delivery.created_at + RETRY_S else "expired"
    subscription.drops += 1
    if subscription.drops < DROPS:
        return "dropped"
    subscription.drops, subscription.disabled_until = 0, state.now() + DAY_S
    state.discard(subscription.id)
    state.changed()
    return "disabled"
