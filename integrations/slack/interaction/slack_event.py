"""An event that Slack delivered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from incidents.models import Person
from incidents.people import person_matching
from integrations.slack.adapter import current
from integrations.slack.interaction.messages import FAR_S

LATEST: Final = timedelta(days=1)  # Slack retries for a day at most
Deed = Callable[[], object]
Listener = Callable[["SlackEvent"], Deed | None]


@dataclass(frozen=True, slots=True)
class SlackEvent:
    """One event: its id, its content, and the app's own user id.

    ``is_shared``: it happened in a channel that is shared with another workspace.
    """

    id: str
    type: str
    at: datetime
    event: Mapping[str, Any]
    bot_user_id: str
    is_shared: bool = False

    @classmethod
    def of(cls, body: Mapping[str, Any], *, at: datetime) -> SlackEvent:
        """Read an event's envelope."""
        event = body["event"]
        ours = body.get("authorizations") or [{}]
        return cls(
            id=str(body.get("event_id", "")),
            type=str(event["type"]),
            at=at,
            event=event,
            bot_user_id=str(ours[0].get("user_id", "")) if ours[0].get("is_bot", True) else _own_id(),
            is_shared=body.get("is_ext_shared_channel") is True,
        )

    def person(self, chat_id: str) -> Person:
        """Return a person the event is about; in a shared channel, one our workspace never listed is external."""
        return person_matching.by_chat_id(chat_id, elsewhere=self.is_shared)

    def text(self, name: str) -> str:
        """Return one of the event's values as text; empty when it is missing or not text."""
        value = self.event.get(name)
        return value if isinstance(value, str) else ""

    @property
    def stamp(self) -> float:
        """Return when it happened in seconds of Slack's clock; 0 if not stated. Events arrive in any order."""
        try:
            said = float(self.text("event_ts") or 0)
        except ValueError:
            return 0.0
        return said if 0 < said < FAR_S else 0.0

    @property
    def happened_at(self) -> datetime:
        """Return when it happened: before ``at`` if Slack reported it late; ``at`` if the time is missing or wrong."""
        happened = datetime.fromtimestamp(min(self.stamp, self.at.timestamp()), tz=UTC)
        return happened if self.at - happened < LATEST else self.at

    def part(self, name: str) -> Mapping[str, Any]:
        """Return one of the event's values that is an object; empty when it is missing or something else."""
        value = self.event.get(name)
        return value if isinstance(value, dict) else {}


def _own_id() -> str:
    """Return the app's own user id, for an event delivered on behalf of a person who also gave the app a token."""
    slack = current.slack()
    return slack.self_id if slack is not None else ""


def moment(ts: str) -> datetime:
    """Return the time at which a message was written, from its ``ts``."""
    return datetime.fromtimestamp(float(ts), tz=UTC)
