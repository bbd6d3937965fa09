"""The kinds of audit entries: one line in this table for each, with a sentence for people."""

from __future__ import annotations

from typing import Final

# Verbs on incidents are not here: they are on the incident's timeline, which is sealed into the same chain.
KINDS: Final[dict[str, str]] = {
    "sign-in": "signed in",
    "sign-in-failed": "failed to sign in",
    "sign-out": "signed out",
    "account": "changed how they sign in",
    "role": "changed someone's role",
    "token-made": "made a token",
    "token-revoked": "revoked a token",
    "token-used": "used a token for the first time",
    "type": "changed an incident type",
    "rule": "changed an on-call rule",
    "group": "changed who belongs in a group",
    "match": "changed a PagerDuty match",
    "proposed": "asked a second manager to confirm a change",
    "proposal-confirmed": "confirmed another manager's change",
    "proposal-turned-down": "turned down another manager's change",
    "proposal-withdrawn": "withdrew an unconfirmed change",
    "unseconded": "made a change with no second manager to confirm it",
    "read": "read a private incident",
    "viewed": "looked at evidence of a private incident",
    "download": "downloaded an original file",
    "export": "downloaded an export",
    "access-asked": "requested access",
    "access-given": "let someone in",
    "access-refused": "declined an access request",
    "glass-broken": "broke glass",
    "opened-up": "opened up a private incident",
    "review": "worked on a review",
    "redacted": "redacted an entry of a timeline",
    "done-by-hand": "marked something as done by hand",
    "audit-read": "read the audit log",
}


def sentence(kind: str) -> str:
    """Return what someone did, in words; an unknown kind returns its own name."""
    return KINDS.get(kind, kind)
