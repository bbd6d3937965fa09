"""Celery tasks that redraw Home tabs which show an incident that is now private, or an action that has ended."""

from __future__ import annotations

from celery import shared_task

from incidents.claiming.glance import acts_on
from integrations.slack.models import OnHome


@shared_task
@acts_on(tabs=lambda _: OnHome.closable())
def redraw_homes() -> None:
    """Redraw the tabs that show something their owner can no longer see; safe to run twice."""
    if OnHome.closable().exists():
        from integrations.slack.listeners import home_tab  # it loads all of Slack's doors, which few workers need

        home_tab.redraw()


@shared_task
def refresh_homes() -> None:
    """Redraw the tabs that show something as in progress that has ended; safe to run twice."""
    if OnHome.passing().exists():
        from integrations.slack.listeners import home_tab  # it loads all of Slack's doors, which few workers need

        home_tab.refresh()
