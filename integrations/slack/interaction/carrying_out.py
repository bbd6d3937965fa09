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


def warned() -> list[blocks.Block]:
    """Say the same where somebody is about to ask for something."""
    said = none_does()
    return [blocks.section(said)] if said else []
