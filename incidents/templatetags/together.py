"""Template tags for style sheets and scripts: separate files in development, one file in production."""

from __future__ import annotations

from functools import cache

from django import template
from django.contrib.staticfiles.storage import ManifestFilesMixin
from django.core.files.storage import storages
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from incidents import bundles

register = template.Library()


@register.simple_tag
@cache
def styles(*names: str) -> SafeString:
    """Link style sheets in the order of their names, which are those in ``static/firekind``."""
    links = ((static(one),) for one in _sent(bundles.of("styles", names)))
    return format_html_join("\n  ", '<link rel="stylesheet" href="{}">', links)


@register.simple_tag
@cache
def scripts(*names: str) -> SafeString:
    """Run scripts in the order of their names, once the page is parsed; vendored ones are named with their folder."""
    return format_html_join("\n  ", "{}", ((_script(one),) for one in _sent(bundles.of("scripts", names))))


def _sent(bundle: bundles.Bundle) -> tuple[str, ...]:
    """Return the static files that the browser loads."""
    gathered = isinstance(storages["staticfiles"], ManifestFilesMixin)
    return (bundle.name,) if gathered else bundle.parts


def _script(name: str) -> SafeString:
    # Both kinds wait for the page and keep their order. A module's names are private, as in a bundle.
    if name.startswith((bundles.VENDORED, bundles.FOLDER)):
        return format_html('<script src="{}" defer></script>', static(name))
    return format_html('<script src="{}" type="module"></script>', static(name))
