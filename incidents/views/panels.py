"""The parts of an incident's page that update by themselves: rendered with it at first, then sent with what is new.

A fault in one panel stays in that panel: it says so in its place, and the rest of the page remains usable.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import Error
from django.http import Http404, QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from incidents.models import Incident
from incidents.views.signed_in import Request

log = logging.getLogger(__name__)
SEEN = "seen"  # the parameter in which a page says what it shows: "plan.1f2e alerts.77ab"
FAILED = "failed"  # in place of a digest: the panel could not be rendered
# What differs between renderings although the panel has not changed.
VARIES = re.compile(r' name="csrfmiddlewaretoken" value="[^"]*"|\s+hx-swap-oob="morph"')


class PanelState(NamedTuple):
    """What a panel shows: its context, and a digest of its state, empty if only the rendered HTML can tell."""

    digest: str
    context: dict[str, Any]


def _no_facts(_incident: Incident) -> None:
    """Read nothing."""


class Panel(NamedTuple):
    """A panel: how its state is read, and the template for each of its elements, by element id.

    ``facts`` are the part that is the same for every viewer: they may be read for many at once, so no one may modify
    them.
    """

    read: Callable[[Request, Incident, Any], PanelState]
    elements: Mapping[str, str]
    facts: Callable[[Incident], object] = _no_facts


class FailedFacts(NamedTuple):
    """The error raised instead of a panel's facts."""

    error: Exception


Facts = Mapping[str, object]


class Drawn(NamedTuple):
    """The elements to show, by id, and the digest of every panel."""

    elements: dict[str, SafeString]
    seen: dict[str, str]

    @property
    def said(self) -> str:
        """What a page sends back with its next request."""
        return " ".join(f"{name}.{digest}" for name, digest in self.seen.items())


registered: dict[str, Panel] = {}


def register(name: str, panel: Panel) -> None:
    """Have every incident's page render a panel."""
    registered[name] = panel


def facts(incident: Incident) -> Facts:
    """Read the facts of every panel. The caller checks who may see the incident."""
    return {name: _facts(panel, incident) for name, panel in registered.items()}


def _facts(panel: Panel, incident: Incident) -> object:
    try:
        return panel.facts(incident)
    except (Http404, PermissionDenied, Error):
        raise  # not the panel's fault: the whole page has an answer to it
    except Exception as error:  # noqa: BLE001 (raised again where the panel is drawn, and that panel alone fails)
        return FailedFacts(error)


def draw(request: Request, incident: Incident, read: Facts, *, seen: Mapping[str, str] | None = None) -> Drawn:
    """Render every panel from the facts that were ``read``.

    Given what a page has ``seen``, only those that changed since, to replace theirs.
    """
    drawn = Drawn({}, {})
    for name, panel in registered.items():
        known = None if seen is None else seen.get(name, "")
        try:
            made, drawn.seen[name] = _draw(panel, request, incident, read[name], known=known)
        except (Http404, PermissionDenied, Error):
            raise  # not the panel's fault: the whole page has an answer to it
        except Exception:  # a bug in one panel must not keep anyone from the rest, whatever it is
            if settings.PANEL_FAULTS_ARE_RAISED:
                raise
            log.exception("could not draw the panel %s of incident %s", name, incident.pk)
            drawn.seen[name] = FAILED
            made = {} if known == FAILED else _in_place_of(panel, request, incident, is_news=seen is not None)
        drawn.elements.update(made)
    return drawn


def _draw(
    panel: Panel, request: Request, incident: Incident, facts: object, *, known: str | None
) -> tuple[dict[str, SafeString], str]:
    """Render a panel's elements, none if the page has this state already; return them with the state."""
    if isinstance(facts, FailedFacts):
        raise facts.error
    digest, context = panel.read(request, incident, facts)
    about = (incident.codename, incident.status)  # where links lead, and which buttons there are
    if digest and digest_of((digest, about)) == known:
        return {}, digest_of((digest, about))
    given = {"incident": incident, "oob": known is not None, **context}
    made = {key: render_to_string(part, given, request) for key, part in panel.elements.items()}
    state = digest_of((digest or VARIES.sub("", joined(made)), about))
    return ({} if state == known else made), state


def _in_place_of(panel: Panel, request: Request, incident: Incident, *, is_news: bool) -> dict[str, SafeString]:
    """Say in a panel's place that it could not be rendered: in its first element, with the others empty."""
    given = {"incident": incident, "oob": is_news}
    return {
        key: render_to_string(
            "incidents/_panel_failed.html", given | {"id": key.replace("_", "-"), "is_said": place == 0}, request
        )
        for place, key in enumerate(panel.elements)
    }


def read_seen(given: QueryDict) -> dict[str, str]:
    """Parse what a page says it shows."""
    words = (word.partition(".") for word in given.get(SEEN, "").split())
    return {name: digest for name, _, digest in words}


def joined(elements: Mapping[str, SafeString]) -> SafeString:
    """Concatenate elements."""
    return mark_safe("".join(elements.values()))  # noqa: S308 (each was drawn by a template)


def digest_of(said: object) -> str:
    """Return a digest of a value by its representation."""
    return sha256(repr(said).encode()).hexdigest()[:16]
