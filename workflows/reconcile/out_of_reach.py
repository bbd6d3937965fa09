"""What ending an incident cannot reach right now, for the domain to say before anyone ends it."""

from __future__ import annotations

from collections.abc import Iterator

from incidents.lifecycle import ending
from incidents.models import Incident
from workflows.loading import load_facts
from workflows.planning.facts import Facts


def of_ending(incident: Incident) -> str:
    """Say which pages stay open and who is not told, in sentences; empty if everything is within reach."""
    facts = load_facts.one(incident).facts
    return " ".join([*_pages(facts), *_channel(facts)])


def _pages(facts: Facts) -> Iterator[str]:
    still_open = [one for one in facts.paged if one.is_open and not one.unsent]
    elsewhere = sum(one.elsewhere for one in still_open)
    if len(still_open) > elsewhere and not facts.pager:
        yield "PagerDuty is not connected, so open pages are resolved once it is."
    if elsewhere:
        one, it = ("1 page is", "it") if elsewhere == 1 else (f"{elsewhere} pages are", "them")
        yield f"{one} in a PagerDuty account that is no longer connected: resolve {it} there."


def _channel(facts: Facts) -> Iterator[str]:
    room = facts.room_of(facts.room)
    shown = f"#{room.shown}"
    if not facts.chat:
        yield "Slack is not connected, so nothing is posted there until it is."
    elif room.gone:
        yield f"{shown} is gone, so nothing is posted there."
    elif facts.is_there(f"archived/{facts.room}"):
        yield f"{shown} is archived, so nothing is posted there."
    elif room.outside:
        yield f"Firekind is no longer in {shown}, so nothing is posted there until it is invited again."


ending.limits.append(of_ending)
