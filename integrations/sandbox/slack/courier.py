"""Sends deliveries to the app: commands and presses while the person waits, events in the background with retries."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

from integrations.sandbox import posting
from integrations.sandbox.courier import Carrier
from integrations.sandbox.posting import PostAnswer
from integrations.sandbox.settings import Settings
from integrations.slack import fake

AT_ONCE = 8
KEPT = 2_000
UNHEARD = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}  # our answer did not reach Slack


@dataclass(slots=True)
class Sent:
    """One delivery attempt, for the deliveries page."""

    n: int
    kind: str
    type: str
    user: str
    attempt: int
    status: int
    failure: str
    ms: int
    at: float


class Courier(Carrier[fake.PendingDelivery, Sent]):
    """Signs and posts deliveries. One channel's events are sent in order, eight channels at once."""

    def __init__(self, slack: fake.FakeSlack, settings: Settings) -> None:
        super().__init__(slack, at_once=AT_ONCE, kept=KEPT)
        self._slack = slack
        self._settings = settings
        self.signing_secret = settings.signing_secret

    async def deliver(self, delivery: fake.PendingDelivery) -> PostAnswer:
        """Post one delivery now and return the app's answer."""
        return await self._attempt(delivery, {})

    def _lane(self, delivery: fake.PendingDelivery) -> str:
        event = delivery.payload["event"]
        channel = event.get("channel") or event.get("item", {}).get("channel") or ""
        return channel if isinstance(channel, str) else str(channel.get("id"))

    async def _carry(self, delivery: fake.PendingDelivery) -> None:
        """Deliver one event, unless a fault loses or delays it; a repeated one arrives late as well."""
        struck = self._slack.strike_event(delivery.type)
        late = partial(self._late, delivery, struck)
        if struck.kind == fake.EVENT_LOST:
            return
        if struck.kind == fake.EVENT_LATE:
            self._lanes.put(f"late {delivery.n}", late)
            return
        await self._carry_now(delivery)
        if struck.kind == fake.EVENT_AGAIN:
            self._lanes.put(f"again {delivery.n}", late)

    async def _late(self, delivery: fake.PendingDelivery, struck: fake.FaultEffect) -> None:
        await self._lanes.rest(struck.latency_s)
        extra = UNHEARD if struck.kind == fake.EVENT_AGAIN else {}
        async with self._lanes.gate:
            await self._attempt_event(delivery, extra)

    async def _carry_now(self, delivery: fake.PendingDelivery) -> None:
        async with self._lanes.gate:
            answer = await self._attempt_event(delivery, {})
        if _failed(answer) and self._settings.retry_after_s:
            self._lanes.put(f"late {delivery.n}", partial(self._retry, delivery, answer))

    async def _retry(self, delivery: fake.PendingDelivery, answer: PostAnswer) -> None:
        """Retry as Slack does: three times, immediately, after a minute and after five."""
        for number, wait_s in enumerate(self._settings.retry_after_s, start=1):
            if "x-slack-no-retry" in answer.headers:
                return
            await self._lanes.rest(wait_s)
            reason = answer.failure or "http_error"
            extra = {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason}
            answer = await self._attempt_event(delivery, extra)
            if not _failed(answer):
                return

    async def _attempt_event(self, delivery: fake.PendingDelivery, extra: dict[str, str]) -> PostAnswer:
        answer = await self._attempt(delivery, extra)
        if delivery.type == "link_shared":  # for other events the answer changes nothing
            self._slack.acts.answered(delivery, answer.status, answer.body)
        return answer

    async def _attempt(self, delivery: fake.PendingDelivery, extra: dict[str, str]) -> PostAnswer:
        began = time.monotonic()
        headers, body = fake.signed(delivery, self.signing_secret, at=time.time())
        delivery.attempts += 1
        patience_s = self._settings.patience_s
        answer = await posting.post(self._settings.doors_url, headers | extra, body, timeout_s=patience_s)
        delivery.status, delivery.ms = answer.status, round((time.monotonic() - began) * 1000)
        about = (delivery.n, delivery.kind, delivery.type, delivery.user, delivery.attempts)
        self.sent.append(Sent(*about, answer.status, answer.failure, delivery.ms, time.time()))
        return answer


def _failed(answer: PostAnswer) -> bool:
    return not 200 <= answer.status < 300
