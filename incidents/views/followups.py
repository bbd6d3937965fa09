"""The follow-ups of all incidents that a person may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from incidents.followups import followup_lists
from incidents.forms.given import number
from incidents.views.signed_in import Request, signed_in

SHOWN: Final = 50
DEEPEST: Final = 1_000


@dataclass(frozen=True, slots=True)
class FollowupFilters:
    """The filters, as the address holds them."""

    mine: str = ""
    late: str = ""
    service: str = ""

    @classmethod
    def read(cls, given: QueryDict) -> FollowupFilters:
        """Read filters from a query string."""
        flags = {name: "1" for name in ("mine", "late") if given.get(name)}
        return cls(**flags, service=given.get("service", "").strip()[:80])

    def to(self, **changes: str) -> str:
        """Return the address of the list with some filters changed."""
        given = {"mine": self.mine, "late": self.late, "service": self.service} | changes
        query = urlencode({name: value for name, value in given.items() if value})
        return reverse("followups") + (f"?{query}" if query else "")


@signed_in
def listing(request: Request) -> HttpResponse:
    """List open follow-ups, earliest due date first: everyone's, mine, overdue ones, those of a service."""
    filters, today = FollowupFilters.read(request.GET), timezone.localdate()
    found = followup_lists.followups(request.person)
    if filters.mine:
        found = found.filter(owner=request.person)
    if filters.late:
        found = followup_lists.late(found, today=today)
    if filters.service:
        found = found.filter(incident__services__contains=[filters.service])
    start = min(number(request.GET.get("from")) or 0, DEEPEST)
    rows = list(found[start : start + SHOWN + 1])
    context = {
        "here": "followups",
        "filters": filters,
        "rows": [(one, one.is_late(today=today), followup_lists.stays_here(one.incident)) for one in rows[:SHOWN]],
        "further": filters.to(**{"from": str(start + SHOWN)}) if len(rows) > SHOWN and start < DEEPEST else "",
        "is_cut": len(rows) > SHOWN and start >= DEEPEST,
        "whose": [
            ("Everyone", filters.to(mine=""), not filters.mine),
            ("Mine", filters.to(mine="1"), bool(filters.mine)),
        ],
        "when": [("All", filters.to(late=""), not filters.late), ("Late", filters.to(late="1"), bool(filters.late))],
    }
    return render(request, "incidents/followups.html", context)
