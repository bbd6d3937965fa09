"""Whether what somebody asks for is carried out now: said before they ask for it, and when they did."""

from __future__ import annotations

from django.utils import timezone

from integrations.slack.protocol import blocks, mrkdwn
from workflows.status import workers


def none_does() -> str:
    """Say since when nothing is carried out; empty while a worker lives."""
    since = workers.gone_since(at=timezone.now())
    if since is None:
        return ""
    return (
        f":warning: *Nothing is being carried out* since {mrkdwn.when(since)}: no worker of Firekind is running. What "
        "you ask for is recorded, and done once one is. Until then, page and invite people yourself."
    )


def posted() -> str:
    """Say what becomes of something that is told in a channel: *posted in* it, or nothing yet while no worker lives."""
    return "recorded for" if none_does() else "posted in"


def said(done: str) -> str:
    """Say what was done and, while no worker lives, that nothing follows from it yet."""
    warning = none_does()
    return f"{done}\n{warning}" if warning and warning not in done else done


def warned() -> list[blocks.Block]:
    """Say the same where somebody is about to ask for something."""
    said = none_does()
    return [blocks.section(said)] if said else []
