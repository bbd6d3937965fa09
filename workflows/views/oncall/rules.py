"""The page of declare rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from incidents import visibility
from incidents.lifecycle import Refused
from incidents.models import IncidentType, Person
from incidents.views.allowed import needs
from incidents.views.signed_in import Request, signed_in
from workflows.alerts import declare_rules, matching, storms
from workflows.models import DeclareRule
from workflows.views.oncall.members import member_or_404
from workflows.views.oncall.rule_form import RuleForm, TryForm, services

UNPROCESSABLE = 422


@require_GET
@signed_in
def listing(request: Request) -> HttpResponse:
    """Show every rule in order, and which of them would match a test incident."""
    member_or_404(request.person)
    taken = Q(
        alerts__at__gt=timezone.now() - declare_rules.LOOKED_BACK,
        alerts__incident__in=visibility.visible_to(request.person),
    )
    rules = DeclareRule.objects.select_related("type__current").annotate(taken=Count("alerts", filter=taken))
    rules = rules.order_by("position", "pk")  # annotating with a count drops the model's order
    form = TryForm(request.GET if "try" in request.GET else None)
    context = {
        "rules": rules,
        "services": dict(services()),
        "connected": settings.FIREKIND.pagerduty is not None,
        "form": form,
        "answer": _answer(form) if form.is_bound else None,
    }
    return render(request, "workflows/rules.html", _page(context))


@require_http_methods(["GET", "POST"])
@signed_in
@needs("rules")
def add(request: Request) -> HttpResponse:
    """Add a rule, or first see what it would have taken."""
    form = RuleForm(request.POST if request.method == "POST" else None)
    return _write(request, form, rule=None)


@require_http_methods(["GET", "POST"])
@signed_in
@needs("rules")
def edit(request: Request, pk: int) -> HttpResponse:
    """Change a rule, or first see what it would have taken."""
    rule = _find(pk)
    form = RuleForm(request.POST if request.method == "POST" else None, rule=rule)
    return _write(request, form, rule=rule)


@require_http_methods(["GET", "POST"])
@signed_in
@needs("rules")
def remove(request: Request, pk: int) -> HttpResponse:
    """Ask for confirmation to delete a rule, or delete it."""
    rule = _find(pk)
    if request.method == "POST":
        declare_rules.remove(rule, by=request.person)
        messages.success(request, f"Deleted rule “{rule.name}”.")
        return redirect("oncall-rules")
    return render(request, "workflows/rule_delete.html", _page({"rule": rule}))


@require_POST
@signed_in
@needs("rules")
def act(request: Request, pk: int, verb: str) -> HttpResponse:
    """Move a rule up or down, or switch it on or off."""
    if verb not in VERBS:
        raise Http404("No such verb.")
    VERBS[verb](_find(pk), request.person)
    return redirect("oncall-rules")


VERBS: Mapping[str, Callable[[DeclareRule, Person], None]] = {
    "up": lambda rule, by: declare_rules.move(rule, step=-1, by=by),
    "down": lambda rule, by: declare_rules.move(rule, step=1, by=by),
    "on": lambda rule, by: declare_rules.switch(rule, on=True, by=by),
    "off": lambda rule, by: declare_rules.switch(rule, on=False, by=by),
}


def _find(pk: int) -> DeclareRule:
    return get_object_or_404(DeclareRule.objects.select_related("type__current"), pk=pk)


def _write(request: Request, form: RuleForm, *, rule: DeclareRule | None) -> HttpResponse:
    """Show a rule's form with what the rule would have taken; save it if that was asked and it is valid."""
    right = form.is_bound and form.is_valid()
    if right and "try" not in request.POST:
        try:
            return _saved(request, form, rule)
        except declare_rules.RuleOvertaken as overtaken:
            form.overtaken(overtaken.now)
            right = False
        except Refused as refused:
            form.add_error(None, str(refused))
            right = False
    shown = _as_asked(form, rule) if right else rule if not form.is_bound else None
    tried = declare_rules.tried(shown, by=request.person, at=timezone.now()) if shown else None
    status = UNPROCESSABLE if form.is_bound and not right else 200
    context = {"form": form, "rule": rule, "tried": tried, "types": IncidentType.objects.usable()}
    return render(request, "workflows/rule.html", _page(context), status=status)


def _saved(request: Request, form: RuleForm, rule: DeclareRule | None) -> HttpResponse:
    if rule is None:
        rule = declare_rules.add(form.asked(), by=request.person, at=timezone.now())
    else:
        declare_rules.edit(rule, form.asked(), by=request.person, seen=form.cleaned_data["seen"])
    messages.success(request, f"Rule “{rule.name}” is on." if rule.active else "Saved. The rule is off.")
    return redirect("oncall-rules")


def _as_asked(form: RuleForm, rule: DeclareRule | None) -> DeclareRule:
    """Return the rule as it would be, unsaved."""
    kept = {"pk": rule.pk, "position": rule.position} if rule else {}
    return DeclareRule(**kept, **form.asked())


def _answer(form: TryForm) -> dict[str, Any] | None:
    """Return which rule would match the test incident, if any."""
    return {"rule": matching.first(storms.rules(), SimpleNamespace(**form.cleaned_data))} if form.is_valid() else None


def _page(context: dict[str, Any]) -> dict[str, Any]:
    return {"here": "oncall", "tab": "rules"} | context
