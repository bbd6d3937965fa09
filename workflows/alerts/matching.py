"""Find the rule that matches an incident from the pager. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Protocol, TypeVar

from evidence.profile import searching

COMPILED = 256


class AlertSubject(Protocol):
    """The fields of a pager incident that rules look at."""

    @property
    def service_id(self) -> str:
        """The id of its service."""

    @property
    def priority(self) -> str:
        """The name of its priority; empty for none."""

    @property
    def title(self) -> str:
        """Its title."""


class AlertRule(Protocol):
    """What a rule asks for; an empty field matches anything."""

    service_id: str
    priority: str
    pattern: str


AnyRule = TypeVar("AnyRule", bound=AlertRule)


def first(rules: Iterable[AnyRule], seen: AlertSubject) -> AnyRule | None:
    """Return the first rule that matches, in the order given."""
    return next((rule for rule in rules if fits(rule, seen)), None)


def fits(rule: AlertRule, seen: AlertSubject) -> bool:
    """Return whether a rule matches: same service, same priority ignoring case, and its pattern found in the title."""
    return (
        rule.service_id in {"", seen.service_id}
        and rule.priority.casefold() in {"", seen.priority.casefold()}
        and (not rule.pattern or _finder(rule.pattern)(seen.title))
    )


@lru_cache(COMPILED)
def _finder(pattern: str) -> Callable[[str], bool]:
    try:
        return searching.regular(pattern, any_case=True)
    except searching.BadPattern:  # the form refuses these; one stored another way must not stop intake
        return lambda title: False
