"""What is noted: one entry of this table a kind, with a sentence for people."""

from __future__ import annotations

from typing import Final

# Verbs on incidents are not here: they are on the incident's timeline, which is sealed into the same chain.
KINDS: Final[dict[str, str]] = {
    "sign-in": "signed in",
    "sign-in-failed": "tried to sign in and was turned away",
    "sign-out": "signed out",
    "account": "changed how they sign in",
    "role": "changed somebody's role",
    "token-made": "made a token",
    "token-revoked": "revoked a token",
    "token-used": "used a token for the first time",
    "type": "changed an incident type",
    "rule": "changed a rule of on-call",
    "group": "changed who belongs in a group",
    "match": "changed who somebody is in the pager",
    "proposed": "asked a second manager to confirm a change",
    "proposal-confirmed": "confirmed another manager's change",
    "proposal-turned-down": "turned down another manager's change",
    "proposal-withdrawn": "withdrew a change that nobody had confirmed",
    "unseconded": "made a change that no second manager could confirm",
    "read": "read a private incident",
    "download": "took an original file along",
    "export": "took an export along",
    "access-asked": "asked to be let in",
    "access-given": "let somebody in",
    "access-refused": "turned somebody away",
    "glass-broken": "broke the glass",
    "opened-up": "opened a private incident up",
    "done-by-hand": "said that something was done by hand",
    "audit-read": "read the audit",
}


def sentence(kind: str) -> str:
    """Return what somebody did, in words; a kind that is not known any more says its own name."""
    return KINDS.get(kind, kind)
