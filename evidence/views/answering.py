"""JSON answers about a profile, from its stored tree; only browsers of people who may see it cache them."""

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

VERSION = 1  # of the answers' shape: a new version invalidates what browsers have cached
MOST = 10_000  # boxes in one answer
BUSY = "Many profiles are being worked on right now. Try again in a few seconds."
KEPT = "private, no-cache"  # revalidated each time, so that access is checked too; answered by 304


class Unasked(Exception):
    """The URL asks for something that is not in this profile; the message says what."""


Answer = Callable[["CallTree", Request], dict[str, Any]]


def answered(request: Request, codename: str, n: int, answer: Answer) -> HttpResponse:
    """Answer a question about a profile that this person may see; an unchanged answer is not sent again."""
    return told(request, profile_of(request, codename, n), answer)


def told(request: Request, evidence: Evidence, answer: Answer) -> HttpResponse:
    """Answer a question about a profile, or say in words why that is impossible."""
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
    """Return the tree to show: without idle stacks if that is requested."""
    if request.GET.get("idle") != "0":
        return tree
    from evidence.analysis import idleness

    return idleness.busy(tree)


def tag_of(request: Request, *trees: str) -> str:
    """Return the ETag of an answer, derived from the request and the content."""
    asked = json.dumps([VERSION, *trees, sorted(request.GET.items())])
    return f'"{hashlib.sha256(asked.encode()).hexdigest()[:32]}"'


def marked(response: HttpResponse, tag: str, *, private: bool) -> HttpResponse:
    """Let a browser cache an answer and revalidate it; for a private incident nothing is cached."""
    response.headers["Cache-Control"] = NO_STORE if private else KEPT
    if not private:
        response.headers["ETag"] = tag
    return response


def as_json(said: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """Return plain values as compact JSON."""
    body = json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
    return HttpResponse(body, content_type="application/json", status=status)


def type_of(request: Request, tree: CallTree) -> int:
    """Return the requested sample type, else the profile's default.

    Raises ``Unasked`` if this profile does not have it.
    """
    type = number(request.GET.get("type"))
    if type is None:
        return tree.default_type
    if not 0 <= type < len(tree.sample_types):
        raise Unasked("This profile has no such sample type.")
    return type


def budget_of(request: Request) -> int:
    """Return how many boxes are requested at most, within bounds; about 30 kB of them by default."""
    from evidence.drawing import flamegraph

    return min(max(number(request.GET.get("most")) or flamegraph.BUDGET, 1), MOST)


def node_of(request: Request, tree: CallTree, name: str = "root") -> int:
    """Return the requested node, else the root. Raises ``Unasked`` if this profile does not have it."""
    node = number(request.GET.get(name)) or 0
    if not 0 <= node < len(tree):
        raise Unasked("This profile has no such frame.")
    return node


def code_of(request: Request, tree: CallTree) -> int:
    """Return the requested function. Raises ``Unasked`` if this profile does not have it."""
    code = number(request.GET.get("code"))
    if code is None or not 0 <= code < len(tree.names):
        raise Unasked("This profile has no such function.")
    return code
