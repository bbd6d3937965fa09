"""An OpenID Connect provider from the settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider: `key` is used in URLs and stored with linked accounts, `name` is on its button."""

    key: str
    name: str
    issuer: str
    client_id: str
    client_secret: str
    vouches: bool = False  # whether all its addresses are verified, although it does not say so for any of them
