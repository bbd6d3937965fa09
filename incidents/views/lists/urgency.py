"""Which active incidents a responder looks at first. Pure."""

from __future__ import annotations

from incidents.models import Status
from incidents.policies.policy import Policy

ORDER = (
    "Open before mitigated; a page that no one has acknowledged first; then what customers notice, internal work last; "
    "then what most is missing from: an update, a lead; then the newest"
)


def rank(
    policy: Policy, *, status: str, is_overdue: bool, is_unanswered: bool, has_lead: bool
) -> tuple[bool, bool, int, int, bool, bool]:
    """Return the sort key of an active incident, most urgent first; equal ones sort newest first.

    An unacknowledged page ranks high whatever the type: someone was called for help and no one is known to come.
    """
    missing = is_overdue + (not has_lead)
    return status == Status.MITIGATED, not is_unanswered, _reach(policy), -missing, not is_overdue, has_lead


def _reach(policy: Policy) -> int:
    """Return 0 if customers notice, 1 if they may, 2 if no one outside is waiting.

    A type that asks for updates has a clock running, as a time bomb has, however internal it is.
    """
    if policy.customer_facing:
        return 0
    return 2 if policy.internal and policy.update_every_min is None else 1
