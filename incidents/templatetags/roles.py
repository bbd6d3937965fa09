"""What templates ask about roles: what is offered to whom, and whom to ask instead."""

from __future__ import annotations

from django import template

from incidents.models import Person
from incidents.people import roles

register = template.Library()


@register.filter
def may(person: Person, what: str) -> bool:
    """Tell whether somebody may do something of the table of roles."""
    return roles.may(person, what)


@register.simple_tag
def who_may(what: str) -> str:
    """Say who may do something, and whom to ask."""
    return roles.who_may(what)
