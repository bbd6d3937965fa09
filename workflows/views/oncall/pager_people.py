"""Who the pager can page and who they are here: matched, not matched, and corrected by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_http_methods

from incidents import lifecycle
from incidents.forms.people import joinable, suggested
from incidents.models import Person
from incidents.second_manager import circles, proposals, seconding
from incidents.views.allowed import needs
from incidents.views.signed_in import Request, signed_in
from workflows.models import PagerUser
from workflows.oncall import freshness
from workflows.oncall import people as joining
from workflows.usergroups.changes import MatchPager
from workflows.views.oncall.members import member_or_404

UNPROCESSABLE = 422
SHOWN = 100


@dataclass(frozen=True, slots=True)
class UnmatchedRow:
    """A pager user without a match, and why in words; ``ours`` is the one that opens our pages."""

    user: PagerUser
    says: str
    ours: bool


@require_GET
@signed_in
def people(request: Request) -> HttpResponse:
    """List pager users, unmatched first; filtered by name or email."""
    member_or_404(request.person)
    q = " ".join(request.GET.get("q", "").split())[:80]
    at = timezone.now()
    fresh = freshness.of(at=at)
    users = PagerUser.objects.filter(gone=False)
    here = users.filter(_named(q)) if q else users
    whys = joining.unmatched()
    matched = here.exclude(person=None).select_related("person", "matched_by")
    unmatched = [
        UnmatchedRow(user, whys[user.pk].says, whys[user.pk] is joining.OURS)
        for user in here.filter(person=None)
        if user.pk in whys
    ]
    context = {
        "here": "oncall",
        "tab": "people",
        "fresh": fresh,
        "said": fresh.words(at=at),
        "q": q,
        "total": users.count(),
        "matched_count": users.exclude(person=None).count(),
        "unmatched_count": len(whys),
        "unmatched": unmatched[:SHOWN],
        "matched": matched[:SHOWN],
        "more": max(len(unmatched), matched.count()) > SHOWN,
    }
    return render(request, "workflows/oncall_people.html", context)


@require_http_methods(["GET", "POST"])
@signed_in
@needs("match")
def match(request: Request, pk: int) -> HttpResponse:
    """Show people to match with a pager user; save the chosen one."""
    user = _user_or_404(pk)
    if request.method != "POST":
        return render(request, "workflows/oncall_match.html", _choice(request, user))
    person = joinable().filter(pk=_number(request.POST.get("person", ""))).first()
    if person is None:
        return _again(request, user, "Choose who it is.")
    try:
        made = proposals.make(MatchPager(user.pk, person.pk, user.person_id), by=request.person, at=timezone.now())
    except lifecycle.Refused as refused:
        return _again(request, user, str(refused))
    messages.success(request, made.words(f"{user.name} in PagerDuty is now matched with {person.name}."))
    return redirect(made.proposal or _next(request) or "oncall-people")


@require_http_methods(["GET", "POST"])
@signed_in
@needs("match")
def part(request: Request, pk: int) -> HttpResponse:
    """Ask for confirmation, then unlink a pager user from their person."""
    user = _user_or_404(pk)
    if user.person is None:
        return redirect("oncall-people")
    if request.method != "POST":
        return render(request, "workflows/oncall_part.html", {"here": "oncall", "user": user})
    joining.part(user, by=request.person, at=timezone.now())
    messages.success(request, f"Unlinked {user.name} in PagerDuty from {user.person.name}.")
    return redirect("oncall-people")


def _again(request: Request, user: PagerUser, wrong: str) -> HttpResponse:
    context = _choice(request, user) | {"wrong": wrong}
    return render(request, "workflows/oncall_match.html", context, status=UNPROCESSABLE)


def _choice(request: Request, user: PagerUser) -> dict[str, Any]:
    q = " ".join((request.POST or request.GET).get("q", "").split())[:80]
    found = suggested(q, by=request.person) if q else _alike(user, by=request.person)
    second = seconding.who(request.person) if circles.there_are() else ""
    about = {"next": _next(request), "people": reverse("oncall-people"), "second": second}
    return {"here": "oncall", "user": user, "q": q, "found": found, "chosen": _only(found)} | about


def _next(request: Request) -> str:
    """Return the local URL to go back to; empty if there is none."""
    to = (request.POST or request.GET).get("next", "")
    return to if to.startswith("/") and url_has_allowed_host_and_scheme(to, allowed_hosts=None) else ""


def _alike(user: PagerUser, *, by: Person) -> list[Person]:
    """Return people with the most similar names: the whole name, a word of it, else anyone."""
    for words in (user.name, *sorted(user.name.split(), key=len, reverse=True), ""):
        if found := suggested(words, by=by):
            return found
    return []


def _only(found: list[Person]) -> int | None:
    return found[0].pk if len(found) == 1 else None


def _named(q: str) -> Q:
    return Q(name__icontains=q) | Q(email__icontains=q) | Q(person__name__icontains=q)


def _user_or_404(pk: int) -> PagerUser:
    return get_object_or_404(PagerUser.objects.filter(gone=False).select_related("person"), pk=pk)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
