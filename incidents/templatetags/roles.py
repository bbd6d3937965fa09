"""Template tags for roles: what to offer to a person, and who to ask instead."""

from __future__ import annotations

from django import template
from django.template import Context

from incidents.models import Person
from incidents.people import roles

register = template.Library()


@register.filter
def may(person: Person, what: str) -> bool:
    """Return whether someone may do something in the table of roles."""
    return roles.may(person, what)


@register.simple_tag(takes_context=True)
def who_may(context: Context, what: str) -> str:
    """Say who may do something, and who the reader can ask."""
    request = context.get("request")
    return roles.who_may(what, reader=getattr(request, "person", None))
