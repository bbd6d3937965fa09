"""Which rule matches an incident from the pager. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Protocol, TypeVar

from evidence.profile import searching

COMPILED = 256


class AlertSubject(Protocol):
    """What a rule looks at of an incident of the pager."""

    @property
    def service_id(self) -> str:
        """On which service it is."""

    @property
    def priority(self) -> str:
        """How it is called there; empty for none."""

    @property
    def title(self) -> str:
        """What it is called."""


class AlertRule(Protocol):
    """What a rule asks for; each left empty fits any."""

    service_id: str
    priority: str
    pattern: str


AnyRule = TypeVar("AnyRule", bound=AlertRule)


def first(rules: Iterable[AnyRule], seen: AlertSubject) -> AnyRule | None:
    """Return the first rule that fits, in the order given."""
    return next((rule for rule in rules if fits(rule, seen)), None)


def fits(rule: AlertRule, seen: AlertSubject) -> bool:
    """Return whether a rule takes this: its service, its priority whatever the case, its pattern found in the title."""
    return (
        rule.service_id in {"", seen.service_id}
        and rule.priority.casefold() in {"", seen.priority.casefold()}
        and (not rule.pattern or _finder(rule.pattern)(seen.title))
    )


@lru_cache(COMPILED)
def _finder(pattern: str) -> Callable[[str], bool]:
    try:
        return searching.regular(pattern, any_case=True)
    except searching.BadPattern:  # the form refuses these: one that came another way must not stop what is heard
        return lambda title: False
