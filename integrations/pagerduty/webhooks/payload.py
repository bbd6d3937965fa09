"""Parse a webhook far enough to store it. No field is assumed to exist."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from integrations.pagerduty.models import Webhook
from integrations.pagerduty.protocol import event_words

State = Webhook.State
DEEPEST: Final = 20
FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
AHEAD: Final = timedelta(days=1)  # how far PagerDuty's clock may be ahead of ours


@dataclass(frozen=True, slots=True)
class Payload:
    """One webhook: the event's id, the incident's id, its kind and time, and the body.

    ``state`` is *waiting* for those that have a consequence.
    """

    event_id: str = ""
    page_id: str = ""
    kind: str = ""
    at: datetime | None = None
    body: dict[str, Any] | None = None
    state: str = State.DONE
    says: str = ""


def read(body: bytes, *, at: datetime) -> Payload | None:
    """Parse the bytes of a webhook that arrived at a given time.

    Returns None unless it is UTF-8 and a JSON object with an event in it, not nested too deeply.
    """
    try:
        # Keep numbers as written: PostgreSQL refuses the whole value if it cannot represent one of its numbers.
        found = json.loads(body.decode("utf-8"), parse_int=str, parse_float=str, parse_constant=str)
        event = _fit(found["event"])
    except (ValueError, RecursionError, LookupError, TypeError):
        return None
    return _payload(event, at=at) if isinstance(event, dict) else None


def unreadable(body: bytes) -> Payload:
    """Return what is stored for a webhook that PagerDuty signed and that cannot be parsed."""
    says = f"It is signed by PagerDuty and cannot be read: {len(body):,} bytes."
    return Payload(kind="unreadable", state=State.FAILED, says=says)


def _payload(event: dict[str, Any], *, at: datetime) -> Payload:
    data = mapping(event.get("data"))
    kind = text(event.get("event_type"), chars=80)
    page_id = text(mapping(data.get("incident")).get("id") or data.get("id"), chars=64)
    waits = kind in event_words.KINDS and bool(page_id)
    return Payload(
        event_id=text(event.get("id"), chars=100),
        page_id=page_id if kind.startswith("incident.") else "",
        kind=kind,
        at=moment(event.get("occurred_at"), came_at=at),
        body=event if waits else None,
        state=State.WAITING if waits else State.DONE,
        says="" if waits else "Firekind ignores this kind.",
    )


def _fit(value: Any, depth: int = 0) -> Any:
    """Return JSON that PostgreSQL accepts: no NUL, no lone surrogate, no excessive nesting."""
    if depth > DEEPEST:
        raise ValueError("nested too deep")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "")
    if isinstance(value, list):
        return [_fit(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {_fit(key): _fit(one, depth + 1) for key, one in value.items()}
    return value


def mapping(value: Any) -> dict[str, Any]:
    """Return a dict, empty for any other value."""
    return value if isinstance(value, dict) else {}


def text(value: Any, *, chars: int) -> str:
    """Return text cut to a length; empty for any other value."""
    return value[:chars] if isinstance(value, str) else ""


def moment(value: Any, *, came_at: datetime) -> datetime | None:
    """Parse a time in PagerDuty's format, in UTC; None for any other value, and for an impossible time.

    A time far in the future is impossible: everything that really happens later would count as older.
    """
    try:
        found = datetime.fromisoformat(text(value, chars=40))
        found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return found if FIRST <= found < came_at + AHEAD else None
