"""A past incident as planning saw it: the types it had, and what people did in the meantime. Pure values."""

from __future__ import annotations

from dataclasses import dataclass

from workflows.planning.facts import Facts


@dataclass(frozen=True, slots=True)
class LifeMoment:
    """The declaration or a retype: the type from then on, and the targets whose pages had been answered by then."""

    slug: str
    answered: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PastLife:
    """One incident: its facts when it was declared, except the policy, and its moments in order.

    ``by_hand`` are the ids of people who came without their type asking for them: they joined, were brought in, or took
    the lead or a role.
    """

    facts: Facts
    moments: tuple[LifeMoment, ...]
    by_hand: frozenset[int] = frozenset()

    @property
    def slugs(self) -> frozenset[str]:
        """Every type it had."""
        return frozenset(one.slug for one in self.moments)
