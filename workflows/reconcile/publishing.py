"""Where a summary will be published, for the domain to say before anyone writes or confirms one."""

from __future__ import annotations

from typing import Final

from incidents.lifecycle import opening
from incidents.models import Incident
from workflows.loading import load_facts

NO_CHAT: Final = "on a page. Slack is not connected, so a new public channel is opened for it once it is"


def where(incident: Incident) -> str:
    """Say where a summary of a private incident is published, to follow *it is published*."""
    known = load_facts.one(incident)
    facts, before = known.facts, known.observed.seen.get("outlet")
    if before is not None:
        return f"in place of the one before, on its page and in {before.label}"
    if not facts.chat:
        return NO_CHAT
    channel = facts.announces_in("notice")
    link = f", with a link in #{channel}" if channel else ""
    return f"on a page and in a new public channel under a different codename{link}"


opening.answers.append(where)
