"""Which active incidents a responder looks at first. Pure."""

from __future__ import annotations

from incidents.models import Status
from incidents.policies.policy import Policy

ORDER = (
    "Open before mitigated, then what customers notice, internal work last; "
    "then what most is missing from: an update, someone who acknowledges a page, a lead; then the newest"
)


def rank(
    policy: Policy, *, status: str, is_overdue: bool, is_unanswered: bool, has_lead: bool
) -> tuple[bool, int, int, bool, bool, bool]:
    """Return by what active incidents are sorted, the most urgent first; the newer of equals goes first."""
    missing = is_overdue + is_unanswered + (not has_lead)
    return status == Status.MITIGATED, _reach(policy), -missing, not is_overdue, not is_unanswered, has_lead


def _reach(policy: Policy) -> int:
    """Tell what customers notice, what they may, and what no one outside waits for.

    A type that asks for updates has a clock running, as a time bomb has, however internal it is.
    """
    if policy.customer_facing:
        return 0
    return 2 if policy.internal and policy.update_every_min is None else 1
