"""Who the app is in its workspace, and the addresses of what stands there."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from integrations.slack.wire import Wire


@dataclass(frozen=True, slots=True)
class _Answer:
    team_id: str
    bot_user_id: str
    url: str


class Identity:
    """Asks Slack once a process, and only when settings do not say."""

    def __init__(self, wire: Wire, *, team_id: str = "", bot_user_id: str = "") -> None:
        self._wire = wire
        self._team_id = team_id
        self._bot_user_id = bot_user_id
        self._answer: _Answer | None = None
        self._lock = threading.Lock()

    @property
    def team_id(self) -> str:
        """The workspace's id."""
        return self._team_id or self.ask().team_id

    @property
    def bot_user_id(self) -> str:
        """The id of the app's own user."""
        return self._bot_user_id or self.ask().bot_user_id

    @property
    def known_bot_user_id(self) -> str:
        """The same when it is known without asking, else an empty text."""
        return self._bot_user_id or (self._answer.bot_user_id if self._answer else "")

    def ask(self) -> _Answer:
        """Ask Slack who we are, once; raise ``VendorError`` when it does not say."""
        with self._lock:
            if self._answer is None:
                said = self._wire.call("auth.test")
                self._answer = _Answer(
                    team_id=str(said.get("team_id", "")),
                    bot_user_id=str(said.get("user_id", "")),
                    url=str(said.get("url", "")),
                )
            return self._answer

    def channel_url(self, channel_id: str) -> str:
        """Give a channel's address, without a call where the workspace's own is not known yet."""
        if self._answer and self._answer.url:
            return f"{self._answer.url.rstrip('/')}/archives/{channel_id}"
        return f"https://slack.com/app_redirect?channel={channel_id}{self._team()}"

    def message_url(self, channel_id: str, ts: str) -> str:
        """Give a message's address, the same way."""
        if self._answer and self._answer.url:
            return f"{self._answer.url.rstrip('/')}/archives/{channel_id}/p{ts.replace('.', '')}"
        return f"https://slack.com/app_redirect?channel={channel_id}&message_ts={ts}{self._team()}"

    def _team(self) -> str:
        return f"&team={self._team_id}" if self._team_id else ""
