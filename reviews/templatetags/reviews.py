"""Template tags of reviews, in addition to the others' tags."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from incidents.sentences import capital
from incidents.templatetags import firekind
from reviews.composing.passage import ReviewSentence
from reviews.exporting import as_markdown

register = template.Library()


@register.filter
def verdict(value: str) -> str:
    """Say what became of a hypothesis."""
    return as_markdown.verdict_of(value)


@register.filter
def taken(seconds: float) -> str:
    """Say how long after something else this came."""
    return as_markdown.taken(seconds)


@register.filter
def at_key(drawn: Mapping[int, SafeString], key: int) -> str:
    """Return what was drawn for a number, or an empty string."""
    return drawn.get(key, "")


@register.simple_tag
def when(at: datetime, one_day: bool) -> SafeString:
    """Render a moment; if everything happened on one day, only its time."""
    return firekind.clock(at) if one_day else firekind.moment(at)


@register.filter
def dated(at: datetime) -> str:
    """Format a moment with its year, because a file may be read in any year."""
    return as_markdown.at(at)


@register.filter
def said(sentence: ReviewSentence) -> SafeString:
    """Render a sentence after the actor's name; names between backticks are code."""
    if sentence.by:
        return format_html("<strong>{}</strong> {}", sentence.by, firekind.ticked(sentence.text))
    return firekind.ticked(capital(sentence.text))
