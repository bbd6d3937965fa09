"""One stand-in account put together: its state, its courier, its keeper and its clock."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from starlette.requests import Request

from integrations.pagerduty import fake
from integrations.sandbox.keeping import SnapshotKeeper
from integrations.sandbox.page.bell import Bell
from integrations.sandbox.settings import Settings

from .courier import Courier

SUBSCRIPTION: Final = "PWFIREKIND"
TICK_S: Final = 1.0
SHOWN_AGAIN_TICKS: Final = 30
SKIPPED: Final = 10_000
"""Ids left out after a start: what was made after the last snapshot must not come again with the same one."""


@dataclass
class Desk:
    """The account of one sandbox, and everything that serves it."""

    account: fake.FakeAccount
    settings: Settings
    courier: Courier
    keeper: SnapshotKeeper
    bell: Bell

    @classmethod
    def furnished(cls, settings: Settings) -> Desk:
        """Return the saved account, or else the one its file describes."""
        about = settings.pagerduty
        account = fake.FakeAccount(
            api_key=about.api_key, routing_key=about.routing_key, base_url=f"{settings.own_url}/pagerduty"
        )
        courier = Courier(account, retry_s=about.retry_s, patience_s=about.patience_s)
        keeper = SnapshotKeeper(account, about.data_file, dump=account.snapshot, restore=partial(_restore, account))
        desk = cls(account, settings, courier, keeper, Bell())
        if not keeper.load():
            fake.seed.furnish(account, fake.seed.read(about.account_file))
        desk.subscribe()
        account.on_change = desk.bell.ring
        return desk

    def subscribe(self) -> None:
        """Subscribe the app to every event, with the URL and secrets from the settings."""
        secrets = self.settings.pagerduty.webhook_secrets
        self.account.account.subscriptions.pop(SUBSCRIPTION, None)
        self.account.add_subscription(self.settings.webhook_url, secret=secrets[0], id=SUBSCRIPTION)
        self.courier.secrets.clear()

    def reset(self) -> None:
        """Start over with a fresh account."""
        fake.seed.furnish(self.account, fake.seed.read(self.settings.pagerduty.account_file))
        self.subscribe()
        self.account.calls.clear()
        self.account.faults.clear()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send webhooks, save the account and watch the clock for the length of the block."""
        watching = asyncio.create_task(self._watch_the_clock())
        try:
            async with self.courier.at_work(self.keeper):
                yield
        finally:
            watching.cancel()

    async def _watch_the_clock(self) -> None:
        """Escalate unacknowledged incidents, and update open pages as time passes."""
        ticks = 0
        while True:
            await asyncio.sleep(TICK_S)
            self.account.tick()
            ticks += 1
            if ticks % SHOWN_AGAIN_TICKS == 0:
                self.bell.ring()


def at(request: Request) -> Desk:
    """Return the account that a request is for."""
    desk: Desk = request.app.state.pagerduty
    return desk


def _restore(account: fake.FakeAccount, kept: dict[str, Any]) -> None:
    account.restore(kept)
    account.replace(account.account, serial=account.serial() + SKIPPED)
