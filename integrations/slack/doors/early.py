"""What leads to nothing is answered before a request is made of it: it is most of what Slack delivers.

A declaration brings some twenty deliveries: who was invited and who came in, and what was posted. Middleware and Bolt
took three quarters of what they cost, from the pages of those who read along.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from integrations.slack.doors import signing
from integrations.slack.listeners.events import messages, rooms
from integrations.slack.protocol import payload_validation, setup

LARGEST: Final = 16 * 1024  # bytes that are read without holding up anybody else on the event loop
TALK: Final = b'"message"'
COMING: Final = b'"member_joined_channel"'


def is_talk(body: bytes, *, stamp: str, signature: str) -> bool:
    """Return whether Slack tells of a message that is nobody's business here. Asks nobody."""
    payload = _signed(body, TALK, stamp, signature)
    return payload is not None and messages.is_talk(payload)


def is_expected(body: bytes, *, stamp: str, signature: str) -> bool:
    """Return whether Slack tells of somebody whom we invited and who missed nothing. Asks the database."""
    payload = _signed(body, COMING, stamp, signature)
    return payload is not None and payload_validation.fits(payload) and rooms.is_expected(payload)


def _signed(body: bytes, word: bytes, stamp: str, signature: str) -> Mapping[str, Any] | None:
    """Read what Slack signed, if it has this word in it and is small; None for what has to be looked at properly."""
    given = setup.current()
    if given is None or not given.signing_secret or len(body) > LARGEST or word not in body:
        return None
    if not signing.is_now(stamp):  # which the door says in the log
        return None
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return None
    is_read = isinstance(payload, dict)
    return payload if is_read and signing.is_genuine(body, stamp=stamp, signature=signature, given=given) else None
