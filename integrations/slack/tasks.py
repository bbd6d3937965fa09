"""Celery's part: Home tabs on which something stood that turned private."""

from __future__ import annotations

from celery import shared_task

from integrations.slack.models import OnHome


@shared_task
def redraw_homes() -> None:
    """Draw anew the tabs that show what their people may see no more; doing it twice does no harm."""
    if OnHome.objects.filter(incident__private=True).exists():
        from integrations.slack import homes  # it brings all of Slack's doors, which few workers need

        homes.redraw()
