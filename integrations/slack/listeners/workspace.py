"""What changes in the workspace itself: people and groups are read anew soon."""

from __future__ import annotations

from integrations.slack.delivered import Deed, Delivered
from workflows import directory


def changed(told: Delivered) -> Deed | None:
    """Note that what we know of people and groups is old."""
    return directory.mark_stale
