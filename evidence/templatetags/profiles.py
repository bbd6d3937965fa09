"""What pages of profiles say amounts, shares and sentences with."""

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
    """Show a sentence with what stands between backticks as code."""
    return mark_safe(CODE.sub(r"<code>\1</code>", escape(unbroken(text))))  # noqa: S308 (escaped first)


@register.filter
def amount(value: int, unit: str) -> str:
    """Say a value with its unit."""
    return amounts.amount(value, unit)


@register.filter
def share(part: float, is_rough: bool = False) -> str:
    """Say a share, from 0 to 1, in percent; of a few samples, a whole number."""
    return amounts.rough(part) if is_rough else amounts.share(part)


@register.filter
def percent(part: float) -> str:
    """Say a share as sentences do."""
    return amounts.percent(part)


@register.filter
def pp(points: float, is_rough: bool = False) -> str:
    """Say a change in percentage points, with its sign; of a few samples, a whole number."""
    return amounts.points(points / 100, is_rough=is_rough)


@register.filter
def thousands(value: int) -> str:
    """Write a number with its thousands apart."""
    return f"{value:,}"
