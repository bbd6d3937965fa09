"""The parts of an incident's page that change by themselves: drawn with it at first, then sent with what is new."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from incidents.models import Incident
from incidents.views.signed_in import Request

SEEN = "seen"  # the parameter in which a page says what it shows: "plan.1f2e alerts.77ab"
# What differs from answer to answer while a panel stays as it is.
VARIES = re.compile(r' name="csrfmiddlewaretoken" value="[^"]*"|\s+hx-swap-oob="morph"')


class PanelState(NamedTuple):
    """What a panel shows: a digest that tells one state from another, empty where only its words can, and a context."""

    digest: str
    context: dict[str, Any]


class Panel(NamedTuple):
    """A panel: how its state is read, and which template draws each of the elements that it fills, by their ids."""

    read: Callable[[Request, Incident], PanelState]
    elements: Mapping[str, str]


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


def draw(request: Request, incident: Incident, *, seen: Mapping[str, str] | None = None) -> Drawn:
    """Draw every panel; with what a page has ``seen``, only those that changed since, to be put in their places."""
    drawn = Drawn({}, {})
    for name, panel in registered.items():
        digest, context = panel.read(request, incident)
        about = (incident.codename, incident.status)  # where links lead, and what can be pressed
        known = None if seen is None else seen.get(name, "")
        if not digest or digest_of((digest, about)) != known:
            given = {"incident": incident, "oob": seen is not None, **context}
            made = {key: render_to_string(part, given, request) for key, part in panel.elements.items()}
            digest = digest or VARIES.sub("", joined(made))
            if digest_of((digest, about)) != known:
                drawn.elements.update(made)
        drawn.seen[name] = digest_of((digest, about))
    return drawn


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
