"""Verify Slack's signature over a request's raw bytes; the SDK's own check crashes on some of them.

docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import hmac
import logging
import re
import time
from typing import Final

from integrations.slack.protocol.setup import Setup

log = logging.getLogger(__name__)

STAMP: Final = "X-Slack-Request-Timestamp"
SIGNATURE: Final = "X-Slack-Signature"
SKEW_S: Final = 5 * 60
CLOCK: Final = "set the clock by NTP, and see manage.py doctor, unless someone sent an old request again"
SECONDS: Final = re.compile(r"[0-9]{1,12}", re.ASCII)


def is_now(stamp: str) -> bool:
    """Return whether a request's timestamp is within five minutes of now."""
    return SECONDS.fullmatch(stamp) is not None and abs(time.time() - int(stamp)) <= SKEW_S


def is_genuine(body: bytes, *, stamp: str, signature: str, given: Setup) -> bool:
    """Return whether Slack signed these bytes within the last five minutes."""
    if not SECONDS.fullmatch(stamp):
        return False
    digest = hmac.digest(given.signing_secret.encode(), b"v0:%s:%s" % (stamp.encode(), body), "sha256")
    if not hmac.compare_digest(f"v0={digest.hex()}".encode(), signature.encode()):
        return False
    apart_s = time.time() - int(stamp)
    if abs(apart_s) > SKEW_S:
        log.warning("refused what Slack signed %+.0f s ago by our clock: %s", apart_s, CLOCK)
        return False
    return True
