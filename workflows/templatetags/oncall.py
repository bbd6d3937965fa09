"""How sentences with times in them are shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from incidents.templatetags import firekind

register = template.Library()
TIME = re.compile(r"<time:(\d+)\|[^<>]*>")


@register.filter
def timed(text: str) -> SafeString:
    """Show the times that a text marks in the viewer's zone; everything else is escaped."""
    parts = TIME.split(text)  # words and seconds, in turn
    shown = [
        firekind.moment(datetime.fromtimestamp(int(part), UTC)) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    ]
    return mark_safe("".join(shown))  # noqa: S308 (times of our own making, and what is escaped above)
