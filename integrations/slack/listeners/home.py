"""The Home tab: the open incidents that its viewer may see, with what can be done about each."""

from __future__ import annotations

from integrations.slack import homes
from integrations.slack.delivered import Deed, Delivered


def opened(told: Delivered) -> Deed | None:
    """Draw the tab when someone opens it. Drawing it twice does no harm, so nothing is owed here."""
    if told.text("tab") == "home":
        homes.draw(told.text("user"))
    return None
