"""One stand-in tracker put together: its tickets, its courier, its keeper and its page's bell."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from starlette.requests import Request

from integrations.sandbox import posting
from integrations.sandbox.keeping import SnapshotKeeper
from integrations.sandbox.lanes import Lanes
from integrations.sandbox.page.bell import Bell
from integrations.sandbox.settings import Settings
from integrations.trackers.fake import kept
from integrations.trackers.fake.board import Hook
from integrations.trackers.fake.github import FakeGitHub

AT_ONCE: Final = 4
PATIENCE_S: Final = 10.0


@dataclass
class TrackerDesk:
    """The tracker of one sandbox. A webhook that fails is lost, because GitHub delivers each one only once.

    https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
    """

    board: FakeGitHub
    webhook_url: str
    keeper: SnapshotKeeper
    bell: Bell = field(default_factory=Bell)
    lanes: Lanes = field(default_factory=partial(Lanes, at_once=AT_ONCE))
    sent: int = 0
    lost: int = 0

    @classmethod
    def furnished(cls, settings: Settings) -> TrackerDesk:
        """Return the saved tracker, or else an empty one."""
        about = settings.tracker
        board = FakeGitHub(
            token=about.token,
            secret=about.webhook_secret,
            projects=about.projects,
            people=about.accounts,
            web_url=f"{settings.own_url}/tracker",
        )
        dump, restore = partial(kept.dump, board), partial(kept.restore, board)
        desk = cls(board, settings.tracker_webhook_url, SnapshotKeeper(board, about.data_file, dump, restore))
        desk.keeper.load()
        board.on_change = desk.changed
        return desk

    def changed(self) -> None:
        """Wake the page, and send queued webhooks."""
        self.bell.ring()
        while self.board.hooks:
            self.sent += 1
            self.lanes.put(f"webhook {self.sent}", partial(self._carry, self.board.hooks.popleft()))

    async def _carry(self, hook: Hook) -> None:
        headers = {"Content-Type": "application/json", **hook.headers}
        async with self.lanes.gate:
            answer = await posting.post(self.webhook_url, headers, hook.body, timeout_s=PATIENCE_S)
        self.lost += not 200 <= answer.status < 300

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send webhooks and save the tickets for the length of the block."""
        watching = asyncio.create_task(self.keeper.watch())
        try:
            yield
        finally:
            watching.cancel()
            await self.lanes.close()
            self.keeper.save()


def at(request: Request) -> TrackerDesk:
    """Return the tracker that a request is for."""
    desk: TrackerDesk = request.app.state.tracker
    return desk
