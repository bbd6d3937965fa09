"""Verify that a webhook is from PagerDuty: its raw bytes are signed with one of the valid secrets.

https://developer.pagerduty.com/docs/verifying-webhook-signatures
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final

VERSION: Final = "v1="
AT_MOST: Final = 10  # signatures that are checked: one for each secret of a subscription


def is_signed(body: bytes, given: str, *, secrets: Sequence[str]) -> bool:
    """Return whether ``given``, a header like ``v1=hex,v1=hex``, signs the body. Takes the same time whichever matches.

    While a secret is being rotated, PagerDuty signs with both, so there may be several signatures and several secrets.
    """
    signatures = [one.strip().encode("utf-8", "replace") for one in given.split(",")[:AT_MOST]]
    wanted = [_signature(body, secret) for secret in secrets]
    fits = [hmac.compare_digest(one, two) for one in signatures for two in wanted]
    return any(fits)


def _signature(body: bytes, secret: str) -> bytes:
    return VERSION.encode() + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest().encode()
