"""The routes of every page and door."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path

from config.http import readiness


def health(request: HttpRequest) -> HttpResponse:
    """Answer that this process is up, without using the database or anything else."""
    return HttpResponse("ok", content_type="text/plain")


handler500 = "incidents.outages.outage_answer.failed"

urlpatterns = [
    path("health", health),
    path("ready", readiness.ready),
    path("", include("integrations.metrics.urls")),
    path("", include("integrations.slack.urls")),
    path("", include("integrations.pagerduty.urls")),
    path("", include("integrations.trackers.urls")),
    path("", include("integrations.api.urls")),
    path("", include("integrations.identity.urls")),
    path("", include("insights.urls")),
    path("", include("reviews.urls")),
    path("", include("workflows.urls")),
    path("", include("evidence.urls")),
    path("", include("incidents.urls")),
]
