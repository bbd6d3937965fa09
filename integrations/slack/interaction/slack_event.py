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

LATEST: Final = timedelta(days=1)  # the longest that Slack tells something again
Deed = Callable[[], object]
Listener = Callable[["SlackEvent"], Deed | None]


@dataclass(frozen=True, slots=True)
class SlackEvent:
    """One event: its id, what it is about, and which user is the app's own.

    ``is_shared`` says that it happened in a channel which is shared with another workspace.
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
        """Someone it tells of; in a shared channel, whom our workspace never listed is from another one."""
        return person_matching.by_chat_id(chat_id, elsewhere=self.is_shared)

    def text(self, name: str) -> str:
        """One of the event's own values as text; empty when it is not there or not text."""
        value = self.event.get(name)
        return value if isinstance(value, str) else ""

    @property
    def stamp(self) -> float:
        """When it happened by Slack's clock, in seconds; 0 where that is not said. Events come in any order."""
        try:
            said = float(self.text("event_ts") or 0)
        except ValueError:
            return 0.0
        return said if 0 < said < FAR_S else 0.0

    @property
    def happened_at(self) -> datetime:
        """When it happened: before ``at`` where Slack told it late, and ``at`` where that is not said or not so."""
        happened = datetime.fromtimestamp(min(self.stamp, self.at.timestamp()), tz=UTC)
        return happened if self.at - happened < LATEST else self.at

    def part(self, name: str) -> Mapping[str, Any]:
        """One of the event's own values that is an object; empty when it is not there or something else."""
        value = self.event.get(name)
        return value if isinstance(value, dict) else {}


def _own_id() -> str:
    """Return the app's own user where an event is told on behalf of a person who lent the app a token as well."""
    slack = current.slack()
    return slack.self_id if slack is not None else ""


def moment(ts: str) -> datetime:
    """Turn a message's ``ts`` into the time at which it was written."""
    return datetime.fromtimestamp(float(ts), tz=UTC)
