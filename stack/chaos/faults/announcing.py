"""The announcement channel: people archive or rename it for a while, and bring it back."""

from __future__ import annotations

from typing import Final

from stack.chaos.scenario import ANNOUNCED
from stack.outside import SandboxWorkspace

ID: Final = "C0INCIDENTS"  # its id in the workspace, whatever its name
OTHER_NAME: Final = "outages"
OWNER: Final = "ada"  # who is in it in every house


def lose(workspace: SandboxWorkspace, how: str) -> None:
    """Archive or rename the channel, unless it is already archived."""
    now = _now(workspace)
    if now["is_archived"]:
        return
    if how == "archive_announcing":
        workspace.act("archive", user=OWNER, channel=now["name"])
    elif now["name"] == ANNOUNCED:
        workspace.act("rename", user=OWNER, channel=ANNOUNCED, name=OTHER_NAME)


def bring_back(workspace: SandboxWorkspace) -> None:
    """Make it a channel that Firekind may post in, however it was lost or drawn."""
    now = _now(workspace)
    if now["is_archived"]:
        workspace.act("unarchive", user=OWNER, channel=now["name"])
    if now["name"] != ANNOUNCED:
        workspace.act("rename", user=OWNER, channel=now["name"], name=ANNOUNCED)
    if now["is_private"]:
        workspace.act("invite", user=OWNER, channel=ANNOUNCED, who=["firekind"])


def _now(workspace: SandboxWorkspace) -> dict[str, object]:
    return next(one for one in workspace.state()["channels"] if one["id"] == ID)
