"""What templates ask about changes that wait for a second manager."""

from __future__ import annotations

from django import template

from incidents.models import Person, Proposal
from incidents.second_manager import proposals

register = template.Library()


@register.simple_tag
def waiting_proposals(person: Person, act: str) -> list[Proposal]:
    """Return what waits of one act, for a manager who may know of it."""
    return list(proposals.waiting(person, act=act))


@register.simple_tag
def to_confirm(person: Person) -> int:
    """Count what waits for this manager to decide."""
    return proposals.to_confirm(person)
