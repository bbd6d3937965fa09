"""The door for Prometheus: closed until ``METRICS_TOKEN`` is set, then open to that token only."""

from __future__ import annotations

from functools import cache
from secrets import compare_digest
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from integrations.metrics.reading import Readings


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return every metric in Prometheus's text format."""
    token = settings.FIREKIND.metrics_token
    if not token:
        raise Http404("There are no metrics.")
    sent = request.headers.get("Authorization", "")
    if not compare_digest(sent.encode(), f"Bearer {token}".encode()):
        return HttpResponse(
            "Send METRICS_TOKEN as a bearer token.\n", status=401, headers={"WWW-Authenticate": "Bearer"}
        )
    return _told()


def _told() -> HttpResponse:
    from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest

    from integrations.metrics.reading import WebCounts

    registry = CollectorRegistry()
    registry.register(readings())
    registry.register(WebCounts())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


@cache
def readings() -> Readings:
    """Return this process's reader of metrics, which all requests share."""
    from integrations.metrics.reading import Readings

    return Readings()
