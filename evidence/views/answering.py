"""Answers of a profile in JSON: asked of its stored tree, cached only by those who may see it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse

from evidence.intake import made
from evidence.models import Evidence
from evidence.views.finding import profile_of, tree_of
from incidents.forms.given import number
from incidents.views.signed_in import NO_STORE, Request

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

VERSION = 1  # of the answers' shape: a new one is no longer what browsers have kept
MOST = 10_000  # boxes in one answer
BUSY = "Many profiles are being worked on right now. Try again in a few seconds."
KEPT = "private, no-cache"  # asked again each time, so that access is too; answered by 304


class Unasked(Exception):
    """What the address asks for is not in this profile; the message says what."""


Answer = Callable[["CallTree", Request], dict[str, Any]]


def answered(request: Request, codename: str, n: int, answer: Answer) -> HttpResponse:
    """Answer a question about a profile that this person may see; what they have already is not sent again."""
    return told(request, profile_of(request, codename, n), answer)


def told(request: Request, evidence: Evidence, answer: Answer) -> HttpResponse:
    """Answer a question about a profile, or say in words why it cannot be."""
    tag = tag_of(request, evidence.tree)
    if request.headers.get("If-None-Match", "").removeprefix("W/") == tag:
        return marked(HttpResponse(status=304), tag, private=evidence.incident.private)
    try:
        said = answer(lens(request, tree_of(evidence)), request)
    except Unasked as error:
        return as_json({"says": str(error)}, status=400)
    except made.MakingBusy:
        return busy(request)
    return marked(as_json(said), tag, private=evidence.incident.private)


def busy(request: Request) -> HttpResponse:
    """Say that others are being answered first, and when to ask again."""
    response = (
        as_json({"says": BUSY}, status=503)
        if request.path.endswith(".json")
        else HttpResponse(f"{BUSY}\n", status=503, content_type="text/plain")
    )
    response.headers["Retry-After"] = str(made.RETRY_S)
    return response


def lens(request: Request, tree: CallTree) -> CallTree:
    """Return the tree as it is looked at: without idle stacks where that is asked for."""
    if request.GET.get("idle") != "0":
        return tree
    from evidence.analysis import idleness

    return idleness.busy(tree)


def tag_of(request: Request, *trees: str) -> str:
    """Return the tag of an answer: it follows from what is asked and of which content."""
    asked = json.dumps([VERSION, *trees, sorted(request.GET.items())])
    return f'"{hashlib.sha256(asked.encode()).hexdigest()[:32]}"'


def marked(response: HttpResponse, tag: str, *, private: bool) -> HttpResponse:
    """Let a browser keep an answer and ask whether it still holds; of a private incident nothing is kept."""
    response.headers["Cache-Control"] = NO_STORE if private else KEPT
    if not private:
        response.headers["ETag"] = tag
    return response


def as_json(said: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """Write plain values as small as they get."""
    body = json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
    return HttpResponse(body, content_type="application/json", status=status)


def type_of(request: Request, tree: CallTree) -> int:
    """Return the sample type that is asked for, else the profile's own.

    Raises ``Unasked`` for none of this profile.
    """
    type = number(request.GET.get("type"))
    if type is None:
        return tree.default_type
    if not 0 <= type < len(tree.sample_types):
        raise Unasked("This profile has no such sample type.")
    return type


def budget_of(request: Request) -> int:
    """Return how many boxes are asked for at most, within bounds; about 30 kB of them when nothing is said."""
    from evidence.drawing import flamegraph

    return min(max(number(request.GET.get("most")) or flamegraph.BUDGET, 1), MOST)


def node_of(request: Request, tree: CallTree, name: str = "root") -> int:
    """Return the node that is asked for, else the root. Raises ``Unasked`` for none of this profile."""
    node = number(request.GET.get(name)) or 0
    if not 0 <= node < len(tree):
        raise Unasked("This profile has no such frame.")
    return node


def code_of(request: Request, tree: CallTree) -> int:
    """Return the function that is asked for. Raises ``Unasked`` for none of this profile."""
    code = number(request.GET.get("code"))
    if code is None or not 0 <= code < len(tree.names):
        raise Unasked("This profile has no such function.")
    return code
