"""Who has which role, readable by every member; managers assign them."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from incidents import lifecycle
from incidents.forms.people import joinable, suggested
from incidents.lifecycle import misses
from incidents.models import Miss, Person
from incidents.models.people import Role
from incidents.people import roles
from incidents.views.allowed import needs
from incidents.views.signed_in import Request, signed_in

HELD: Final = (Role.MANAGER, Role.AUDITOR)


@require_GET
@signed_in
def listing(request: Request) -> HttpResponse:
    """Show the managers and auditors; managers can find someone by name and assign a role."""
    if not request.person.can_join:
        raise Http404("No such page.")
    q = " ".join(request.GET.get("q", "").split())[:80]
    context: dict[str, Any] = {
        "held": [(role, roles.SAYS[role], list(roles.holders(role))) for role in HELD],
        "choices": [(role, role.label, roles.SAYS[role]) for role in Role],
        "q": q,
        "missed": _missed() if roles.may(request.person, "roles") else [],
        "found": suggested(q, by=request.person) if q else [],
    }
    return render(request, "people/roles.html", context)


@require_POST
@signed_in
@needs("roles")
def give(request: Request, pk: int) -> HttpResponse:
    """Give someone a role."""
    person = get_object_or_404(joinable(), pk=pk)
    role = request.POST.get("role", "")
    if role not in Role.values:
        raise Http404("No such role.")
    try:
        changed = roles.give(person, role=Role(role), by=request.person)
    except lifecycle.Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _said(person, Role(role), changed=changed))
    return redirect("roles")


def _missed() -> list[tuple[Miss, str]]:
    """Return recent failed break-glass attempts, in words: managers without Slack read about them here."""
    return [(one, misses.sentence(one)) for one in misses.lately(at=timezone.now())]


def _said(person: Person, role: Role, *, changed: bool) -> str:
    return f"{person.name} is {'now' if changed else 'already'} {_a(role)}."


def _a(role: Role) -> str:
    return f"an {role}" if role == Role.AUDITOR else f"a {role}"
