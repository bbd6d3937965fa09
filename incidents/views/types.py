"""The pages of incident types: their order, their policies, and earlier versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from incidents import lifecycle
from incidents.forms import TypeForm
from incidents.models import IncidentType, Person
from incidents.policies import types
from incidents.policies.type_changes import AddType, RestoreType
from incidents.second_manager import proposals
from incidents.views.allowed import needs
from incidents.views.signed_in import Request, signed_in

UNPROCESSABLE = 422


@signed_in
def listing(request: Request) -> HttpResponse:
    """Show every type in its order."""
    every = list(IncidentType.objects.select_related("current"))
    context = {
        "here": "types",
        "usable": [one for one in every if one.archived_at is None],
        "archived": [one for one in every if one.archived_at is not None],
    }
    return render(request, "types/list.html", context)


@require_http_methods(["GET", "POST"])
@signed_in
@needs("types")
def add(request: Request) -> HttpResponse:
    """Add a type."""
    form = TypeForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            made = proposals.make(AddType(form.policy().as_dict()), by=request.person, at=timezone.now())
        except lifecycle.Refused as refused:
            form.add_error("slug", str(refused))
        else:
            messages.success(request, made.words(f"{form.policy().name} is ready to use."))
            return redirect(made.proposal or "types")
    return render(request, "types/add.html", {"here": "types", "form": form}, status=_status(form))


@signed_in
def edit(request: Request, slug: str) -> HttpResponse:
    """Show a type's policy, to managers as a form; the effect of a change is shown before it is saved."""
    type = find(slug)
    versions = type.versions.select_related("created_by").order_by("-number")
    context = {"here": "types", "type": type, "policy": type.policy, "versions": versions}
    return render(request, "types/edit.html", context | {"form": TypeForm(policy=type.policy)})


@signed_in
def version(request: Request, slug: str, number: int) -> HttpResponse:
    """Show one version of a type's policy."""
    type = find(slug)
    shown = get_object_or_404(type.versions.select_related("created_by"), number=number)
    context = {"here": "types", "type": type, "version": shown, "policy": shown.policy}
    return render(request, "types/version.html", context)


@require_POST
@signed_in
@needs("types")
def act(request: Request, slug: str, verb: str) -> HttpResponse:
    """Move a type, archive it, restore it, or make it the default."""
    type = find(slug)
    if verb not in VERBS:
        raise Http404("No such verb.")
    try:
        said = VERBS[verb](type, request.person, timezone.now())
    except lifecycle.Refused as refused:
        messages.error(request, str(refused))
    else:
        if said:
            messages.success(request, said)
    return redirect("types")


def find(slug: str) -> IncidentType:
    """Return a type with its current policy, or raise 404."""
    return get_object_or_404(IncidentType.objects.select_related("current"), slug=slug)


def _restore(type: IncidentType, *, by: Person, at: datetime) -> str:
    assert type.current is not None, "a type is created together with its first policy"
    made = proposals.make(RestoreType(type.slug, type.current.number), by=by, at=at)
    return made.words(f"{type.policy.name} is active again.")


VERBS: Mapping[str, Callable[[IncidentType, Person, datetime], str | None]] = {
    "up": lambda one, by, _: types.move(one, step=-1, by=by),
    "down": lambda one, by, _: types.move(one, step=1, by=by),
    "archive": lambda one, by, at: types.archive(one, by=by, at=at),
    "restore": lambda one, by, at: _restore(one, by=by, at=at),
    "default": lambda one, by, _: types.make_default(one, by=by),
}


def _status(form: TypeForm) -> int:
    return UNPROCESSABLE if form.is_bound else 200
