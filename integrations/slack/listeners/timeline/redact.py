"""Redact or edit a timeline entry by its number."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from incidents import lifecycle, timeline
from incidents.models import Incident, Source
from incidents.timeline import TimelineEntry
from integrations.slack.interaction import incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn, setup

ENTRY: Final = re.compile(r"#?e?(?P<n>[0-9]{1,9})(?:\s+(?P<text>.+))?", re.ASCII | re.DOTALL)
WHICH: Final = "Its number is at the end of its link on the page."
LATELY: Final = 200  # recent entries that are searched for likely candidates
NAMED: Final = 5
WORDS: Final = 60  # characters shown of each


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Remove an entry's words for good. Only the lead may, and is told what remains."""
    said = ENTRY.fullmatch(asked.words.strip())
    if said is None or said["text"]:
        ask = f"Say which entry: `{setup.command()} redact 12`."
        return Say(_which(asked, incident, ask, lambda one: one.redactable and one.stands))
    lifecycle.redact(incident, n=int(said["n"]), by=asked.by, at=asked.at, source=Source.SLACK)
    name = incident_lookup.linked(incident)
    return Say(f"Entry {said['n']} of {name} is redacted. If it was a Slack message, delete it in Slack as well.")


def edit(asked: SlackRequest, incident: Incident) -> Answer:
    """Change an entry's words. Its author or the lead may; the previous words stay in its history."""
    said = ENTRY.fullmatch(asked.words.strip())
    if said is None or not said["text"]:
        ask = f"Say which entry, and what it should say: `{setup.command()} edit 12 carts fail`."
        return Say(_which(asked, incident, ask, lambda one: one.mendable and one.stands and _is_theirs(asked, one)))
    text = messages.typed(said["text"])
    lifecycle.edit(incident, n=int(said["n"]), text=text, by=asked.by, at=asked.at, source=Source.SLACK)
    return Say(f"Entry {said['n']} of {incident_lookup.linked(incident)} is changed. Its history shows what it said.")


def _is_theirs(asked: SlackRequest, entry: TimelineEntry) -> bool:
    return entry.event.by_id == asked.by.pk


def _which(asked: SlackRequest, incident: Incident, ask: str, fits: Callable[[TimelineEntry], bool]) -> str:
    """Ask for an entry's number, listing the most recent candidates with their first words."""
    lately = timeline.latest(incident, limit=LATELY, reader=asked.by)
    found = [one for one in reversed(lately) if one.text and fits(one)][:NAMED]
    if not found:
        return f"{ask} {WHICH}"
    said = (mrkdwn.escape(mrkdwn.cut(" ".join(one.text.split()), WORDS)) for one in found)
    return "\n".join((ask, *(f"`{one.event.n}`  {words}" for one, words in zip(found, said, strict=True))))
