"""What a plan says about reminders: whether people are asked for status updates, and how often. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from incidents.policies.policy import Policy
from workflows.planning.plan_lines import PlanLine

KEY: Final = "reminder"


def lines(before: Policy | None, after: Policy) -> Iterator[PlanLine]:
    """Yield what changes from one policy to another, or from none: one line, or nothing."""
    was, every = before and before.update_every_min, after.update_every_min
    if every and every != was:
        instead = f" instead of every {_minutes(was)}" if was else ""
        yield PlanLine("~" if was else "+", f"ask for a status update every {_minutes(every)}{instead}", KEY)
    elif was and not every:
        yield PlanLine("-", "no longer ask for status updates", KEY)


def _minutes(number: int) -> str:
    return "minute" if number == 1 else f"{number} minutes"
