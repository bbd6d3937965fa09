"""Which of a provider's two answers is believed about an address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Claims = Mapping[str, Any]
ADDRESS, VERIFIED = "email", "email_verified"


def believed(signed: Claims, asked: Claims) -> Claims:
    """Return the one document, ID token or user info, in which an address is to be read, and all else with it.

    The two are never mixed: what one says of its address proves nothing about that of the other. A document that says
    of its address whether it is verified comes first, and of two of these the signed one.
    """
    first = (one for one in (signed, asked) if ADDRESS in one and VERIFIED in one)
    then = (one for one in (signed, asked) if ADDRESS in one)
    return next(first, None) or next(then, signed)
