"""The tracker that settings name, one adapter a process."""

from __future__ import annotations

import importlib
from typing import Final

from integrations.trackers.protocol import setup
from integrations.trackers.protocol.setup import Setup
from workflows.tracker_port import Tracker

# By the word of TRACKER: the module and its class, imported when it is the one.
ADAPTERS: Final = {
    "github": ("integrations.trackers.adapter.github", "GitHubIssues"),
    "gitlab": ("integrations.trackers.adapter.gitlab", "GitLabIssues"),
    "jira": ("integrations.trackers.adapter.jira", "JiraIssues"),
    "linear": ("integrations.trackers.adapter.linear", "LinearIssues"),
}
_made: dict[int, tuple[Setup, Tracker]] = {}


def tracker() -> Tracker | None:
    """Return the tracker as settings name it; None when follow-ups stay here."""
    given = setup.current()
    if given is None:
        return None
    kept = _made.get(0)
    if kept is None or kept[0] != given:
        module, name = ADAPTERS[given.kind]
        kept = _made[0] = (given, getattr(importlib.import_module(module), name)(given))
    return kept[1]
