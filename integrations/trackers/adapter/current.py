"""The configured tracker, one adapter per process."""

from __future__ import annotations

import importlib
from typing import Final

from integrations.trackers.protocol import setup
from integrations.trackers.protocol.setup import Setup
from workflows.tracker_port import Tracker

# The module and class for each value of TRACKER; only the one in use is imported.
ADAPTERS: Final = {
    "github": ("integrations.trackers.adapter.github", "GitHubIssues"),
    "gitlab": ("integrations.trackers.adapter.gitlab", "GitLabIssues"),
    "jira": ("integrations.trackers.adapter.jira", "JiraIssues"),
    "linear": ("integrations.trackers.adapter.linear", "LinearIssues"),
}
_made: dict[int, tuple[Setup, Tracker]] = {}


def tracker() -> Tracker | None:
    """Return the configured tracker; None when follow-ups stay in Firekind."""
    given = setup.current()
    if given is None:
        return None
    kept = _made.get(0)
    if kept is None or kept[0] != given:
        module, name = ADAPTERS[given.kind]
        kept = _made[0] = (given, getattr(importlib.import_module(module), name)(given))
    return kept[1]
