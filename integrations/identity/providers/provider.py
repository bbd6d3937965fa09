"""An OpenID Connect provider from the settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider: `key` stands in addresses and beside who was joined, `name` on its button."""

    key: str
    name: str
    issuer: str
    client_id: str
    client_secret: str
    vouches: bool = False  # whether all its addresses are verified, though it says so of none
