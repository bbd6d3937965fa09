"""Which profiles a comparison is of, and their merged tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from django.http import Http404

from evidence.intake import made
from evidence.models import Evidence
from evidence.models.evidence import Kind, State
from evidence.views import leaving
from evidence.views.finding import tree_of
from incidents.forms.given import number, numbers
from incidents.models import Incident
from incidents.views.signed_in import Request, incident_or_404

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

MOST = 8  # profiles at once


@dataclass
class Sides:
    """What is compared: the control first, then the others; ``shown`` is the one drawn against the control.

    ``absolute`` says whether amounts are compared instead of shares.
    """

    incident: Incident
    profiles: list[Evidence]
    shown: int
    type: str
    absolute: bool = False

    @property
    def control(self) -> Evidence:
        """The profile that the others are measured against."""
        return self.profiles[0]

    @property
    def other(self) -> Evidence:
        """The profile that is drawn against the control."""
        return self.profiles[self.shown]

    @cached_property
    def trees(self) -> list[CallTree]:
        """Open the trees of all profiles."""
        return [tree_of(one) for one in self.profiles]

    @cached_property
    def types(self) -> list[int]:
        """Return which sample type of each is compared; raises ``compare.NotComparable``."""
        from evidence.analysis import compare

        return compare.same_type(self.trees, self.type)

    @cached_property
    def merged(self) -> CallTree:
        """Return the merged tree, with one sample type per profile; built on first use, and cached for a while."""
        from evidence.analysis import compare

        def merge() -> CallTree:
            return compare.merge(self.trees, types=self.types, labels=[str(one.n) for one in self.profiles])

        return made.merged([one.tree for one in self.profiles], types=self.types, merge=merge)


def sides_of(request: Request, codename: str) -> Sides:
    """Return what the URL compares; profiles that do not exist, or may not be seen, are all 404."""
    incident = incident_or_404(request.person, codename)
    control = number(request.GET.get("control"))
    asked = [one for one in dict.fromkeys(numbers(listed(request))) if one != control]
    ready = Evidence.objects.filter(incident=incident, kind=Kind.PROFILE, state=State.READY).exclude(tree="")
    wanted = [control, *asked[: MOST - 1]]
    found = {one.n: one for one in ready.select_related("added_by").filter(n__in=[n for n in wanted if n is not None])}
    if control is None or not asked or any(n not in found for n in wanted):
        raise Http404("No such comparison.")
    profiles = [found[n] for n in wanted if n is not None]
    for one in profiles:
        one.incident = incident
    leaving.looked_at(profiles, by=request.person)
    on = number(request.GET.get("on"))
    shown, type = wanted.index(on) if on in asked else 1, request.GET.get("sample", "")[:200]
    return Sides(incident, profiles, shown, type, absolute=request.GET.get("absolute") == "1")


def listed(request: Request) -> list[str]:
    """Return the values of ``with``, given more than once or separated by commas."""
    return [one for given in request.GET.getlist("with") for one in given.split(",")]
