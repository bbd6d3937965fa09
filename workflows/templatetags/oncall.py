"""Show sentences that contain times."""

from __future__ import annotations

from datetime import UTC, datetime

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from incidents.templatetags import firekind
from workflows.planning.wording import marks
from workflows.planning.wording.marks import TextMark, Words

register = template.Library()


@register.filter
def timed(words: Words) -> SafeString:
    """Show marked times in the viewer's zone; everything else is escaped."""
    return mark_safe(marks.shown(words, text=escape, mark=_moment))  # noqa: S308 (times, and what is escaped)


def _moment(mark: TextMark) -> str:
    return firekind.moment(datetime.fromtimestamp(int(mark.id), UTC)) if mark.kind == "time" else escape(mark.label)
