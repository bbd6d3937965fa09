"""Answer deliveries without consequences, most of what Slack sends, before a Django request is created for them.

One declaration causes some twenty deliveries: invitations, joins, and posts. Middleware and Bolt took three quarters of
their cost, at the expense of people who had pages open.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from integrations.slack.doors import signing
from integrations.slack.listeners.events import messages, rooms
from integrations.slack.protocol import payload_validation, setup

LARGEST: Final = 16 * 1024  # bytes that can be read without delaying others on the event loop
TALK: Final = b'"message"'
COMING: Final = b'"member_joined_channel"'


def is_talk(body: bytes, *, stamp: str, signature: str) -> bool:
    """Return whether Slack reports a message that concerns no one here. Makes no query."""
    payload = _signed(body, TALK, stamp, signature)
    return payload is not None and messages.is_talk(payload)


def is_expected(body: bytes, *, stamp: str, signature: str) -> bool:
    """Return whether Slack reports someone we invited, who missed nothing. Queries the database."""
    payload = _signed(body, COMING, stamp, signature)
    return payload is not None and payload_validation.fits(payload) and rooms.is_expected(payload)


def _signed(body: bytes, word: bytes, stamp: str, signature: str) -> Mapping[str, Any] | None:
    """Parse a small signed body that contains this word; None for one that needs the full path."""
    given = setup.current()
    if given is None or not given.signing_secret or len(body) > LARGEST or word not in body:
        return None
    if not signing.is_now(stamp):  # the door logs it
        return None
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return None
    is_read = isinstance(payload, dict)
    return payload if is_read and signing.is_genuine(body, stamp=stamp, signature=signature, given=given) else None
