"""What to compare: the measurements of an incident by kind, for a request that names none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from evidence.models import Evidence
from evidence.models.evidence import Kind, State
from evidence.related import alike
from incidents.views.signed_in import Request, incident_or_404

KINDS = (Kind.PROFILE, Kind.BENCHMARK, Kind.LOAD, Kind.COUNTS, Kind.SWEEP)
MOST = 60
MOST_AT_ONCE = 8
NOT_THERE = {State.WITHDRAWN: "was withdrawn", State.READING: "is still being processed"}


@dataclass(frozen=True, slots=True)
class ComparisonChoice:
    """Measurements that can be compared with each other, and the initial choice: one before, and others after."""

    called: str
    found: list[Evidence]
    timed: bool
    control: int
    others: list[int]


def page(request: Request, codename: str, *, says: str = "") -> HttpResponse:
    """Ask which measurements to compare; ``says`` is what was wrong with an earlier choice."""
    incident = incident_or_404(request.person, codename)
    ready = Evidence.objects.filter(incident=incident, state=State.READY, kind__in=KINDS).order_by("-n")
    newest = [*ready.select_related("added_by")[:MOST], *ready.filter(is_control=True)[:MOST_AT_ONCE]]
    found = sorted({one.n: one for one in newest}.values(), key=lambda one: one.n)
    profiles = [one for one in found if one.kind == Kind.PROFILE]
    groups = alike.grouped(profiles)
    kinds = [_choice(_called(group, among=groups), group.profiles, timed=True) for group in groups]
    kinds += [_choice(str(kind.label), [one for one in found if one.kind == kind]) for kind in KINDS[1:]]
    context: dict[str, Any] = {"incident": incident, "policy": incident.policy, "says": says}
    context["kinds"] = [one for one in kinds if len(one.found) > 1]
    context["alone"] = alike.alone(profiles, groups) if len(profiles) > 1 else []
    return render(request, "evidence/choose.html", context)


def not_there(request: Request, codename: str, wanted: Sequence[int]) -> str:
    """Say which of the measurements was withdrawn, or is not read yet; empty if none."""
    incident = incident_or_404(request.person, codename)
    found = Evidence.objects.filter(incident=incident, n__in=wanted, state__in=NOT_THERE).order_by("n")
    said = [f"Evidence {one.n} {NOT_THERE[State(one.state)]}." for one in found[:MOST_AT_ONCE]]
    return " ".join([*said, "Choose what to compare."]) if said else ""


def _choice(called: str, found: list[Evidence], *, timed: bool = False) -> ComparisonChoice:
    """Pick the control and, among profiles over time, the newest of the same program, else all that fit."""
    control = next((one for one in found if one.is_control), found[0] if found else None)
    if control is None:
        return ComparisonChoice(called, found, timed, 0, [])
    others = [one for one in found if one != control]
    picked = alike.newest_akin(control.pk, others) if timed else others[: MOST_AT_ONCE - 1]
    return ComparisonChoice(called, found, timed, control.n, [one.n for one in picked])


def _called(group: alike.AlikeProfiles, *, among: Sequence[alike.AlikeProfiles]) -> str:
    return "Profiles" if len(among) == 1 else f"Profiles that count {group.counts}"
