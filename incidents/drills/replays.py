"""Replays: an ended incident happens again in a drill, entry by entry, and people first say what they would do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import QuerySet
from django.utils import timezone

from incidents import timeline, visibility
from incidents.claiming import apart
from incidents.claiming.shared_clock import clock
from incidents.drills import pacing
from incidents.drills.pacing import Pace, PastEntry, Step
from incidents.lifecycle import declaring, redaction, rules
from incidents.models import Event, Incident, IncidentType, Participant, Person, Replay, Source

SPEED: Final = 10
SPEEDS: Final = (1, 600)
SILENCE_S: Final = 120
THINKING_S: Final = 180
AT_MOST: Final = 100  # replays advanced in one look
ASKING: Final = "Say what you would do next, before you see what was done."
DECISIONS: Final = frozenset({"retyped", "led", "role", "paged", "mitigated", "resolved"})
# What is replayed: what people said, did and measured. Who was let in, and Firekind's own messages, are not.
PLAYED: Final = DECISIONS | {
    *("declared", "updated", "impact", "next_step", "task", "followup", "followup_done", "noted", "captured"),
    *("asked", "evidence", "claimed", "judged", "page", "alert", "renamed", "described", "served", "reopened"),
    *("cancelled", "brought", "checked"),
}


def start(
    incident: Incident, *, by: Person | None, at: datetime, source: str = Source.WEB, speed: int = SPEED
) -> Incident:
    """Open a drill that replays an ended incident ``speed`` times as fast; return the drill.

    It starts as the type that the incident was declared as. The replay of a private incident is private. Raises
    ``Refused`` for a drill and for an incident that has not ended, and ``BadInput`` for a speed out of range.
    """
    if not SPEEDS[0] <= speed <= SPEEDS[1]:
        raise rules.BadInput("speed", f"Use a speed from {SPEEDS[0]} to {SPEEDS[1]}.")
    with rules.changing(incident, by=by) as past:
        if past.is_drill:
            raise rules.Refused(f"{past.codename} is a drill; only what really happened is replayed.")
        if past.is_active:
            raise rules.Refused(f"{past.codename} is still {past.status}; replay it once it has ended.")
        title, type = f"Replay of {past.codename}", _first_type(past)
        drill = declaring.declare(title, by=by, at=at, source=source, type=type, is_drill=True, replays=past)
        Replay.objects.create(
            incident=drill,
            until_n=past.last_n,
            speed=speed,
            silence_s=SILENCE_S,
            thinking_s=THINKING_S,
            shown_at=clock.at(at),
            due_at=clock.at(at),
        )
    return drill


def show_next(incident: Incident, *, by: Person | None, at: datetime) -> None:
    """Show what happened next without waiting for its moment.

    Raises ``Refused`` if nothing is left, and while the drill has ended: its replay is paused until it is reopened.
    """
    if _play(incident, by=by, at=at, brings_forward=True):
        return
    if Replay.objects.filter(incident=incident, over_at=None).exists():
        raise rules.Refused(f"{incident.codename} has ended. Reopen it to go on with its replay.")
    raise rules.Refused("This replay is over.")


def answer(incident: Incident, *, text: str, by: Person | None, at: datetime, source: str = Source.WEB) -> Event:
    """Record what a participant would do next; raise ``Refused`` if no question is open."""
    text = rules.text(text)
    with rules.changing(incident, by=by) as now:
        last = Event.objects.filter(incident=now, kind__in=["replay_asked", "replayed"]).order_by("-n").first()
        if last is None or last.kind != "replay_asked" or not now.is_active:
            raise rules.Refused("No question is open right now. Wait for the next one.")
        data = {"room": now.room, "asked": last.n}
        return timeline.append(now, "would_do", at=at, by=by, source=source, text=text, data=data)


def advance(*, at: datetime) -> int:
    """Show what is due in every replay; return how many advanced. Running it again shows nothing twice."""
    found = due(clock.at(at)).order_by("due_at").select_related("incident").defer("incident__words")
    return apart.each(found[:AT_MOST], lambda one: _play(one.incident, by=None, at=at), what="replays")


def due(now: datetime) -> QuerySet[Replay]:
    """Return the replays that have something to show, by the clock that all processes share."""
    return Replay.objects.filter(due_at__lte=now, incident__active=True)


def steps_of(replay: Replay) -> tuple[Step, ...]:
    """Return all steps of a replay, computed each time: entries never change, and those added later are left out."""
    played = Event.objects.filter(incident=replay.past_id, n__lte=replay.until_n, kind__in=PLAYED)
    rows = played.order_by("at", "n").values_list("n", "at", "kind")
    pace = Pace(replay.speed, timedelta(seconds=replay.silence_s), timedelta(seconds=replay.thinking_s))
    return pacing.steps([PastEntry(n, at, kind in DECISIONS) for n, at, kind in rows], pace)


def _play(drill: Incident, *, by: Person | None, at: datetime, brings_forward: bool = False) -> bool:
    """Show what is due, or the next step if ``brings_forward``; return whether anything advanced.

    Both incidents are locked, so that redacting an entry of the past incident, or making it private, happens either
    before or after.
    """
    with rules.changing(drill, by=by, beside=drill.replays) as now:
        replay = Replay.objects.filter(incident=now, over_at=None).first()
        if replay is None or not now.is_active:
            return False
        replay.incident = now
        past = Incident.objects.get(pk=replay.past_id)
        if why := _barrier(now, past):
            _end(now, replay, why, at=at)
            return True
        planned, shared = steps_of(replay), clock.at(at)
        found = list(pacing.due(planned, shown=replay.shown, shown_at=replay.shown_at, at=shared))
        if brings_forward and not found:
            found = [(step, shared) for step in planned[replay.shown : replay.shown + 1]]
        _show(now, past, [step for step, _ in found], at=at)
        replay.shown += len(found)
        replay.shown_at = found[-1][1] if found else replay.shown_at
        replay.due_at = pacing.next_at(planned, shown=replay.shown, shown_at=replay.shown_at)
        replay.save(update_fields=["shown", "shown_at", "due_at"])
        if replay.due_at is None:
            _end(now, replay, "", at=at)
        rules.save(now)
    return bool(found)


def _barrier(drill: Incident, past: Incident) -> str:
    """Return why nothing more may be shown, because someone would read what they may not see; empty if it may."""
    if past.private and not drill.private:
        return "the incident it replays is private now."
    here = Participant.objects.filter(incident=drill, left_at=None, person__deactivated=False, person__is_bot=False)
    ids = set(here.values_list("person", flat=True))
    if visibility.who_may_see(past.pk, among=ids) != ids:
        return "someone in it isn't allowed to see the incident it replays."
    return ""


def _end(drill: Incident, replay: Replay, why: str, *, at: datetime) -> None:
    text = f"The replay has stopped: {why}" if why else "The replay is over. Compare what was said with what was done."
    timeline.append(drill, "replay_over", at=at, text=text, data={"room": drill.room})
    replay.over_at, replay.due_at, replay.why = at, None, why
    replay.save(update_fields=["over_at", "due_at", "why"])
    rules.save(drill)


def _show(drill: Incident, past: Incident, steps: Sequence[Step], *, at: datetime) -> None:
    """Write the next steps to the drill's timeline as the past incident reads now: edited, retracted or redacted."""
    events = Event.objects.filter(incident=past, n__in={step.n for step in steps}).select_related("by")
    entries = {one.event.n: one for one in timeline.entries(timeline.naming(events, reader=visibility.EVERYONE))}
    for step in steps:
        data: dict[str, Any] = {"room": drill.room, "past": step.n}
        if step.asks:
            timeline.append(drill, "replay_asked", at=at, text=ASKING, data=data)
            continue
        entry = entries[step.n]
        into_s = max((entry.event.at - past.declared_at).total_seconds(), 0)
        who = entry.event.by.name if entry.event.by else ""
        data |= {"by": who, "label": entry.kind.label, "into_s": int(into_s)}
        timeline.append(drill, "replayed", at=at, text=entry.sentence, data=data)


def _first_type(past: Incident) -> IncidentType | None:
    """Return the type that the incident was declared as, if that is still in use."""
    first = Event.objects.filter(incident=past, n=1).values_list("data", flat=True).first()
    slug = str(first.get("type", "")) if first else ""
    return IncidentType.objects.usable().select_related("current").filter(slug=slug).first()


def forget(past: Incident, _said: Sequence[str]) -> None:
    """Redact in replays the entries whose words were redacted in the past incident."""
    let_go(past, Event.objects.filter(incident=past).exclude(redacted=None).values_list("n", flat=True))


def let_go(past: Incident, entries: Iterable[int]) -> None:
    """Redact in replays some entries of the past incident, by their numbers, whatever they read there now.

    Other replayed entries stay, even if they contain the same words, as they stay in the past incident.
    """
    shown = Event.objects.filter(incident__replays=past, kind="replayed", redacted=None, data__past__in=[*entries])
    for one in shown.select_related("incident").defer("incident__words"):
        redaction.redact(one.incident, n=one.n, by=None, at=timezone.now(), source=Source.SYSTEM)
