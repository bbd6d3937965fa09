"""The Web API: one module per family, one function per method."""

from __future__ import annotations

from . import (
    bookmarks,
    chat,
    conversations,
    files,
    history,
    membership,
    pins,
    reactions,
    team,
    unfurls,
    usergroups,
    users,
    views,
)
from .table import Method

METHODS: dict[str, Method] = {
    **team.METHODS,
    **conversations.METHODS,
    **membership.METHODS,
    **history.METHODS,
    **chat.METHODS,
    **unfurls.METHODS,
    **reactions.METHODS,
    **pins.METHODS,
    **bookmarks.METHODS,
    **users.METHODS,
    **usergroups.METHODS,
    **views.METHODS,
    **files.METHODS,
}
"""Every method the stand-in knows; `rules.RULES` has the same names."""
