"""Decide which of a provider's two answers is trusted about an email address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Claims = Mapping[str, Any]
ADDRESS, VERIFIED = "email", "email_verified"


def believed(signed: Claims, asked: Claims) -> Claims:
    """Return the one document, ID token or user info, to read the email address and everything else from.

    The two are never mixed, because what one says about its address proves nothing about the other's. A document that
    states whether its address is verified takes precedence; if both do, the signed one does.
    """
    first = (one for one in (signed, asked) if ADDRESS in one and VERIFIED in one)
    then = (one for one in (signed, asked) if ADDRESS in one)
    return next(first, None) or next(then, signed)
