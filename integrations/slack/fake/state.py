"""The state of the stand-in: the workspace, issued triggers and response URLs, and queued events."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any, Final

from integrations.slack.fake.server.deliveries import EVENTS, Kind, PendingDelivery
from integrations.slack.fake.server.faults import KINDS, Fault
from integrations.slack.protocol.limits import RESPONSE_URL_S, TRIGGER_S
from integrations.standin.faults import InForce
from integrations.standin.state import StandInState

from .workspace import Channel, Json, Person, ResponseUrl, SharedLinks, Trigger, Workspace

BOT_USER: Final = "U0FIREKIND"
BOT_ID: Final = "B0FIREKIND"
APP_ID: Final = "A0FIREKIND"
LINKS_KEPT: Final = 2_000


class WorkspaceState(StandInState[PendingDelivery, Fault]):
    """The shared state that methods, changes and acts work on."""

    def __init__(
        self,
        workspace: Workspace | None = None,
        *,
        clock: Callable[[], float] = time.time,
        base_url: str = "",
        seed: int = 0,
    ) -> None:
        super().__init__(clock=clock, base_url=base_url, faults=InForce(Fault, KINDS, seed=seed))
        self.workspace = workspace or Workspace()
        self.subscriptions: frozenset[str] = EVENTS
        self.app_home: dict[str, bool] = {}
        self.unfurl_domains: frozenset[str] = frozenset()
        self.shared_links: dict[str, SharedLinks] = {}
        self.triggers: dict[str, Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.last_ts = "0000000000.000000"
        self._settle_bot()

    @property
    def bot(self) -> Person:
        """Return the app's own bot."""
        return self.workspace.people[BOT_USER]

    def next_ts(self) -> str:
        """Return a message timestamp later than every earlier one."""
        seconds, micros = self.last_ts.split(".")
        least = int(seconds) * 1_000_000 + int(micros) + 1
        stamp = max(least, int(self.now() * 1_000_000))
        self.last_ts = f"{stamp // 1_000_000:010d}.{stamp % 1_000_000:06d}"
        return self.last_ts

    def trigger(self, user: str, *, view_id: str = "") -> str:
        """Issue the right to open one modal for a person."""
        now = self.now()
        self.triggers = {k: t for k, t in self.triggers.items() if t.expires_at > now - 60}
        trigger = Trigger(f"{self.next_id('T')}.{secrets.token_hex(8)}", user, now + TRIGGER_S, view_id=view_id)
        self.triggers[trigger.id] = trigger
        return trigger.id

    def response_url(self, user: str, channel: str, **about: Any) -> ResponseUrl:
        """Issue the right to answer a command or a pressed button."""
        now = self.now()
        self.response_urls = {k: r for k, r in self.response_urls.items() if r.expires_at > now - 60}
        right = ResponseUrl(secrets.token_urlsafe(18), user, channel, now + RESPONSE_URL_S, **about)
        self.response_urls[right.id] = right
        return right

    def share_links(self, links: SharedLinks) -> None:
        """Remember links that the app was told about; only the newest ones are kept."""
        self.shared_links[links.unfurl_id] = links
        if len(self.shared_links) > LINKS_KEPT:
            del self.shared_links[next(iter(self.shared_links))]

    def emit(self, kind: str, *, seen_in: Channel | None = None, **event: Any) -> None:
        """Queue an event for the app, if it subscribed to it and its bot may see it."""
        if kind not in self.subscriptions or (seen_in and BOT_USER not in seen_in.members):
            return
        stamp = event.get("event_ts") or event.get("ts") or self.next_ts()
        payload = {
            "token": "",
            "team_id": self.workspace.team_id,
            "api_app_id": APP_ID,
            "type": "event_callback",
            "event_id": self.next_id("Ev"),
            "event_time": int(self.now()),
            "event": {**event, "type": kind, "event_ts": stamp},
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": self.workspace.team_id,
                    "user_id": BOT_USER,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": bool(seen_in and self.workspace.is_shared(seen_in)),
        }
        self.queue(self.delivery("event", kind, payload))

    def delivery(self, kind: Kind, type: str, payload: Json, **about: Any) -> PendingDelivery:
        """Create a numbered delivery."""
        return PendingDelivery(self.next_delivery(), kind, type, payload, **about)

    def resume(self, *, serial: int, last_ts: str) -> None:
        """Continue the numbering of a snapshot."""
        self._serial, self.last_ts = serial, last_ts

    def replace(self, workspace: Workspace) -> None:
        """Replace this workspace's contents with another's."""
        with self.lock:
            self.workspace = workspace
            self.triggers, self.response_urls, self.shared_links = {}, {}, {}
            self._outbox.clear()
            self._settle_bot()
            self.changed()

    def _settle_bot(self) -> None:
        bot = Person(
            BOT_USER, "firekind", "Firekind", is_bot=True, bot_id=BOT_ID, app_id=APP_ID,
            team_id=self.workspace.team_id,
        )  # fmt: skip
        self.workspace.people.setdefault(BOT_USER, bot)
