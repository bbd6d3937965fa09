"""Template tags for amounts, shares and sentences on pages of profiles."""

from __future__ import annotations

import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from evidence.profile import amounts
from incidents.templatetags.firekind import unbroken

register = template.Library()
CODE = re.compile(r"`([^`]+)`")


@register.filter
def coded(text: str) -> SafeString:
    """Show a sentence with the text between backticks as code."""
    return mark_safe(CODE.sub(r"<code>\1</code>", escape(unbroken(text))))  # noqa: S308 (escaped first)


@register.filter
def amount(value: int, unit: str) -> str:
    """Format a value with its unit."""
    return amounts.amount(value, unit)


@register.filter
def share(part: float, is_rough: bool = False) -> str:
    """Format a share, from 0 to 1, in per cent; for a few samples, a whole number."""
    return amounts.rough(part) if is_rough else amounts.share(part)


@register.filter
def percent(part: float) -> str:
    """Format a share as sentences do."""
    return amounts.percent(part)


@register.filter
def pp(points: float, is_rough: bool = False) -> str:
    """Format a change in percentage points, with its sign; for a few samples, a whole number."""
    return amounts.points(points / 100, is_rough=is_rough)


@register.filter
def thousands(value: int) -> str:
    """Write a number with its thousands separated."""
    return f"{value:,}"
