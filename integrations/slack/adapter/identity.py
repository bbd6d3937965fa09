"""The app's identity in its workspace, and the URLs of channels and messages."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from dataclasses import dataclass

from integrations.slack.adapter.wire import Wire
from integrations.slack.protocol import installation
from workflows.ports import VendorError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Answer:
    team_id: str
    bot_user_id: str
    url: str
    enterprise_id: str


class Identity:
    """Asks Slack once per process, and only for what the settings do not say.

    ``sandbox_url`` is the page of the stand-in workspace, if that is what is connected.
    """

    def __init__(self, wire: Wire, *, team_id: str = "", bot_user_id: str = "", sandbox_url: str = "") -> None:
        self._wire = wire
        self._team_id = team_id
        self._bot_user_id = bot_user_id
        self._sandbox_url = sandbox_url.rstrip("/")
        self._answer: _Answer | None = None
        self._lock = threading.Lock()

    @property
    def is_known(self) -> bool:
        """Whether Slack has told us who we are."""
        return self._answer is not None

    def is_of_others(self, team_id: str | None, enterprise_id: str | None) -> bool:
        """Return whether a workspace is neither ours nor of our organisation, once Slack has told us who we are."""
        ours = self._answer
        if ours is None or not team_id or team_id == ours.team_id:
            return False
        return not enterprise_id or enterprise_id != ours.enterprise_id

    @property
    def team_id(self) -> str:
        """The workspace's id."""
        return self._team_id or self.ask().team_id

    @property
    def bot_user_id(self) -> str:
        """The app's own user id."""
        return self._bot_user_id or self.ask().bot_user_id

    def ask(self) -> _Answer:
        """Ask Slack who we are, once. Raises ``VendorError`` when it does not answer."""
        with self._lock:
            if self._answer is None:
                said = self._wire.call("auth.test")
                self._answer = _Answer(
                    team_id=str(said.get("team_id", "")),
                    bot_user_id=str(said.get("user_id", "")),
                    url=str(said.get("url", "")),
                    enterprise_id=str(said.get("enterprise_id") or ""),
                )
            return self._answer

    def learn(self) -> None:
        """Ask in the background, so that links use the workspace's own domain from the first message on."""
        with suppress(RuntimeError):  # no thread can be had: the first use of an answer asks
            threading.Thread(target=self._try, name="slack-identity", daemon=True).start()

    def _try(self) -> None:
        with suppress(VendorError):
            self.ask()
            if missing := self.missing_scopes():
                log.warning("the Slack app is older than its manifest and lacks %s: reinstall it", ", ".join(missing))

    def missing_scopes(self) -> list[str]:
        """Return the permissions in our manifest that the app was not granted, as far as Slack has said."""
        granted = self._wire.granted
        return [] if granted is None else sorted(installation.scopes() - granted)

    def channel_url(self, channel_id: str) -> str:
        """Return a channel's URL without a call, on the workspace's own domain once that is known."""
        if self._sandbox_url:
            return f"{self._sandbox_url}/?in={channel_id}"
        if self._answer and self._answer.url:
            return f"{self._answer.url.rstrip('/')}/archives/{channel_id}"
        return f"https://slack.com/app_redirect?channel={channel_id}{self._team()}"

    def message_url(self, channel_id: str, ts: str) -> str:
        """Return a message's URL, in the same way."""
        if self._sandbox_url:
            return self.channel_url(channel_id)
        if self._answer and self._answer.url:
            return f"{self._answer.url.rstrip('/')}/archives/{channel_id}/p{ts.replace('.', '')}"
        return f"https://slack.com/app_redirect?channel={channel_id}&message_ts={ts}{self._team()}"

    def _team(self) -> str:
        return f"&team={self._team_id}" if self._team_id else ""
