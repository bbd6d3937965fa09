"""The pages of user groups that follow on-call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from incidents import lifecycle
from incidents.models import Person
from incidents.second_manager import proposals, seconding
from incidents.views.allowed import needs, refused
from incidents.views.signed_in import Request, signed_in
from workflows import ports
from workflows.models import GroupRule
from workflows.oncall import freshness
from workflows.usergroups import changes, group_rules, rule_display, sync, workspace_cache
from workflows.usergroups.history import Synced
from workflows.views.oncall.group_form import GroupForm
from workflows.views.oncall.members import member_or_404

UNPROCESSABLE = 422
HISTORY = 50
Change = changes.AddGroup | changes.EditGroup

SAVED = "@{} is now synced. It updates within seconds."


@require_GET
@signed_in
def listing(request: Request) -> HttpResponse:
    """Show every synced group, who is in it now and after the next handover, and any problems."""
    member_or_404(request.person)
    at = timezone.now()
    rows, fresh = rule_display.rows(GroupRule.objects.all(), at=at), freshness.of(at=at)
    blocked = {row.rule.says for row in rows if row.rule.active and row.rule.state == GroupRule.State.FAILED}
    shared = [says for says in blocked if sum(row.rule.says == says for row in rows) > 1]
    context = {
        "rows": rows,
        "shared": shared,
        "connected": ports.chat() is not None,
        "fresh": fresh,
        "said": fresh.words(at=at),
    }
    return render(request, "workflows/groups.html", _page(context))


@require_http_methods(["GET", "POST"])
@signed_in
@needs("groups")
def add(request: Request) -> HttpResponse:
    """Add a group, after a preview of what would change."""
    return _write(request, GroupForm(_posted(request)), rule=None)


@require_http_methods(["GET", "POST"])
@signed_in
@needs("groups")
def edit(request: Request, pk: int) -> HttpResponse:
    """Edit what a group follows, after a preview of what would change."""
    rule = get_object_or_404(GroupRule, pk=pk)
    return _write(request, GroupForm(_posted(request), rule=rule), rule=rule)


@require_GET
@signed_in
def rule(request: Request, pk: int) -> HttpResponse:
    """Show one group: its status, what a sync would change, and its history."""
    member_or_404(request.person)
    return _one(request, get_object_or_404(GroupRule, pk=pk), dry="dry" in request.GET)


@require_http_methods(["GET", "POST"])
@signed_in
@needs("groups")
def remove(request: Request, pk: int) -> HttpResponse:
    """Ask for confirmation to delete a rule, or delete it."""
    rule = get_object_or_404(GroupRule, pk=pk)
    if request.method == "POST":
        group_rules.remove(rule, by=request.person, at=timezone.now())
        messages.success(request, f"@{rule.handle} is no longer synced. Its members stay.")
        return redirect("oncall-groups")
    return render(request, "workflows/group_delete.html", _page({"rule": rule}))


@require_POST
@signed_in
def act(request: Request, pk: int, verb: str) -> HttpResponse:
    """Sync a group now, which everyone may do; or pause or resume it."""
    member_or_404(request.person)
    if verb not in VERBS:
        raise Http404("No such verb.")
    if verb != "sync" and (refusal := refused(request, "groups")):
        return refusal
    rule = get_object_or_404(GroupRule, pk=pk)
    try:
        messages.success(request, VERBS[verb](rule, request.person))
    except lifecycle.Refused as says:
        messages.error(request, str(says))
    return redirect("oncall-group", pk=rule.pk)


def _sync(rule: GroupRule, by: Person) -> str:
    if ports.chat() is None:
        return "Slack isn't connected, so groups can't be changed."
    found = sync.sync(at=timezone.now(), only=[rule.handle])
    return _told(found[0]) if found else "It's being synced right now."


def _told(synced: Synced) -> str:
    if synced.says:
        return synced.says
    if not synced.joined and not synced.left:
        return f"@{synced.handle} is already up to date."
    return f"@{synced.handle} is up to date: {len(synced.joined)} joined, {len(synced.left)} left."


def _pause(rule: GroupRule, by: Person) -> str:
    group_rules.pause(rule, by=by, at=timezone.now())
    return f"@{rule.handle} won't change until you resume it."


def _resume(rule: GroupRule, by: Person) -> str:
    made = proposals.make(changes.ResumeGroup.of(rule), by=by, at=timezone.now())
    return made.words(SAVED.format(rule.handle))


VERBS: Mapping[str, Callable[[GroupRule, Person], str]] = {"sync": _sync, "pause": _pause, "resume": _resume}


def _posted(request: Request) -> Any:
    return request.POST if request.method == "POST" else None


def _one(request: Request, rule: GroupRule, *, dry: bool) -> HttpResponse:
    [row] = rule_display.rows(GroupRule.objects.filter(pk=rule.pk), at=timezone.now())
    context = {"row": row, "rule": row.rule, "dry": dry, "history": rule_display.past(rule, most=HISTORY)}
    return render(request, "workflows/group.html", _page(context))


def _write(request: Request, form: GroupForm, *, rule: GroupRule | None) -> HttpResponse:
    """Show the form, with a dry run once it is valid; save it if it was submitted as previewed."""
    finding = "find" in request.POST
    right = form.is_bound and form.is_valid() and not finding
    change = _change(form, rule) if right else None
    if change is not None and request.POST.get("save") == form.digest():
        return _saved(request, change)
    now = timezone.now()
    run = (
        rule_display.dry_run(form.group(), sources=form.chosen(), permanent=form.permanent(), at=now) if right else None
    )
    context = {
        "form": form,
        "rule": rule,
        "run": run,
        "second": seconding.who(request.person) if change is not None and change.opens() else "",
        "finding": finding,
        "unread": workspace_cache.never_read(),
        "fresh": freshness.of(at=now),
    }
    status = UNPROCESSABLE if form.is_bound and not right and not finding else 200
    return render(request, "workflows/group_write.html", _page(context), status=status)


def _change(form: GroupForm, rule: GroupRule | None) -> Change:
    if rule is None:
        return changes.AddGroup(form.group(), form.asked())
    return changes.EditGroup.of(rule, form.asked(), was=form.was)


def _saved(request: Request, change: Change) -> HttpResponse:
    try:
        made = proposals.make(change, by=request.person, at=timezone.now())
    except lifecycle.Refused as says:
        messages.error(request, str(says))
        return redirect("oncall-groups")
    if made.proposal is not None:
        messages.success(request, made.words(""))
        return redirect(made.proposal)
    messages.success(request, made.words(SAVED.format(change.handle)))
    return redirect("oncall-group", pk=GroupRule.objects.get(handle=change.handle).pk)


def _page(context: dict[str, Any]) -> dict[str, Any]:
    return {"here": "oncall", "tab": "groups"} | context
