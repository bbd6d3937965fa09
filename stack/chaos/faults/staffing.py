"""Membership of user groups changes while people respond, and someone leaves the company."""

from __future__ import annotations

from collections.abc import Sequence

from stack.outside import SandboxWorkspace


def regroup(workspace: SandboxWorkspace, *, nth: int, members: Sequence[str]) -> None:
    """Replace the members of one of the existing groups, by handle, without people who left the company."""
    state = workspace.state()
    here = {one["handle"] for one in state["people"] if not one["deleted"]}
    groups = sorted(one["handle"] for one in state["groups"])
    workspace.act("group", handle=groups[nth % len(groups)], members=[one for one in members if one in here])


def deactivate(workspace: SandboxWorkspace, who: str) -> None:
    """Deactivate someone's account, if they are still here; Slack removes them from all channels and groups."""
    if any(one["handle"] == who and not one["deleted"] for one in workspace.state()["people"]):
        workspace.act("deactivate", user=who)
