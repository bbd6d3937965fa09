"""Template tags: parts of a whole as a width, and the addresses of single marks."""

from __future__ import annotations

from django import template

from incidents.templatetags.firekind import span
from insights.figures.distribution import MINUTE

register = template.Library()


@register.filter
def brief(seconds: float) -> str:
    """Format a duration where there is little room."""
    return span(seconds) if seconds >= MINUTE else "< 1 min"


@register.simple_tag
def part_of(count: int, most: int) -> float:
    """Return a count in per cent of the largest."""
    return round(100 * count / max(1, most), 2)


@register.simple_tag
def slotted(query: str, slot: int) -> str:
    """Add one slot of an axis to a query string."""
    return f"{query}&slot={slot}" if query else f"?slot={slot}"
