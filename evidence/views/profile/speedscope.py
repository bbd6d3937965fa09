"""A profile in speedscope: its own page in a frame, under a policy of its own, for those who may see the incident.

speedscope styles itself from its script and starts a small WebAssembly program for Java recordings, so only its page
may do both. It loads nothing but its own files and the one profile. The frame has no ``sandbox``: a page that needs
scripts and its own origin could remove that itself, as browsers warn, so only its policy contains it.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

from django.conf import settings
from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin

from evidence.intake import storage
from evidence.models import Evidence
from evidence.views import leaving
from evidence.views.finding import profile_of, tree_of
from evidence.views.policy import also, locked, under
from evidence.views.profile import functions
from incidents.views.signed_in import Request, signed_in

FILES = "vendor/speedscope/"
SUMMED = "profile.speedscope.json"
# Formats that hold samples in order of time, with speedscope's name for them.
IN_ORDER = {
    "speedscope": "original.speedscope.json",
    "chrome": "original.json",
    "v8": "original.cpuprofile",
    "perf script": "original.linux-perf.txt",
    "jfr": "original.jfr",
}
POLICY = {
    "default-src": ["'none'"],
    "script-src": ["'self'", "'wasm-unsafe-eval'"],
    "style-src": ["'self'", "'unsafe-inline'"],
    "font-src": ["'self'"],
    "img-src": ["'self'", "data:", "blob:"],
    "connect-src": ["'self'"],
    "base-uri": ["'self'"],
    "form-action": ["'none'"],
    "frame-ancestors": ["'self'"],
}


@also({"frame-src": ["'self'"]})
@signed_in
def page(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Show a profile in speedscope, with a way back."""
    evidence = profile_of(request, codename, n)
    tree = tree_of(evidence)
    type = functions.chosen(request, tree)
    ordered = IN_ORDER.get(tree.format, "")
    by_time = bool(ordered) and request.GET.get("order") == "time"
    names = {"codename": evidence.incident.codename, "n": evidence.n}
    file = reverse("evidence-speedscope-file", kwargs={**names, "name": ordered if by_time else SUMMED})
    asked = {
        "profileURL": file if by_time else f"{file}?{urlencode({'type': type})}",
        "title": evidence.title,
        "view": "time-ordered" if by_time else "left-heavy",
    }
    context = {
        "incident": evidence.incident,
        "evidence": evidence,
        "app": f"{reverse('evidence-speedscope-app', kwargs=names)}#{urlencode(asked, quote_via=quote)}",
        "ordered": ordered,
        "by_time": by_time,
        "kind": tree.sample_types[type],
        "type": type,
    }
    return render(request, "evidence/speedscope.html", context)


@xframe_options_sameorigin
@under(POLICY)
@signed_in
def app(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Serve speedscope itself; its URL says which profile it opens."""
    profile_of(request, codename, n)
    return render(request, "evidence/speedscope_app.html", {"files": f"{settings.STATIC_URL}{FILES}"})


@locked
@signed_in
def file(request: Request, codename: str, n: int, name: str) -> HttpResponseBase:
    """Send speedscope the profile: summed up by us, or the original if that keeps the order of time."""
    evidence = profile_of(request, codename, n)
    if name == SUMMED:
        leaving.taken(evidence, by=request.person, form="speedscope")
        return _summed(request, evidence)
    if name != IN_ORDER.get(evidence.format):
        raise Http404("No such file.")
    leaving.taken(evidence, by=request.person, form=leaving.ORIGINAL)
    kept = storage.opened(evidence.original)
    return FileResponse(kept, as_attachment=True, filename=name, content_type="application/octet-stream")


def _summed(request: Request, evidence: Evidence) -> HttpResponse:
    from evidence.drawing import speedscope_file

    tree = tree_of(evidence)
    body = speedscope_file.sampled(tree, type=functions.chosen(request, tree), title=evidence.title)
    return HttpResponse(body, content_type="application/json")
