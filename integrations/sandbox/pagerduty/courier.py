"""Sends webhooks to the app: in order per incident, retried after a failure, given up after a refusal.

https://developer.pagerduty.com/docs/webhooks-behavior
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from integrations.pagerduty import fake
from integrations.sandbox import posting
from integrations.sandbox.courier import Carrier

AT_ONCE: Final = 16
KEPT: Final = 5_000
REPEATABLE: Final = 500


@dataclass(slots=True)
class Sent:
    """One attempt, for the list of webhooks. The verdict is its outcome: delivered, retry, dropped …"""

    n: int
    type: str
    incident: str
    subscription: str
    attempt: int
    status: int
    failure: str
    verdict: str
    ms: int
    at: float


class Courier(Carrier[fake.PendingDelivery, Sent]):
    """Signs and posts webhooks. An incident's webhooks are sent in order; a failing one only delays those behind it."""

    def __init__(self, account: fake.FakeAccount, *, retry_s: Sequence[float], patience_s: float) -> None:
        super().__init__(account, at_once=AT_ONCE, kept=KEPT)
        self._account = account
        self._retry_s = retry_s
        self._patience_s = patience_s
        self.secrets: dict[str, tuple[str, ...]] = {}
        self._delivered: deque[fake.PendingDelivery] = deque(maxlen=REPEATABLE)

    def repeat(self, count: int, *, skip: int = 0) -> int:
        """Resend delivered webhooks, the newest first, as networks can; return how many.

        The outcome changes nothing here, because each was delivered before.
        """
        delivered = list(self._delivered)
        chosen = delivered[max(0, len(delivered) - skip - count) : len(delivered) - skip][::-1]
        for one in chosen:
            self._lanes.put(f"repeated {one.key}", partial(self._once_more, replace(one)))
        return len(chosen)

    def latest(self) -> list[Sent]:
        """List the last attempt for each webhook, in the webhooks' order."""
        return [last for _, last in sorted({sent.n: sent for sent in self.sent}.items())]

    def _lane(self, delivery: fake.PendingDelivery) -> str:
        return f"{delivery.subscription} {delivery.incident}"

    async def _carry(self, delivery: fake.PendingDelivery) -> None:
        while self._account.is_active(delivery.subscription):
            async with self._lanes.gate:
                verdict = await self._attempt(delivery)
            if verdict != "retry":
                return
            await self._lanes.rest(self._retry_s[min(delivery.attempts, len(self._retry_s)) - 1])

    async def _attempt(self, delivery: fake.PendingDelivery) -> str:
        began = time.monotonic()
        answer = await self._post(delivery)
        delivery.ms = round((time.monotonic() - began) * 1000)
        verdict = self._account.answered(delivery, answer.status)
        about = (delivery.n, delivery.type, delivery.incident, delivery.subscription, delivery.attempts)
        self.sent.append(Sent(*about, answer.status, answer.failure, verdict, delivery.ms, time.time()))
        if verdict == "delivered":
            self._delivered.append(delivery)
        self._account.changed()
        return verdict

    async def _once_more(self, delivery: fake.PendingDelivery) -> None:
        async with self._lanes.gate:
            await self._post(delivery)

    async def _post(self, delivery: fake.PendingDelivery) -> posting.PostAnswer:
        subscription = self._account.account.subscriptions[delivery.subscription]
        headers, body = fake.signed(delivery, self.secrets.get(subscription.id) or (subscription.secret,))
        return await posting.post(subscription.url, headers, body, timeout_s=self._patience_s)
