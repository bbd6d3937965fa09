"""The reviews that someone may see, by state."""

from __future__ import annotations

from typing import Final

from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from incidents import visibility
from incidents.drills import sample_mark
from incidents.models import Status
from incidents.views.detail.page_reading import tints
from incidents.views.signed_in import Request, signed_in
from reviews.models import Review, ReviewState

MOST: Final = 200  # for each state, the newest
LATELY: Final = 500  # recently resolved incidents that are searched for ones without a review
HEADINGS: Final = {
    ReviewState.MEETING: "Meeting planned",
    ReviewState.DRAFT: "Drafts",
    ReviewState.PUBLISHED: "Published",
}


@require_GET
@signed_in
def listing(request: Request) -> HttpResponse:
    """Show reviews by state, and recently resolved incidents without one."""
    seen = visibility.visible_to(request.person).select_related("type", "policy_version")
    found = (
        Review.objects.filter(incident__in=seen)
        .select_related("incident__policy_version")
        .defer("incident__words")
        .order_by("-changed_at")
    )
    counts = dict(found.order_by().values_list("state").annotate(count=Count("pk")))
    states = [
        (counts.get(state, 0), state, heading, list(found.filter(state=state)[:MOST]))
        for state, heading in HEADINGS.items()
    ]
    lately = seen.filter(is_drill=False, status=Status.RESOLVED).order_by("-ended_at")[:LATELY]
    waiting = seen.filter(pk__in=lately.values("pk"), review=None).order_by("-ended_at")[:10]
    listed = [*waiting, *(review.incident for *_, reviews in states for review in reviews)]
    context = {
        "here": "reviews",
        "states": [one for one in states if one[0]],
        "waiting": waiting,
        "samples": sample_mark.among(listed),
        "tints": tints(),
    }
    return render(request, "reviews/list.html", context)
