"""Downloads of a profile: the original as received, and what we make of it. None of it is executed by a browser."""

from __future__ import annotations

import re

from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

from evidence.intake import made, storage
from evidence.models import Evidence
from evidence.models.evidence import Kind
from evidence.views import answering, leaving
from evidence.views.finding import evidence_of, profile_of, tree_of
from evidence.views.policy import locked
from evidence.views.profile import functions
from incidents.views.signed_in import Request, signed_in


@locked
@signed_in
def original(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Send the file as received, under its own name, only ever as a download.

    ``?inline`` shows a picture, whose type was recognised by content.
    """
    evidence = evidence_of(request, codename, n)
    if not evidence.original:
        return HttpResponse("This evidence is a link, so there's no file.", status=404, content_type="text/plain")
    file = storage.opened(evidence.original)
    if "inline" in request.GET and evidence.kind == Kind.PICTURE:
        leaving.shown(evidence, by=request.person, form=leaving.ORIGINAL)
        return FileResponse(file, content_type=evidence.format)
    leaving.taken(evidence, by=request.person, form="original")
    return FileResponse(
        file, as_attachment=True, filename=evidence.file_name or name_of(evidence, "bin"),
        content_type="application/octet-stream",
    )  # fmt: skip


@locked
@signed_in
def folded(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Send one sample type as folded stacks."""
    evidence = profile_of(request, codename, n)
    type = functions.chosen(request, tree_of(evidence))
    return _made(request, evidence, "folded", "folded", "text/plain; charset=utf-8", type=type)


@locked
@signed_in
def pprof(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Send all sample types as gzipped pprof."""
    evidence = profile_of(request, codename, n)
    return _made(request, evidence, "pprof", "pb.gz", "application/octet-stream")


def _made(
    request: Request, evidence: Evidence, form: str, ending: str, content_type: str, **asked: int
) -> HttpResponseBase:
    """Send what may take long to make, or say when to ask again."""
    try:
        file = made.of(evidence.tree, form, **asked)
    except made.MakingBusy:
        return answering.busy(request)
    leaving.taken(evidence, by=request.person, form=form)
    return FileResponse(file, as_attachment=True, filename=name_of(evidence, ending), content_type=content_type)


@locked
@signed_in
def svg(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Send the flame graph as a standalone SVG."""
    from evidence.drawing import svg as drawing

    evidence = profile_of(request, codename, n)
    tree = tree_of(evidence)
    type = functions.chosen(request, tree)
    drawn = drawing.svg(tree, title=evidence.title, says=_says(evidence, type, tree.default_type), type=type)
    leaving.taken(evidence, by=request.person, form="svg")
    return _attached(drawn.encode(), name_of(evidence, "svg"), "image/svg+xml")


@locked
@signed_in
def png(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Send the flame graph as a picture; ``?small`` is the one for lists, drawn when it was read."""
    from evidence.drawing import picture

    evidence = profile_of(request, codename, n)
    if "small" in request.GET:
        leaving.shown(evidence, by=request.person, form="small picture")
        return FileResponse(storage.opened(storage.thumbnail_key(evidence.tree)), content_type="image/png")
    tree = tree_of(evidence)
    type = functions.chosen(request, tree)
    drawn = picture.png(tree, title=evidence.title, says=_says(evidence, type, tree.default_type), type=type)
    leaving.taken(evidence, by=request.person, form="png")
    return _attached(drawn, name_of(evidence, "png"), "image/png", inline=True)


def name_of(evidence: Evidence, ending: str) -> str:
    """Return the name of a file made from evidence: codename, number, words of its title."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", evidence.title).strip("-").lower()[:40]
    return "-".join(part for part in (evidence.incident.codename, str(evidence.n), words) if part) + f".{ending}"


def _says(evidence: Evidence, type: int, default: int) -> str:
    return evidence.says if type == default else ""


def _attached(content: bytes, name: str, kind: str, *, inline: bool = False) -> HttpResponseBase:
    response = HttpResponse(content, content_type=kind)
    response.headers["Content-Disposition"] = content_disposition_header(not inline, name) or "attachment"
    return response
