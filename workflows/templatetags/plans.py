"""Show the lines of a plan."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime

from django import template
from django.conf import settings
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from incidents.models import Incident
from workflows.models import PagerUser
from workflows.planning.plan_lines import PlanLine
from workflows.status import workers
from workflows.status.workers import WorkersNow

register = template.Library()

NAMES = {"+": "new", "~": "changed", "-": "ended", "!": "missing", "=": "same"}
MEANINGS = {
    "+": "will be done",
    "~": "will change",
    "-": "will end",
    "!": "missing",
    "=": "unchanged",
}


@register.simple_tag
def workers_now() -> WorkersNow:
    """Return since when no worker performs effects, to show next to buttons that request some."""
    return workers.now(at=timezone.now())


@register.simple_tag
def left(end: datetime) -> SafeString:
    """Show how many seconds something under way still takes; the page counts them down."""
    seconds = math.ceil((end - timezone.now()).total_seconds())
    words = f"{seconds} s left" if seconds > 0 else "almost done"
    return format_html('<time class="left" data-left="{}" data-end="{}">{}</time>', seconds, end.isoformat(), words)


@register.filter
def sign(mark: str) -> str:
    """Return the word for a line's sign, for its style."""
    return NAMES.get(mark, "same")


@register.filter
def meaning(mark: str) -> str:
    """Say what a line's sign means, for screen readers."""
    return MEANINGS.get(mark, "")


@register.filter
def minus(mark: str) -> str:
    """Draw a minus as wide as a plus."""
    return {"-": "\N{MINUS SIGN}"}.get(mark, mark)


@register.filter
def minor(line: PlanLine) -> bool:
    """Return whether a line is about messages and such, not about people or places."""
    return line.key in {"post", "small"} and line.sign != "-"


@register.simple_tag
def callee(key: str) -> PagerUser | None:
    """Return the pager user that a gap is about, so that people can match them; None for other gaps."""
    kind, _, id = key.removeprefix("gap/").partition("/")
    found = PagerUser.objects.filter(pager_id=id, gone=False) if kind == "callee" else PagerUser.objects.none()
    return found.first()


@register.simple_tag
def link_to(incident: Incident) -> str:
    """Return an incident's absolute URL, as one can share it."""
    return f"{settings.FIREKIND.base_url}{incident.get_absolute_url()}"


@register.filter
def already(lines: Iterable[tuple[PlanLine, bool]]) -> list[PlanLine]:
    """Return the lines about what is unchanged, which may be collapsed."""
    return [line for line, _ in lines if line.is_quiet]
