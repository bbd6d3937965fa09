"""The parts of an incident's page that change by themselves: drawn with it at first, then sent with what is new.

A fault in one of them is that one's own: it says so in its place, and the rest of the page stays of use.
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
FAILED = "failed"  # in place of a state: the panel could not be drawn
# What differs from answer to answer while a panel stays as it is.
VARIES = re.compile(r' name="csrfmiddlewaretoken" value="[^"]*"|\s+hx-swap-oob="morph"')


class PanelState(NamedTuple):
    """What a panel shows: a digest that tells one state from another, empty where only its words can, and a context."""

    digest: str
    context: dict[str, Any]


def _no_facts(_incident: Incident) -> None:
    """Read nothing."""


class Panel(NamedTuple):
    """A panel: how its state is read, and which template draws each of the elements that it fills, by their ids.

    ``facts`` are what it shows whoever looks: they may be read for many at once, so nobody changes them.
    """

    read: Callable[[Request, Incident, Any], PanelState]
    elements: Mapping[str, str]
    facts: Callable[[Incident], object] = _no_facts


class FailedFacts(NamedTuple):
    """What went wrong in place of a panel's facts."""

    error: Exception


Facts = Mapping[str, object]


class Drawn(NamedTuple):
    """The elements that are to be shown, by their ids, and the digest of every panel."""

    elements: dict[str, SafeString]
    seen: dict[str, str]

    @property
    def said(self) -> str:
        """What a page sends back with its next look."""
        return " ".join(f"{name}.{digest}" for name, digest in self.seen.items())


registered: dict[str, Panel] = {}


def register(name: str, panel: Panel) -> None:
    """Have every incident's page draw a panel."""
    registered[name] = panel


def facts(incident: Incident) -> Facts:
    """Read the facts of every panel. The caller asks who may see the incident."""
    return {name: _facts(panel, incident) for name, panel in registered.items()}


def _facts(panel: Panel, incident: Incident) -> object:
    try:
        return panel.facts(incident)
    except (Http404, PermissionDenied, Error):
        raise  # no fault of the panel's: the whole page has an answer to it
    except Exception as error:  # noqa: BLE001 (raised again where the panel is drawn, and that panel alone fails)
        return FailedFacts(error)


def draw(request: Request, incident: Incident, read: Facts, *, seen: Mapping[str, str] | None = None) -> Drawn:
    """Draw every panel from the facts that were ``read``.

    With what a page has ``seen``, only those that changed since, to be put in their places.
    """
    drawn = Drawn({}, {})
    for name, panel in registered.items():
        known = None if seen is None else seen.get(name, "")
        try:
            made, drawn.seen[name] = _draw(panel, request, incident, read[name], known=known)
        except (Http404, PermissionDenied, Error):
            raise  # no fault of the panel's: the whole page has an answer to it
        except Exception:  # a slip in one panel keeps nobody from the rest, whatever it is
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
    """Draw a panel's elements, none where the page knows its state already, and tell that state."""
    if isinstance(facts, FailedFacts):
        raise facts.error
    digest, context = panel.read(request, incident, facts)
    about = (incident.codename, incident.status)  # where links lead, and what can be pressed
    if digest and digest_of((digest, about)) == known:
        return {}, digest_of((digest, about))
    given = {"incident": incident, "oob": known is not None, **context}
    made = {key: render_to_string(part, given, request) for key, part in panel.elements.items()}
    state = digest_of((digest or VARIES.sub("", joined(made)), about))
    return ({} if state == known else made), state


def _in_place_of(panel: Panel, request: Request, incident: Incident, *, is_news: bool) -> dict[str, SafeString]:
    """Say in a panel's place that it could not be drawn; its first element says so, the others are empty."""
    given = {"incident": incident, "oob": is_news}
    return {
        key: render_to_string(
            "incidents/_panel_failed.html", given | {"id": key.replace("_", "-"), "is_said": place == 0}, request
        )
        for place, key in enumerate(panel.elements)
    }


def read_seen(given: QueryDict) -> dict[str, str]:
    """Read what a page says it shows."""
    words = (word.partition(".") for word in given.get(SEEN, "").split())
    return {name: digest for name, _, digest in words}


def joined(elements: Mapping[str, SafeString]) -> SafeString:
    """Return elements one after the other."""
    return mark_safe("".join(elements.values()))  # noqa: S308 (each was drawn by a template)


def digest_of(said: object) -> str:
    """Return what tells one state from another, by how it is written out."""
    return sha256(repr(said).encode()).hexdigest()[:16]
