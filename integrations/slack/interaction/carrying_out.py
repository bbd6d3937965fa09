"""Warn people, before and after they ask for something, while no worker is running to carry it out."""

from __future__ import annotations

from django.utils import timezone

from integrations.slack.protocol import blocks, mrkdwn
from workflows.status import workers


def none_does() -> str:
    """Return a warning with the time since when nothing is carried out; empty while a worker is alive."""
    since = workers.gone_since(at=timezone.now())
    if since is None:
        return ""
    return (
        f":warning: *Nothing has been carried out* since {mrkdwn.when(since)}: no worker of Firekind is running. What "
        "you ask for is recorded, and done once one is. Until then, page and invite people yourself."
    )


def posted() -> str:
    """Return *posted in* for a message to a channel, or *recorded for* while no worker is alive."""
    return "recorded for" if none_does() else "posted in"


def said(done: str) -> str:
    """Return what was done, with a warning while no worker is alive that nothing follows from it yet."""
    warning = none_does()
    return f"{done}\n{warning}" if warning and warning not in done else done


def warned() -> list[blocks.Block]:
    """Return the same warning as blocks, for a form that someone is about to submit."""
    said = none_does()
    return [blocks.section(said)] if said else []
