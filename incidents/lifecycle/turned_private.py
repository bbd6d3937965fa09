"""What else happens when an incident turns private: its duplicates stop naming it, and its replays close with it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import F

from incidents import hints, timeline, visibility
from incidents.lifecycle import ending, rules
from incidents.models import Incident, Participant, Replay

CLOSED: Final = ("private", "closed_at", "lead", "roles", "room", "archive_asked")
WHY: Final = "the incident it replays is private now."
NOBODY: Final = "No one in it is allowed to see the incident that it replays."


def follow(incident: Incident, *, at: datetime) -> None:
    """Update duplicates and replays, in the transaction that turned an incident private, after that is written."""
    _unname(incident)
    _close_replays(incident, at=at)


def _unname(incident: Incident) -> None:
    """Give its duplicates a new revision, so that messages naming it where their people talk are rewritten."""
    duplicates = Incident.objects.filter(duplicate_of=incident)
    duplicates.update(revision=F("revision") + 1)
    for one in duplicates.only("pk"):
        hints.tell(one)


def _close_replays(past: Incident, *, at: datetime) -> None:
    """Turn public replays private, because they show what is private now; cancel one that has no one left in it."""
    for drill in Incident.objects.filter(replays=past, private=False).only("pk").order_by("pk"):
        with rules.changing(drill, by=None) as now:
            _close(now, past, at=at)
            rules.save(now, *CLOSED)
            _unname(now)
        if now.is_active and not visibility.readers(now).exists():
            ending.cancel(now, by=None, at=at, text=NOBODY)


def _close(drill: Incident, past: Incident, *, at: datetime) -> None:
    """Keep in the drill only those who may see both, and move them to a private room."""
    here = Participant.objects.filter(incident=drill, left_at=None)
    staying = visibility.who_may_see(past.pk, among=set(here.values_list("person", flat=True)))
    here.exclude(person__in=staying).update(left_at=at)
    drill.private, drill.closed_at = True, at
    drill.lead = drill.lead if drill.lead_id in staying else None
    drill.roles = {role: holder for role, holder in drill.roles.items() if holder in staying}
    rules.take_room(drill)
    stopped = Replay.objects.filter(incident=drill, over_at=None).update(over_at=at, due_at=None, why=WHY)
    text = f"The replay has stopped: {WHY}" if stopped else "The replayed incident and this drill are private now."
    timeline.append(drill, "replay_over", at=at, text=text, data={"room": drill.room})
