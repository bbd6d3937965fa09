"""Change a type's policy: first a preview for open incidents, then the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from incidents import lifecycle, visibility
from incidents.forms import TypeForm
from incidents.lifecycle import rules
from incidents.models import Incident, IncidentType, Person
from incidents.policies import policy_words
from incidents.policies.policy import Policy, moves_room
from incidents.policies.type_changes import AdoptPolicy, EditType
from incidents.second_manager import proposals, seconding
from incidents.views.allowed import needs
from incidents.views.signed_in import Request, signed_in
from incidents.views.types import find
from workflows.planning.plan_lines import PlanLine
from workflows.reconcile import retyping

UNPROCESSABLE = 422
SHOWN = 20
REREAD = "What this would change is different now. Review it, then move it."
CHANGED = "Someone else changed this type while you were editing it. Their version is in the list."


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a new policy would mean for one open incident."""

    incident: Incident
    lines: list[tuple[PlanLine, bool]]
    can_adopt: bool
    second: str
    digest: str

    @property
    def shown(self) -> str:
        """The form value that identifies the plan shown."""
        return f"{self.incident.codename}:{self.digest}"


@require_http_methods(["GET", "POST"])
@signed_in
@needs("types")
def preview(request: Request, slug: str) -> HttpResponse:
    """Show what an edited policy changes; save it once that is confirmed."""
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
        return _save(request, type, _change(type, form))
    return render(request, "types/preview.html", _context(request, type, form))


def _change(type: IncidentType, form: TypeForm) -> EditType:
    assert type.current is not None, "a type is created together with its first policy"
    return EditType(type.slug, type.current.number, form.policy().as_dict())


def _save(request: Request, type: IncidentType, change: EditType) -> HttpResponse:
    adopting = set(request.POST.getlist("adopt"))
    with transaction.atomic():
        try:
            made = proposals.make(change, by=request.person, at=timezone.now())
        except lifecycle.Refused as refused:
            messages.error(request, str(refused))
            return redirect("type", slug=type.slug)
        if made.proposal is not None:
            messages.success(request, made.words(""))
            return redirect(made.proposal)
        chosen = [one for one in open_incidents(type, request.person) if one.codename in adopting]
        kept = adopt(request, sorted(chosen, key=lambda one: one.pk)) or "Open incidents stay on their version."
    messages.success(request, f"{made.words(f'{change.asked().name} is saved.')} {kept}")
    return redirect("type", slug=type.slug)


def adopt(request: Request, incidents: Sequence[Incident]) -> str:
    """Move open incidents to the newest version of their type; say how many moved and how many wait."""
    made = [found for incident in incidents if (found := _adopted(request, incident)) is not None]
    waiting = sum(one.proposal is not None for one in made)
    done = len(made) - waiting
    alone = " No second manager takes part in them to confirm it." if any(one.alone for one in made) else ""
    said = [f"{done} open now on this version.{alone}"] if done else []
    return " ".join([*said, *([f"{waiting} open will move once a second manager confirms."] if waiting else [])])


def _adopted(request: Request, incident: Incident) -> proposals.ProposalOutcome | None:
    try:
        return _moved(request, incident)
    except lifecycle.Refused as refused:
        messages.error(request, str(refused))
        return None
    except lifecycle.NotThere:
        return None  # hidden from this person since


@transaction.atomic
def _moved(request: Request, incident: Incident) -> proposals.ProposalOutcome:
    """Move an incident, or propose it, if it does what the page showed. Raises ``Refused``, ``NotThere``."""
    seconding.hold()  # before locking the incident, as every proposal does
    now = rules.held(incident, by=request.person)
    type = IncidentType.objects.select_related("current").get(pk=now.type_id)
    shown = dict(one.split(":", 1) for one in request.POST.getlist("shown") if ":" in one)
    if shown.get(now.codename) != retyping.preview_policy(now, type.policy).digest:
        raise lifecycle.Refused(f"{now.codename} was not moved. {REREAD}")
    assert type.current is not None, "a type is created together with its first policy"
    change = AdoptPolicy(now.pk, type.current.number, type.slug)
    return proposals.make(change, by=request.person, at=timezone.now())


def _context(request: Request, type: IncidentType, form: TypeForm) -> dict[str, Any]:
    policy = form.policy()
    incidents = open_incidents(type, request.person)
    return {
        "here": "types",
        "type": type,
        "policy": policy,
        "form": form,
        "given": _given(request, form),
        "changes": policy_words.changes(type.policy, policy),
        "second": seconding.who(request.person) if _change(type, form).opens() else "",
        "meanings": meanings(incidents, policy, request.person),
        "unshown": max(0, len(incidents) - SHOWN),
    }


def _given(request: Request, form: TypeForm) -> list[tuple[str, str]]:
    """Return what was filled in, each part of a row separately, for the next page to send again."""
    names = {*form.fields, "version"}
    lists = request.POST.lists()
    return [(name, str(one)) for name, values in lists if name.partition(".")[0] in names for one in values]


def open_incidents(type: IncidentType, person: Person) -> list[Incident]:
    """Return a type's open incidents that a person may see, newest first; a drill keeps the version it began with."""
    seen = visibility.visible_to(person).filter(type=type, active=True, is_drill=False)
    return list(seen.select_related("type", "policy_version", "lead").order_by("-declared_at")[: SHOWN + 1])


def meanings(incidents: Sequence[Incident], policy: Policy, person: Person) -> list[Meaning]:
    """Return what a policy would mean for the first few incidents, and who else would have to confirm it."""
    return [_meaning(one, policy, person) for one in incidents[:SHOWN]]


def _meaning(incident: Incident, policy: Policy, person: Person) -> Meaning:
    plan = retyping.preview_policy(incident, policy)
    lines = [(line, False) for line in plan.lines]
    second = seconding.who(person, incident=incident) if incident.private else ""
    return Meaning(incident, lines, not moves_room(incident.private, policy), second, plan.digest)


def _editing(type: IncidentType) -> dict[str, Any]:
    versions = type.versions.select_related("created_by").order_by("-number")
    return {"here": "types", "type": type, "policy": type.policy, "versions": versions}
