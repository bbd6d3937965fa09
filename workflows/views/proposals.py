"""Changes that wait for a second manager: the list, one with its dry run, and the decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from incidents import lifecycle
from incidents.lifecycle import rules
from incidents.models import Person, Proposal
from incidents.policies import policy_words
from incidents.policies.type_changes import AddType, AdoptPolicy, EditType, RestoreType
from incidents.second_manager import proposals, seconding
from incidents.views.allowed import needs
from incidents.views.signed_in import Request, signed_in
from incidents.views.types import find
from workflows.usergroups import rule_display
from workflows.usergroups.changes import AddGroup, EditGroup, GroupSources, ResumeGroup
from workflows.views import policy

PAST = 20
REREAD: Final = "What this would change is different now. Review it, then confirm it."


@require_GET
@signed_in
@needs("second")
def listing(request: Request) -> HttpResponse:
    """Show what is waiting, and the latest decisions."""
    seen = proposals.seen_by(request.person)
    decided = seen.exclude(state=Proposal.State.WAITING).order_by("-decided_at", "-pk")[:PAST]
    return render(request, "proposals/list.html", {"waiting": proposals.waiting(request.person), "decided": decided})


@require_GET
@signed_in
@needs("second")
def page(request: Request, ref: str) -> HttpResponse:
    """Show one proposal with what it would do now, to the manager who decides and to its author."""
    proposal = _found(request.person, ref)
    context: dict[str, Any] = {
        "proposal": proposal,
        "mine": proposal.by_id == request.person.pk,
        "who": seconding.who(proposal.by, incident=proposal.incident),
    }
    if proposal.is_waiting and proposal.kind in DRY:
        context |= DRY[proposal.kind](proposals.read(proposal), request.person)
    return render(request, "proposals/page.html", context)


@require_POST
@signed_in
@needs("second")
def act(request: Request, ref: str, verb: str) -> HttpResponse:
    """Confirm a proposal, turn it down, or withdraw one's own."""
    proposal = _found(request.person, ref)
    if verb not in VERBS:
        raise Http404("No such verb.")
    decide, said = VERBS[verb]
    try:
        with transaction.atomic():
            if verb == "confirm":
                _must_be_as_shown(request, proposal)
            decide(proposal, by=request.person, at=timezone.now())
    except lifecycle.Refused as refused:
        messages.error(request, str(refused))
        return redirect(proposal)
    messages.success(request, said)
    return redirect("proposals")


def _must_be_as_shown(request: Request, proposal: Proposal) -> None:
    """Raise ``Refused`` if an incident would now change differently than the confirmed page said."""
    shown, change = request.POST.get("shown"), proposals.read(proposal)
    if shown is None or not isinstance(change, AdoptPolicy):
        return
    seconding.hold()  # before locking the incident, as every proposal does
    incident = rules.held(change.found(), by=request.person)
    if shown not in {one.shown for one in policy.meanings([incident], change.asked(), request.person)}:
        raise lifecycle.Refused(REREAD)


def _found(person: Person, ref: str) -> Proposal:
    return get_object_or_404(proposals.seen_by(person), ref=ref)


def _group(asked: GroupSources, handle: str, *, at: datetime) -> dict[str, Any]:
    run = rule_display.dry_run(handle, sources=asked.subjects(), permanent=asked.people(), at=at)
    return {"handle": handle, "run": run}


def _add_or_edit_group(change: AddGroup | EditGroup, person: Person) -> dict[str, Any]:
    return _group(change.asked, change.handle, at=timezone.now())


def _resume_group(change: ResumeGroup, person: Person) -> dict[str, Any]:
    return _group(change.was, change.handle, at=timezone.now())


def _edit_type(change: EditType, person: Person) -> dict[str, Any]:
    before, after = change.before(), change.asked()
    incidents = policy.open_incidents(find(change.slug), person)
    return {"changes": policy_words.changes(before, after), "meanings": policy.meanings(incidents, after, person)}


def _type(change: AddType | RestoreType, person: Person) -> dict[str, Any]:
    return {"policy": change.asked()}


def _adopt(change: AdoptPolicy, person: Person) -> dict[str, Any]:
    incident, after = change.found(), change.asked()
    changed = policy_words.changes(incident.policy, after)
    return {"changes": changed, "meanings": policy.meanings([incident], after, person)}


DRY: Final[Mapping[str, Callable[[Any, Person], dict[str, Any]]]] = {
    AddGroup.kind: _add_or_edit_group,
    EditGroup.kind: _add_or_edit_group,
    ResumeGroup.kind: _resume_group,
    EditType.kind: _edit_type,
    AddType.kind: _type,
    RestoreType.kind: _type,
    AdoptPolicy.kind: _adopt,
}

Decide = Callable[..., Proposal]
VERBS: Final[Mapping[str, tuple[Decide, str]]] = {
    "confirm": (proposals.confirm, "Confirmed. It is in effect now."),
    "turn-down": (proposals.turn_down, "Turned down. Nothing changes."),
    "withdraw": (proposals.withdraw, "Withdrawn. Nothing changes."),
}
