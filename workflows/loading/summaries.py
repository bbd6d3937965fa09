"""What private incidents publish, as planning needs it."""

from __future__ import annotations

from collections.abc import Collection

from django.conf import settings

from incidents.models import Summary
from workflows.planning.facts import Published


def published(incidents: Collection[int]) -> dict[int, Published]:
    """Return the newest summary that two people confirmed, by incident: one query, or none without incidents."""
    if not incidents:
        return {}
    rows = Summary.objects.filter(incident__in=incidents, published_at__isnull=False).order_by("pk")
    return {row.incident_id: _published(row) for row in rows}


def _published(summary: Summary) -> Published:
    prefix = settings.FIREKIND.slack.channel_prefix if settings.FIREKIND.slack else "inc"
    url = f"{settings.FIREKIND.base_url}{summary.get_absolute_url()}"
    return Published(summary.codename, f"{prefix}-{summary.codename}", summary.text, url)
