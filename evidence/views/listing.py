"""All evidence of an incident, and the ways to add more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.contrib import messages
from django.db.models import Max
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from evidence.intake import hints, receiving, withdrawing
from evidence.intake.forms import AddFile, AddLink
from evidence.models import Evidence
from evidence.models.evidence import State
from evidence.related import pairs, seen_before
from evidence.views.finding import evidence_of
from incidents import lifecycle
from incidents.forms.given import number
from incidents.models import Incident, Person
from incidents.views import panels
from incidents.views.panels import Panel, PanelState
from incidents.views.signed_in import Request, incident_or_404, signed_in
from incidents.written_rows import WrittenRows

UNPROCESSABLE, TOO_LARGE = 422, 413
SHOWN = 6
MOST = 200
EVIDENCE: Final = WrittenRows(Evidence, of="e", beside={"added_by": WrittenRows(Person, of="b")})
NEWEST_FIRST: Final = """
    FROM evidence_evidence e LEFT JOIN incidents_person b ON b.id = e.added_by_id
    WHERE e.incident_id = %s AND e.state <> %s AND e.n < %s ORDER BY e.n DESC LIMIT %s
"""
LAST: Final = (1 << 31) - 1  # no evidence has a larger number


@signed_in
def listing(request: Request, codename: str) -> HttpResponse:
    """Show all evidence, newest first; ``before`` is a number, and only older ones are shown."""
    incident = incident_or_404(request.person, codename)
    name = "evidence/list.html#all" if request.htmx else "evidence/list.html"
    return render(request, name, _context(request, incident))


def _read(request: Request, incident: Incident, found: Sequence[Evidence]) -> PanelState:
    context = _about(request, incident, found)
    total = f"{MOST}+" if len(found) == MOST else len(found)
    return PanelState("", context | {"evidence": context["evidence"][:SHOWN], "total": total})


@require_http_methods(["GET", "POST"])
@signed_in
def add(request: Request, codename: str) -> HttpResponse:
    """Add one or more dropped or chosen files, or a link."""
    incident = incident_or_404(request.person, codename)
    if request.method == "GET":
        return redirect("evidence-list", codename=incident.codename)
    form = AddLink(request.POST) if "link" in request.POST else AddFile(request.POST, request.FILES)
    added: list[Evidence] = []
    status = UNPROCESSABLE
    if form.is_valid():
        try:
            added = form.run(incident, by=request.person, at=timezone.now())
        except receiving.EvidenceTooLarge as error:
            form.add_error(None, str(error))
            status = TOO_LARGE
        except lifecycle.Refused as error:
            form.add_error(None, str(error))
    if request.headers.get("Accept", "").startswith("application/json"):
        return _answered(form, added, status)
    if form.errors:
        name = "link_form" if isinstance(form, AddLink) else "file_form"
        return render(request, "evidence/list.html", _context(request, incident) | {name: form}, status=status)
    messages.success(request, _said(added))
    return redirect("evidence-list", codename=incident.codename)


def _answered(form: AddFile | AddLink, added: list[Evidence], status: int) -> JsonResponse:
    """Respond to the page's script, which shows progress and errors next to each file."""
    if form.errors:
        said = " ".join(str(error) for errors in form.errors.values() for error in errors)
        return JsonResponse({"says": said}, status=status)
    return JsonResponse({"says": _said(added), "urls": [one.get_absolute_url() for one in added]}, status=201)


def _said(added: list[Evidence]) -> str:
    names = ", ".join(one.title for one in added)
    waits = any(one.state == State.READING for one in added)
    return f"Added {names}. Processing." if waits else f"Added {names}."


@require_http_methods(["GET", "POST"])
@signed_in
def withdraw(request: Request, codename: str, n: int) -> HttpResponse:
    """Ask for confirmation to withdraw evidence, or withdraw it."""
    evidence = evidence_of(request, codename, n)
    context: dict[str, Any] = {"incident": evidence.incident, "one": evidence, "policy": evidence.incident.policy}
    try:
        withdrawing.may(evidence, request.person)
        if request.method == "POST":
            because = request.POST.get("because", "")
            withdrawing.withdraw(evidence, by=request.person, at=timezone.now(), because=because)
            messages.success(request, f"Withdrew {evidence.title} and deleted its file.")
            return redirect("evidence-list", codename=evidence.incident.codename)
    except lifecycle.Refused as error:
        context["refused"] = str(error)
    return render(request, "evidence/withdraw.html", context, status=UNPROCESSABLE if "refused" in context else 200)


@require_POST
@signed_in
def read_again(request: Request, codename: str, n: int) -> HttpResponse:
    """Read evidence again that could not be read."""
    evidence = evidence_of(request, codename, n)
    again = receiving.read_again(evidence, by=request.person)
    messages.success(request, "Processing it again." if again else "There's nothing to process again.")
    return redirect(evidence)


def _context(request: Request, incident: Incident) -> dict[str, Any]:
    before = number(request.GET.get("before")) or LAST
    found = newest(incident, before=before)
    context = _about(request, incident, found)
    shown = {"since": _last(incident)}
    context |= {"before": before if before < LAST else None, "older": _older(found)}
    forms = {"file_form": AddFile(initial=shown), "link_form": AddLink(initial=shown)}
    reading = any(one.state == State.READING for one in found)
    more = {"policy": incident.policy, "reading": reading, "comparable": pairs.comparable(found)}
    more |= {"unread_since": hints.unread_since() if reading else None}
    withdrawable = {one.pk for one in found if one.is_withdrawable_by(request.person)}
    return {**context, **forms, **more, "withdrawable": withdrawable}


def _older(found: Sequence[Evidence]) -> int | None:
    """Return the number below which there is more than fits on a page; None if there is not."""
    if len(found) < MOST:
        return None
    older = Evidence.objects.filter(incident=found[-1].incident_id, n__lt=found[-1].n).exclude(state=State.WITHDRAWN)
    return found[-1].n if older.exists() else None


def _last(incident: Incident) -> int:
    return Evidence.objects.filter(incident=incident).aggregate(last=Max("n"))["last"] or 0


def _about(request: Request, incident: Incident, found: Sequence[Evidence]) -> dict[str, Any]:
    before = seen_before.of(incident, actor=request.person) if found else []
    return {"incident": incident, "evidence": found, "pairs": pairs.of(found), "seen_before": before}


def newest(incident: Incident, *, before: int = LAST) -> list[Evidence]:
    """Return evidence that was not withdrawn, newest first: one page, from below a number."""
    found = EVIDENCE.read(NEWEST_FIRST, [incident.pk, State.WITHDRAWN.value, min(before, LAST), MOST])
    for one in found:
        one.incident = incident
    return found


panels.register("evidence", Panel(_read, {"evidence": "evidence/panel.html"}, newest))
