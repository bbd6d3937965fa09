"""Describe a policy, or the difference between two, in words. Pure."""

from __future__ import annotations

from incidents.policies import capture_lines, one_of_lines
from incidents.policies.policy import Policy


def changes(before: Policy, after: Policy) -> list[tuple[str, str, str]]:
    """Return the fields that differ, each with its old and new value in words."""
    was, becomes = _words(before), _words(after)
    return [(label, was[label], becomes[label]) for label in was if was[label] != becomes[label]]


def changed(before: Policy, after: Policy) -> str:
    """Say in one line what differs: ``Groups: @security → @security, @legal``."""
    return "; ".join(f"{label}: {was} → {becomes}" for label, was, becomes in changes(before, after))


def who_comes(policy: Policy) -> str:
    """Say in one line who a policy brings in: its groups, the roles for one person, and what it pages."""
    words = _words(policy)
    return "; ".join(f"{label}: {words[label]}" for label in ("Private", "Groups", "One person", "Pages"))


def _words(policy: Policy) -> dict[str, str]:
    every = policy.update_every_min
    return {
        "Name": policy.name,
        "Description": policy.says,
        "Colour": policy.colour,
        "Private": _yes(policy.private),
        "Customer-facing": _yes(policy.customer_facing),
        "Internal": _yes(policy.internal),
        "Announced": _yes(policy.announce),
        "Groups": ", ".join(f"@{one}" for one in policy.invite) or "none",
        "One person": "; ".join(map(one_of_lines.said, policy.one_of)) or "none",
        "Pages": ", ".join(policy.pages) or "no one",
        "Update": f"every {every} minutes" if every else "no reminders",
        "Roles": ", ".join(policy.roles) or "none",
        "Checklist": "; ".join(policy.checklist) or "empty",
        "Captures": "; ".join(map(capture_lines.said, policy.captures)) or "none",
    }


def _yes(value: bool) -> str:
    return "yes" if value else "no"
