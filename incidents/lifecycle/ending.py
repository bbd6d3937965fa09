from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F

from incidents import timeline
from incidents.lifecycle import rules
from incidents.models import Event, Incident, Person, Replay, Source, Status


@dataclass(frozen=True, slots=True)
class LifecycleStep:
    """One step of the lifecycle: the states it starts from, the state it leads to, and its kind of timeline entry."""

    verb: str
    kind: str
    of: frozenset[Status]
    to: Status


OPEN, MITIGATED = Status.OPEN, Status.MITIGATED
ENDED = frozenset({Status.RESOLVED, Status.CANCELLED, Status.DUPLICATE})
MITIGATE = LifecycleStep("mitigate", "mitigated", frozenset({OPEN}), MITIGATED)
RESOLVE = LifecycleStep("resolve", "resolved", frozenset({OPEN, MITIGATED}), Status.RESOLVED)
CANCEL = LifecycleStep("cancel", "cancelled", frozenset({OPEN, MITIGATED}), Status.CANCELLED)
DUPLICATE = LifecycleStep("duplicate", "duplicated", frozenset({OPEN, MITIGATED}), Status.DUPLICATE)
REOPEN = LifecycleStep("reopen", "reopened", ENDED | {MITIGATED}, OPEN)
STEPS = {one.verb: one for one in (MITIGATE, RESOLVE, CANCEL, DUPLICATE, REOPEN)}
# How each state reads, the kind of entry that leads to it, and what was done then.
STANDS = {
    OPEN: ("open", "reopened", "reopened it"),
    MITIGATED: ("mitigated", "mitigated", "mitigated it"),
    Status.RESOLVED: ("resolved", "resolved", "resolved it"),
    Status.CANCELLED: ("cancelled", "cancelled", "cancelled it"),
    Status.DUPLICATE: ("a duplicate", "duplicated", "marked it as one"),
}
DOES = {"duplicate": "mark it as a duplicate"}
# A higher layer knows who reopening pages and brings in again, and registers its answer here.
answers: Final[list[Callable[[Incident, Person | None], str]]] = []
# A higher layer also knows what an end cannot reach outside.
limits: Final[list[Callable[[Incident], str]]] = []
MOVES = {"mitigated", "resolved", "cancelled", "duplicated", "reopened"}
# The type decides who is told of an end, and the form that resolves it lists what is left undone.
OVERTAKEN_BY = {"cancel": {"retyped"}, "duplicate": {"retyped"}}
OVERTAKEN_BY["resolve"] = {"retyped", "task", "followup_reopened", "unchecked"}


def mitigate(
    incident: Incident,
    *,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    text: str = "",
    since: int | None = None,
) -> Incident:
    """Mark that the impact has stopped, although the incident is not over.

    Raises ``Refused`` if the status does not allow it, ``BadInput`` for a text that is too long.
    """
    return _step(incident, MITIGATE, by=by, at=at, source=source, text=text, since=since)


def resolve(
    incident: Incident,
    *,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    text: str = "",
    since: int | None = None,
) -> Incident:
    """Mark that it is over. Raises ``Refused`` if the status does not allow it, ``BadInput`` for too long a text."""
    return _step(incident, RESOLVE, by=by, at=at, source=source, text=text, since=since)


def cancel(
    incident: Incident,
    *,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    text: str = "",
    since: int | None = None,
) -> Incident:
    """Mark that it was not an incident after all.

    Raises ``Refused`` if the status does not allow it, ``BadInput`` for a text that is too long.
    """
    return _step(incident, CANCEL, by=by, at=at, source=source, text=text, since=since)


def reopen(
    incident: Incident,
    *,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    text: str = "",
    since: int | None = None,
    reach: str | None = None,
) -> Incident:
    """Undo that it was mitigated or over.

    ``reach`` is the text of ``reach_again`` that the actor read, None if none was shown. Raises ``Refused`` if the
    status does not allow it, ``Stale`` if it would reach other people by now, ``BadInput`` for a text that is too long.
    """
    return _step(incident, REOPEN, by=by, at=at, source=source, text=text, since=since, reach=reach)


def duplicate(
    incident: Incident,
    *,
    of: Incident,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    since: int | None = None,
) -> Incident:
    """End it as a duplicate of another incident, which the actor must be able to see.

    Raises ``BadInput`` if ``of`` is hidden from the actor, as if it did not exist. Raises ``Refused`` for itself, for a
    chain that would close, for a drill and a real incident, and if naming ``of`` would reveal that a private incident
    exists.
    """
    return _step(incident, DUPLICATE, by=by, at=at, source=source, since=since, of=of)


def reach_again(incident: Incident, *, by: Person | None) -> str:
    """Return a sentence about who reopening would reach, as this person may read it; empty if it is not known.

    No person means the terminal, which sees everything.
    """
    return " ".join(f"{one(incident, by)}." for one in answers)


def beyond_reach(incident: Incident) -> str:
    """Return sentences about pages that would stay open and people who would not be told; empty if there are none."""
    return " ".join(filter(None, (one(incident) for one in limits)))


def archive_channel(incident: Incident, *, by: Person | None, at: datetime, source: str = Source.WEB) -> Incident:
    """Request that the channel be archived. A bot cannot unarchive it: only a person can bring it back.

    Raises ``Refused`` while the incident is active.
    """
    with rules.changing(incident, by=by) as now:
        if now.is_active:
            raise rules.Refused(f"{now.codename} is still {now.status}; resolve or cancel it first.")
        if not now.archive_asked:
            now.archive_asked = True
            timeline.append(now, "archiving", at=at, by=by, source=source, data={"room": now.room})
            rules.save(now, "archive_asked")
    return now


def unarchived(incident: Incident) -> None:
    """Record that someone unarchived the channel by hand, which cancels the request to archive it."""
    with rules.changing(incident, by=None) as now:
        if now.archive_asked:
            now.archive_asked = False
            rules.save(now, "archive_asked")


def _step(
    incident: Incident,
    step: LifecycleStep,
    *,
    by: Person | None,
    at: datetime,
    source: str,
    text: str = "",
    since: int | None = None,
    of: Incident | None = None,
    reach: str | None = None,
) -> Incident:
    text = rules.text(text, needed=False)
    with rules.changing(incident, by=by, beside=of) as now:
        if why := _in_the_way(now, step):
            raise rules.Refused(why)  # checked before a stale form: reading what changed would not help
        rules.must_be_fresh(now, since=since, clash=MOVES | OVERTAKEN_BY.get(step.verb, set()))
        if reach is not None and by is not None and reach != reach_again(now, by=by):
            raise rules.ReachChanged
        of = _original(of, now, by=by) if of is not None else None
        now.status = step.to
        now.duplicate_of = of
        if step is REOPEN:
            _resume_replay(now, at=at)
        _stamp(now, step, at=at)
        data = {"room": now.room, **({"of": of.codename} if of else {})}
        timeline.append(now, step.kind, at=at, by=by, source=source, text=text, data=data)
        rules.save(now, "status", "duplicate_of", "mitigated_at", "ended_at", "update_due_at", "archive_asked")
    return now


def _original(of: Incident, incident: Incident, *, by: Person | None) -> Incident:
    """Return the other incident as it is now; it is locked as well."""
    try:
        found = rules.held(of, by=by)
    except rules.NotThere:
        raise rules.BadInput("of", "No such incident.") from None
    if found.pk == incident.pk:
        raise rules.Refused("An incident cannot be a duplicate of itself.")
    if incident.pk in originals(found):
        says = f"{found.codename} is itself a duplicate of {incident.codename}, directly or through others."
        raise rules.Refused(f"{says} Reopen {found.codename} first.")
    if found.is_drill != incident.is_drill:
        raise rules.Refused("One of the two is a drill, so they cannot be the same incident.")
    if found.private and not incident.private:
        raise rules.Refused(f"{found.codename} is private; linking to it from a public incident would expose it.")
    return found


def originals(incident: Incident) -> set[int]:
    """Return the keys of the incident that this one duplicates, the one that it duplicates, and so on."""
    found: set[int] = set()
    step: int | None = incident.duplicate_of_id
    while step is not None and step not in found:
        found.add(step)
        step = Incident.objects.filter(pk=step).values_list("duplicate_of", flat=True).first()
    return found


def may_step(incident: Incident, verb: str) -> bool:
    """Return whether a step can be taken now; makes no query."""
    return Status(incident.status) in STEPS[verb].of


def step_refused(incident: Incident, verb: str) -> str:
    """Return why a step cannot be taken now: who did what and when, and what to do first; empty if it can."""
    return _in_the_way(incident, STEPS[verb])


def _in_the_way(incident: Incident, step: LifecycleStep) -> str:
    status = Status(incident.status)
    if status in step.of:
        return ""
    word, kind, did = STANDS[status]
    event = Event.objects.filter(incident=incident, kind=kind).select_related("by").order_by("n").last()
    who = f": {event.by.name if event.by else 'Firekind'} {did} on {event.at:%Y-%m-%d at %H:%M} UTC" if event else ""
    if status == step.to:
        return f"{incident.codename} is already {word}{who}."
    return f"{incident.codename} is {word}{who}. Reopen it before you {DOES.get(step.verb, f'{step.verb} it')}."


def _resume_replay(drill: Incident, *, at: datetime) -> None:
    """Resume the replay of a drill that had ended where it stopped, with the same time left to wait."""
    if drill.is_drill and drill.ended_at is not None:
        rested = max(at - drill.ended_at, timedelta(0))
        moved = {"shown_at": F("shown_at") + rested, "due_at": F("due_at") + rested}
        Replay.objects.filter(incident=drill, over_at=None).update(**moved)


def _stamp(incident: Incident, step: LifecycleStep, *, at: datetime) -> None:
    if step is REOPEN:
        incident.mitigated_at = incident.ended_at = None
        incident.archive_asked = False
    elif step is MITIGATE:
        incident.mitigated_at = at
    else:
        incident.ended_at = at
    incident.update_due_at = rules.next_update_at(incident, at=at)
