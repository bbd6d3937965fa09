"""Template tags for changes that wait for a second manager."""

from __future__ import annotations

from django import template

from incidents.models import Person, Proposal
from incidents.second_manager import proposals

register = template.Library()


@register.simple_tag
def waiting_proposals(person: Person, act: str) -> list[Proposal]:
    """Return the proposals that wait for confirmation, of one act, that this manager may know of."""
    return list(proposals.waiting(person, act=act))


@register.simple_tag
def to_confirm(person: Person) -> int:
    """Count the proposals that wait for this manager."""
    return proposals.to_confirm(person)
