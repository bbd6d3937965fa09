"""Changing what a type asks for: first what that would mean for open incidents, then the change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from incidents import capture_lines, lifecycle, one_of_lines, types, visibility
from incidents.forms import TypeForm
from incidents.models import Incident, IncidentType, Person
from incidents.policy import Policy, moves_room
from incidents.views.allowed import needs
from incidents.views.signed_in import Request, signed_in
from incidents.views.types import find
from workflows import retyping
from workflows.plan import Line

UNPROCESSABLE = 422
SHOWN = 20
CHANGED = "Somebody changed this type while you were editing it; their version is in the list."


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a new policy would mean for one open incident."""

    incident: Incident
    lines: list[tuple[Line, bool]]
    can_adopt: bool


@require_http_methods(["GET", "POST"])
@signed_in
@needs("types")
def preview(request: Request, slug: str) -> HttpResponse:
    """Show what an edited policy changes; save it once that was confirmed."""
    type = find(slug)
    if request.method != "POST":
        return redirect("type", slug=slug)
    form = TypeForm(request.POST, policy=type.policy)
    if request.POST.get("version") != str(type.current and type.current.number):
        form.add_error(None, CHANGED)
    if not form.is_valid() or "back" in request.POST:
        status = UNPROCESSABLE if form.errors else 200
        return render(request, "types/edit.html", _editing(type) | {"form": form}, status=status)
    if "save" in request.POST:
        return _save(request, type, form.policy())
    return render(request, "types/preview.html", _context(request, type, form))


def _save(request: Request, type: IncidentType, policy: Policy) -> HttpResponse:
    now = timezone.now()
    adopting = set(request.POST.getlist("adopt"))
    with transaction.atomic():
        types.edit(type, policy=policy, by=request.person, at=now)
        chosen = [one for one in open_incidents(type, request.person) if one.codename in adopting]
        for incident in sorted(chosen, key=lambda one: one.pk):  # whoever locks several does it in this order
            _adopt(request, incident)
    kept = f" {len(chosen)} open took it over." if chosen else " Open incidents keep what they have."
    messages.success(request, f"{policy.name} is saved.{kept}")
    return redirect("type", slug=type.slug)


def _adopt(request: Request, incident: Incident) -> None:
    try:
        with transaction.atomic():
            lifecycle.adopt(incident, by=request.person, at=timezone.now())
    except lifecycle.Refused as refused:
        messages.error(request, str(refused))
    except lifecycle.NotThere:
        return  # hidden from this person meanwhile


def _context(request: Request, type: IncidentType, form: TypeForm) -> dict[str, Any]:
    policy = form.policy()
    incidents = open_incidents(type, request.person)
    return {
        "here": "types",
        "type": type,
        "policy": policy,
        "form": form,
        "given": [(name, request.POST[name]) for name in [*form.fields, "version"] if name in request.POST],
        "changes": changes(type.policy, policy),
        "meanings": [_meaning(one, policy) for one in incidents[:SHOWN]],
        "unshown": max(0, len(incidents) - SHOWN),
    }


def open_incidents(type: IncidentType, person: Person) -> list[Incident]:
    """Return open incidents of a type that a person may see, newest first."""
    seen = visibility.visible_to(person).filter(type=type, active=True)
    return list(seen.select_related("type", "policy_version", "lead").order_by("-declared_at")[: SHOWN + 1])


def _meaning(incident: Incident, policy: Policy) -> Meaning:
    plan = retyping.preview_policy(incident, policy)
    lines = [(line, False) for line in plan.lines]
    return Meaning(incident, lines, not moves_room(incident.private, policy))


def changes(before: Policy, after: Policy) -> list[tuple[str, str, str]]:
    """Return the fields that differ, each with what it was and what it becomes, in words."""
    was, becomes = _words(before), _words(after)
    return [(label, was[label], becomes[label]) for label in was if was[label] != becomes[label]]


def _words(policy: Policy) -> dict[str, str]:
    every = policy.update_every_min
    return {
        "Name": policy.name,
        "What it says": policy.says,
        "Colour": policy.colour,
        "Private": _yes(policy.private),
        "Customers feel it": _yes(policy.customer_facing),
        "Internal": _yes(policy.internal),
        "Announced": _yes(policy.announce),
        "Groups": ", ".join(f"@{one}" for one in policy.invite) or "none",
        "One person": "; ".join(map(one_of_lines.said, policy.one_of)) or "none",
        "Pages": ", ".join(policy.pages) or "nobody",
        "Update": f"every {every} minutes" if every else "not asked",
        "Roles": ", ".join(policy.roles) or "none",
        "Checklist": "; ".join(policy.checklist) or "empty",
        "Captures": "; ".join(map(capture_lines.said, policy.captures)) or "none",
    }


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _editing(type: IncidentType) -> dict[str, Any]:
    versions = type.versions.select_related("created_by").order_by("-number")
    return {"here": "types", "type": type, "policy": type.policy, "versions": versions}
