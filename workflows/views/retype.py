"""Retype an incident: pick a type, read exactly what that will do, then confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final, NamedTuple

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from incidents import lifecycle, timeline, visibility
from incidents.forms.given import number, numbers
from incidents.lifecycle import circle
from incidents.models import Event, Incident, IncidentType, Person
from incidents.people.bidi import isolated
from incidents.policies.policy import moves_room
from incidents.views.signed_in import Request, incident_or_404, signed_in
from workflows.planning.plan import Plan
from workflows.planning.plan_lines import PlanLine
from workflows.planning.wording import basis
from workflows.reconcile import retyping
from workflows.status import residual_content

UNPROCESSABLE = 422
MEANWHILE = 5  # this many entries are shown; more are counted
AGAIN = {"refresh", "count"}  # the buttons that, without scripts, show the plan again with what was chosen
OUR_OWN = ("did", "gap_closed")  # what Firekind did for the previous plan changes no plan


class Meanwhile(NamedTuple):
    """What was written while a page was open: the newest retype, the newest other entry, and how many more."""

    retyped: Event | None = None
    newest: Sequence[Event] = ()
    more: int = 0


NOTHING: Final = Meanwhile()


@dataclass(frozen=True, slots=True)
class RetypeQuery:
    """What the page was asked: which type, who to bring along into a private one, and whether the person comes too."""

    to: IncidentType | None
    bring: list[Person]
    come: bool = True

    @property
    def ids(self) -> list[int]:
        """The ids of those who are brought along."""
        return [person.pk for person in self.bring]


@require_http_methods(["GET", "POST"])
@signed_in
def retype(request: Request, codename: str) -> HttpResponse:
    """Show what a retype would do; carry it out once that very plan is confirmed."""
    incident = incident_or_404(request.person, codename)
    if not incident.is_active:
        messages.error(request, f"{incident.codename} is {incident.status}; reopen it before you retype it.")
        return redirect(incident)
    given = request.POST if request.method == "POST" else request.GET
    asked = read(incident, given)
    if request.method == "POST" and not AGAIN & given.keys():
        if asked.to is not None:
            return _confirm(request, incident, asked, asked.to)
        if given.get("to") == incident.type.slug:  # someone has retyped it to this meanwhile
            return redirect(incident) if _is_sent_again(request, incident) else _show_again(request, incident, asked)
        return _show(request, incident, asked, wrong=_not_there(given.get("to", "")))
    return _show(request, incident, asked)


def read(incident: Incident, given: QueryDict) -> RetypeQuery:
    """Read what was asked; types that cannot be chosen and people who are not responders are left out."""
    to = IncidentType.objects.usable().filter(slug=given.get("to", "")).first()
    to = to if to is not None and lifecycle.may_retype(incident, to) else None
    ids = numbers(given.getlist("bring"))
    readers = visibility.readers(incident).filter(person__in=ids) if ids else visibility.readers(incident).none()
    return RetypeQuery(to, [one.person for one in readers], come=not given.get("stay_out"))


def _confirm(request: Request, incident: Incident, asked: RetypeQuery, to: IncidentType) -> HttpResponse:
    given = request.POST
    try:
        retyping.confirm(
            incident,
            to=to,
            by=request.person,
            at=timezone.now(),
            because=given.get("because", ""),
            bring=asked.bring,
            come=asked.come,
            digest=given.get("digest", ""),
            since=number(given.get("since")),
        )
    except retyping.PlanChanged as changed:
        return _show_again(request, incident_or_404(request.person, incident.codename), asked, plan=changed.plan)
    except lifecycle.Stale:
        now = incident_or_404(request.person, incident.codename)
        return redirect(now) if _is_sent_again(request, now) else _show_again(request, now, asked)
    except lifecycle.Refused as refused:
        return _show(request, incident_or_404(request.person, incident.codename), asked, wrong=str(refused))
    sees = visibility.may_see(request.person, incident)
    if sees:
        return redirect(incident)  # its page says what was done and how much is left
    messages.success(request, f"Retyped to {to.policy.name}.")
    return redirect("incidents")


def _is_sent_again(request: Request, incident: Incident) -> bool:
    """Return whether this person has retyped it to this since the form was opened: a double click, or a resend."""
    retyped = _meanwhile(request, incident, number(request.POST.get("since"))).retyped
    is_theirs = retyped is not None and retyped.by_id == request.person.pk
    return is_theirs and incident.type.slug == request.POST.get("to")


def _show_again(request: Request, incident: Incident, asked: RetypeQuery, *, plan: Plan | None = None) -> HttpResponse:
    """Show the plan as it is now, and say exactly what changed since the page was opened."""
    given = request.POST
    if plan is None and asked.to is not None and lifecycle.may_retype(incident, asked.to):
        plan = retyping.preview(incident, to=asked.to, by=request.person, bring=asked.bring, come=asked.come)
    meanwhile = _meanwhile(request, incident, number(given.get("since")))
    what = _who_retyped(meanwhile.retyped) if meanwhile.retyped is not None else "The plan changed"
    now = f"It is {incident.policy.name} now." if plan is None else "This is what your retype would do now:"
    return _show(
        request,
        incident,
        asked if plan is not None else replace(asked, to=None),
        plan=plan,
        wrong=f"{what} after you opened this page. Nothing was done. {now}",
        meanwhile=meanwhile,
        causes=basis.changed(given.get("basis", ""), plan.basis) if plan is not None else (),
    )


def _not_there(slug: str) -> str:
    """Say that a type cannot be chosen, for example because someone archived it after its plan was shown."""
    archived = IncidentType.objects.filter(slug=slug).exclude(archived_at=None).select_related("current").first()
    why = "There is no such type." if archived is None else f"{archived.policy.name} was archived."
    return f"{why} Nothing was done. Choose another type."


def _who_retyped(event: Event) -> str:
    who = isolated(event.by.name) if event.by else "The terminal"
    return f"{who} retyped it from {event.data['from_name']} to {event.data['to_name']}"


def _meanwhile(request: Request, incident: Incident, n: int | None) -> Meanwhile:
    """Return what was written since the page was opened: it may be why the plan changed."""
    if n is None:
        return NOTHING
    found = timeline.since(incident, n).exclude(kind__in=OUR_OWN).order_by("-n")
    retyped = found.filter(kind="retyped").first()
    others = found if retyped is None else found.exclude(pk=retyped.pk)
    newest = timeline.one_by_one(others[:MEANWHILE], reader=request.person)
    return Meanwhile(retyped, newest, others.count() - len(newest))


def _show(
    request: Request,
    incident: Incident,
    asked: RetypeQuery,
    *,
    plan: Plan | None = None,
    wrong: str = "",
    meanwhile: Meanwhile = NOTHING,
    causes: Sequence[str] = (),
) -> HttpResponse:
    if plan is None and asked.to is not None:
        plan = retyping.preview(incident, to=asked.to, by=request.person, bring=asked.bring, come=asked.come)
    context = _context(request, incident, asked, plan) | {
        "wrong": wrong,
        "meanwhile": [(one, timeline.sentence(one)) for one in meanwhile.newest],
        "more": meanwhile.more,
        "causes": causes,
    }
    fragment = request.htmx and not request.htmx.history_restore_request
    name = "workflows/retype.html" + ("#asked" if fragment else "")
    return render(request, name, context, status=UNPROCESSABLE if wrong else 200)


def _context(request: Request, incident: Incident, asked: RetypeQuery, plan: Plan | None) -> dict[str, Any]:
    types = IncidentType.objects.filter(archived_at=None).select_related("current")
    moves = asked.to is not None and moves_room(incident.private, asked.to.policy)
    shown = request.POST.get("shown", "")
    counted = moves and bool({"count", "counted"} & request.POST.keys())
    return {
        "incident": incident,
        "policy": incident.policy,
        "types": types,
        "taken": {one.pk for one in types if not lifecycle.may_retype(incident, one)},
        "to": asked.to,
        "chosen": asked.to.policy if asked.to else None,
        "moves": moves,
        "responders": _responders(incident, request.person) if moves else [],
        "staying": _staying(incident, request.person) if moves else "",
        "come": asked.come,
        "bring": asked.ids,
        "counted": counted,
        "left": residual_content.now(incident) if counted else None,
        "because": request.POST.get("because", request.GET.get("because", "")),
        "plan": plan,
        "lines": [(line, bool(shown) and mark(line) not in shown) for line in plan.lines] if plan else [],
        "basis": basis.kept(plan.basis) if plan else "",
        "shown": " ".join(mark(line) for line in plan.lines) if plan else "",
    }


def mark(line: PlanLine) -> str:
    """Return a short name for a line, so that a changed plan can show which lines are new."""
    return sha256(str(line).encode()).hexdigest()[:6]


def _responders(incident: Incident, person: Person) -> list[Person]:
    """Return the current responders who would be left behind unless they are picked."""
    staying = {person.pk, *(one.pk for one in circle.staying(incident, by=person, come=True))}
    return [one.person for one in visibility.readers(incident) if one.person_id not in staying and one.person.can_join]


def _staying(incident: Incident, person: Person) -> str:
    """Say who else stays in without being picked: *Ana Ruiz (leads), Dee Ito (declared it)*."""
    kept = circle.staying(incident, by=person, come=False)
    return ", ".join(f"{isolated(one.name)} ({why})" for one, (_, why) in kept.items())
