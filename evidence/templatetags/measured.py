"""Template tags for column names on pages of measurements."""

from __future__ import annotations

from django import template

from evidence.measures.sweeps import swept

register = template.Library()


@register.filter
def axis(name: str) -> str:
    """Say what an axis holds, with its unit: ``rtt, ms``."""
    unit = swept.unit_of(name)
    return f"{swept.called(name)}, {unit}" if unit and unit != "share" else swept.called(name)
