"""The Home tab: what waits for its viewer, and the open incidents that they may see."""

from __future__ import annotations

from integrations.slack.interaction.slack_event import Deed, SlackEvent
from integrations.slack.listeners import home_tab


def opened(told: SlackEvent) -> Deed | None:
    """Draw the tab when someone opens it. Drawing it twice does no harm, so nothing has to be recorded."""
    if told.text("tab") == "home":
        home_tab.draw(told.text("user"))
    return None
