"""Template tags and filters: icons, ages, times and the colours of types."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape, format_html, urlize
from django.utils.safestring import SafeString, mark_safe

from incidents import sentences
from incidents.forms import given_words
from incidents.models import page_routes
from incidents.people.bidi import isolated
from incidents.policies import capture_lines
from incidents.policies.policy import COLOURS, Capture
from incidents.reading import timeline_layout
from incidents.search import snippets

register = template.Library()
PERCENT = re.compile(r"(?<=\d) (?=%)")
LINKISH = re.compile(r"://|www\.|@|\.(com|org|net|edu|gov|int)\b", re.IGNORECASE)


@register.simple_tag
@cache
def icon(name: str, label: str = "") -> SafeString:
    """Render an icon of the sprite; it is decorative unless it has a label."""
    sprite = f"{static('firekind/icons.svg')}#{name}"
    if label:
        return format_html('<svg class="icon" role="img" aria-label="{}"><use href="{}"/></svg>', label, sprite)
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}"/></svg>', sprite)


@register.filter
def bdi(name: object) -> str:
    """Keep a name in its own text direction, and its neighbours in place, by Unicode's isolates instead of <bdi>."""
    return isolated(str(name))


@register.filter
def each_bdi(names: Iterable[object]) -> list[str]:
    """Keep each of several names in its own text direction."""
    return [isolated(str(name)) for name in names]


@register.filter
def prose(text: str) -> SafeString:
    """Render what people wrote: escaped, with line breaks kept and addresses turned into links."""
    safe = urlize(text, nofollow=True, autoescape=True) if LINKISH.search(text) else escape(text)
    return mark_safe(safe.replace("\n", "<br>"))  # noqa: S308 (both branches escape)


def unbroken(text: str) -> str:
    """Keep a number and its per cent sign on one line."""
    return PERCENT.sub("\N{NO-BREAK SPACE}", text)


@register.filter
def ticked(text: str) -> SafeString:
    """Render names between backticks as code, which may break anywhere; everything is escaped."""
    parts = [escape(part) for part in unbroken(str(text)).split("`")]
    if len(parts) % 2 == 0:
        return mark_safe("`".join(parts))  # noqa: S308 (escaped above)
    return mark_safe(  # noqa: S308 (escaped above)
        "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))
    )


@register.filter
def marked(text: str) -> SafeString:
    """Render text with the words found by a search marked; everything is escaped."""
    safe = escape(text).replace(snippets.BEGIN, "<mark>").replace(snippets.END, "</mark>")
    return mark_safe(safe)  # noqa: S308 (escaped above)


@register.simple_tag(takes_context=True)
def closing(context: template.Context) -> SafeString:
    """Return what a page needs to close itself: the address of the stream of closings, and the incident it is about.

    The incident is read from the page's own address, so that no page of an incident can forget it.
    """
    match = context["request"].resolver_match
    about = match.kwargs.get("codename", "") if match and match.route.startswith(page_routes.INCIDENT) else ""
    said = format_html('data-closings="{}"', reverse("closings"))
    return format_html('{} data-about="{}"', said, about) if about else said


@register.simple_tag(takes_context=True)
def lost_words(context: template.Context) -> list[str]:
    """Return what was written in the form that an error page answers, because it would be lost otherwise."""
    request = context.get("request")
    return given_words.lost(request) if request is not None else []


@register.simple_tag
def in_sandbox() -> bool:
    """Return whether people may pick who they are."""
    return bool(settings.FIREKIND.sandbox_url)


@register.simple_tag
def slack_command() -> str:
    """Return the slash command; empty if Slack is not configured."""
    slack = settings.FIREKIND.slack
    return slack.command if slack else ""


@register.filter
def said(capture: Capture) -> str:
    """Say in words what a policy captures and when."""
    return capture_lines.said(capture)


@register.filter
def tint(colour: str) -> str:
    """Return the CSS class of a type's colour; an unknown colour is slate."""
    return f"k-{colour if colour in COLOURS else COLOURS[0]}"


@register.filter
def span(seconds: float) -> str:
    """Format a duration in its two largest units: ``4 min``, ``3 h 5 min``, ``2 d 7 h``."""
    minutes, hours, days = int(seconds // 60), int(seconds // 3600), int(seconds // 86400)
    if minutes < 1:
        return "under a minute"
    if hours < 1:
        return f"{minutes} min"
    if days < 1:
        return f"{hours} h {minutes % 60} min".removesuffix(" 0 min")
    return f"{days} d {hours % 24} h".removesuffix(" 0 h") if days < 10 else f"{days} d"


@register.filter
def until(end: datetime | None, start: datetime) -> float:
    """Return the seconds from ``start`` to ``end``, or to now if there is no end."""
    return ((end or timezone.now()) - start).total_seconds()


@register.simple_tag
def clock(at: datetime) -> SafeString:
    """Render a moment's hour and minute in the viewer's zone; screen readers get seconds, hovering shows the date."""
    here = timezone.localtime(at)
    return _time(here, "clock", f"{here:%H:%M}", more=f'<span class="unseen">:{here:%S}</span>')


@register.simple_tag
def moment(at: datetime) -> SafeString:
    """Render a moment's day and time in the viewer's time zone; the year only if it is not the current one."""
    here, now = timezone.localtime(at), timezone.localtime()
    year = "" if here.year == now.year else f" {here.year}"
    return _time(here, "moment", f"{here.day} {here:%b}{year}, {here:%H:%M}")


@register.simple_tag
def lasting(end: datetime | None, start: datetime) -> SafeString:
    """Render how a span goes on from its first moment: nothing within a minute, its time on the same day, else both."""
    if end is None or end.replace(second=0, microsecond=0) == start.replace(second=0, microsecond=0):
        return SafeString("")
    is_same_day = timezone.localtime(end).date() == timezone.localtime(start).date()
    return format_html(" to {}", clock(end) if is_same_day else moment(end))


def twice(here: datetime) -> str:
    """Name the offset of an hour that occurs twice as clocks go back: ``UTC+2``, ``UTC-3:30``; otherwise empty."""
    first, second = (here.replace(fold=fold).utcoffset() for fold in (0, 1))
    if first == second:
        return ""
    minutes = int((here.utcoffset() or timedelta()).total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    sign = "+" if minutes > 0 else "-"
    return f"UTC{sign}{hours}{f':{rest:02}' if rest else ''}" if minutes else "UTC"


@register.simple_tag
def zone() -> SafeString:
    """Name the time zone of the times shown; a script corrects it if the page was rendered for another one."""
    return format_html("<span data-zone-name>{}</span>", zone_name())


@register.simple_tag
def zone_name() -> str:
    """Return the name of the time zone in which the server shows times."""
    return timezone.get_current_timezone_name()


def _time(here: datetime, show: str, words: str, *, more: str = "") -> SafeString:
    whole = f"{here:%a} {here.day} {here:%b %Y, %H:%M:%S %Z}"
    attributes = f'datetime="{here.isoformat()}" title="{whole}" data-show="{show}"'
    which = f'<span class="twice"> {said}</span>' if (said := twice(here)) else ""
    return mark_safe(f"<time {attributes}>{words}{more}{which}</time>")  # noqa: S308 (made of a datetime alone)


@register.simple_tag
def ticking(start: datetime, end: datetime | None = None) -> SafeString:
    """Render how long something has lasted, or did last; without an end, the page keeps counting."""
    if end is not None:
        return format_html("<span>{}</span>", age(start, end))
    return since(start, age(start, timezone.now()))


def age(start: datetime, end: datetime) -> str:
    """Say how long it is from one moment to another."""
    return span((end - start).total_seconds())


@register.simple_tag
def since(start: datetime, said: str) -> SafeString:
    """Render how long something has lasted, given in words from a moment ago; the page keeps counting."""
    return format_html('<span data-since="{}">{}</span>', start.isoformat(), said)


@register.simple_tag
def due(at: datetime) -> SafeString:
    """Render how long it is until a moment, or how long ago it passed; the page keeps counting."""
    left = (at - timezone.now()).total_seconds()
    said = f"in {span(left)}" if left >= 0 else f"{span(-left)} overdue"
    return format_html('<span data-due="{}">{}</span>', at.isoformat(), said)


PICTURES = {
    "declared": "flag",
    "retyped": "retype",
    "updated": "update",
    "noted": "note",
    "captured": "message",
    "led": "person",
    "role": "person",
    "renamed": "tag",
    "described": "doc",
    "served": "list",
    "impact": "people",
    "next_step": "right",
    "mitigated": "shield",
    "resolved": "check",
    "reopened": "undo",
    "cancelled": "cross",
    "duplicated": "tag",
    "archiving": "archive",
    "channel": "archive",
    "checked": "check",
    "brought": "people",
    "chosen": "person",
    "policy": "gear",
    "due": "clock",
    "failed": "alert",
    "gap": "alert",
    "claimed": "search",
    "judged": "flag",
    "evidence": "flame",
    "paged": "bell",
    "page": "bell",
    "alert": "alert",
    "asked_in": "person",
    "let_in": "person",
    "glass": "alert",
    "warned": "alert",
    "opening": "doc",
    "opened_up": "doc",
    "review_meeting": "clock",
    "reviewed": "doc",
}


@register.filter
def picture(kind: str) -> str:
    """Return the icon of an event's kind."""
    return PICTURES.get(kind, "dot")


@register.filter
def template_of(kind: str) -> str:
    """Return the template that renders an event of this kind."""
    return timeline_layout.template_of(kind)


@register.filter
def of(mapping: dict[str, str], key: str) -> str:
    """Return a mapping's value for a key, or an empty string."""
    return mapping.get(key, "")


register.filter("upfirst", sentences.capital)
