from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Q

from incidents import event_kinds, timeline
from incidents.claiming.shared_clock import clock
from incidents.followups import folding
from incidents.lifecycle import rules, stating
from incidents.lifecycle.to_do import followups
from incidents.models import Event, Incident, Person, Source

CAPTURED_CHARS = 4_000
SENT_AGAIN: Final = timedelta(minutes=3)  # a proxy says after a minute that it got no answer
STAMP = "stamp"  # key of an entry's data: when a captured message took this text, by the clock of the chat


def update(
    incident: Incident,
    *,
    text: str,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    since: int | None = None,
    impact: str = "",
    next_step: str = "",
    owner: Person | None = None,
) -> Incident:
    """Post a status update: what is known and what happens next. It restarts the update timer.

    ``impact`` and ``next_step`` become entries of their own, posted with the update. The next step belongs to
    ``owner``, or else to ``by``. The same text alone, by the same person after ``since`` or moments ago, is the same
    form sent twice, and is posted once. Raises ``Refused`` once the incident has ended.
    """
    text = rules.text(text)
    with rules.changing(incident, by=by) as now:
        is_alone = not (impact.strip() or next_step.strip())
        if is_alone and _sent_before(now, "updated", text=text, by=by, since=since, at=at):
            return now
        rules.must_be_fresh(now, since=since, clash={"updated"})
        rules.must_be_active(now, "update")
        event = timeline.append(now, "updated", at=at, by=by, source=source, text=text, data={"room": now.room})
        told = {"room": 0, "update": event.n}
        if impact.strip():
            stating.append_impact(now, impact, by=by, at=at, source=source, told=told)
        if next_step.strip():
            stating.append_next_step(now, next_step, owner=owner or by, by=by, at=at, source=source, told=told)
        now.update_due_at = rules.next_update_at(now, at=at)
        rules.save(now, "update_due_at")
    return now


def note(
    incident: Incident,
    *,
    text: str,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    link: str = "",
    author: Person | None = None,
    since: int | None = None,
) -> Event:
    """Write a note for the record; no one is notified. ``author`` is as in ``remark``.

    ``since`` is the last event number that the person saw. The same text by the same person after it is the same form
    sent twice, and is written once.
    """
    text = rules.text(text)
    with rules.changing(incident, by=by) as now:
        if (sent := _sent_before(now, "noted", text=text, by=author or by, since=since, at=at)) is not None:
            return sent
        return timeline.append(now, "noted", at=at, by=author or by, source=source, text=text, link=link)


def _sent_before(
    incident: Incident, kind: str, *, text: str, by: Person | None, since: int | None, at: datetime
) -> Event | None:
    """Return the entry that a form wrote when it was sent before; None if it never was.

    An open page may have heard of that entry, and not that its form was answered: ``since`` is then too new to tell.
    """
    if since is None:
        return None
    same = Event.objects.filter(incident=incident, kind=kind, by=by, text=text)
    return same.filter(Q(n__gt=since) | Q(at__gt=at - SENT_AGAIN)).order_by("n").first()


def remark(
    incident: Incident,
    kind: str,
    *,
    by: Person | None,
    at: datetime,
    recorded_at: datetime | None = None,
    source: str = Source.WEB,
    text: str = "",
    data: Mapping[str, Any] | None = None,
    link: str = "",
    author: Person | None = None,
) -> Event:
    """Write an entry about something that another app stores (evidence, a finding).

    ``by`` is who acts now. If Firekind later writes about something that a person did, ``by`` is None and the person is
    the ``author``: the entry is kept even if they may no longer see the incident. Kinds that are told are posted where
    people talk now; ``data["room"] = 0`` prevents that.
    """
    with rules.changing(incident, by=by) as now:
        event = timeline.append(
            now,
            kind,
            at=at,
            recorded_at=recorded_at,
            by=author or by,
            source=source,
            text=text,
            data={"room": now.room, **(data or {})},
            link=link,
        )
        rules.save(now)
    return event


def capture(
    incident: Incident,
    *,
    text: str,
    author: str,
    ref: str,
    by: Person | None,
    at: datetime,
    recorded_at: datetime,
    link: str = "",
    source: str = Source.SLACK,
    stamp: float = 0.0,
) -> Event:
    """Put a message on the timeline with its own time, author and link.

    ``ref`` is the message's id in the chat; each message is kept once. A retracted one comes back. ``stamp`` is when it
    took this text, as in ``follow``.
    """
    text = rules.text(text.strip()[:CAPTURED_CHARS] or "(no text)")
    with rules.changing(incident, by=by) as now:
        known = captured(now, ref)
        if known is None:
            data = {"author": author, "ref": ref, STAMP: stamp}
            return timeline.append(
                now, "captured", at=at, recorded_at=recorded_at, by=by, source=source, text=text, link=link, data=data
            )
        entry = timeline.entries([known])[0]
        if entry.retracted is not None and entry.redacted is None:  # redacted text does not come back
            _change(now, known, "edited", text=text, by=by, at=recorded_at, source=source, data={STAMP: stamp})
        return known


def follow(
    incident: Incident,
    *,
    n: int,
    text: str,
    at: datetime,
    recorded_at: datetime,
    stamp: float,
    source: str = Source.SLACK,
) -> Event | None:
    """Apply an author's edit to a captured message; None if it changes nothing, or if a later edit is already here.

    Edits arrive in any order: ``stamp`` is when the message took this text, in seconds by the chat's clock. Raises
    ``Refused`` like ``edit``.
    """
    text = rules.text(text)
    with rules.changing(incident, by=None) as now:
        event = _owned(now, n, None)
        (entry,) = timeline.entries([event])
        if entry.text == text or stamp < _stamped(event, entry.history):
            return None
        said = {STAMP: stamp}
        return _change(
            now, event, "edited", text=text, by=None, at=at, recorded_at=recorded_at, source=source, data=said
        )


def stamped(event: Event) -> float:
    """Return when a captured message took its newest text here, by the chat's clock."""
    (entry,) = timeline.entries([event])
    return _stamped(event, entry.history)


def _stamped(event: Event, history: Iterable[Event]) -> float:
    return max(float(one.data.get(STAMP, 0)) for one in (event, *history))


def captured(incident: Incident, ref: str) -> Event | None:
    """Return the entry that captured a message, or None."""
    return Event.objects.filter(incident=incident, kind="captured", data__ref=ref).select_related("by").first()


def edit(
    incident: Incident,
    *,
    n: int,
    text: str,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    since: int | None = None,
) -> Event:
    """Change the text of an entry by writing another one; the original stays in its history.

    With ``since``, the last event number that the person saw, nothing is written if the entry already has this text.
    Raises ``Stale`` if it was edited after that. Raises ``Refused`` unless ``by`` wrote it, leads the incident, or is
    the system following the message's author. Raises ``Refused`` for a retracted entry, because changing it would bring
    it back.
    """
    text = rules.text(text)
    with rules.changing(incident, by=by) as now:
        event = _owned(now, n, by)
        if since is not None and timeline.entries([event])[0].text == text:
            return event
        rules.must_be_fresh(now, since=since, clash={"edited"}, about=n)
        return _change(now, event, "edited", text=text, by=by, at=at, source=source)


def retract(
    incident: Incident,
    *,
    n: int,
    by: Person | None,
    at: datetime,
    because: str = "",
    source: str = Source.WEB,
) -> Event:
    """Retract an entry by writing another one; its text stays in its history.

    After a status update is retracted, the next one is due as if it had not been posted. Raises ``Refused`` for an
    entry that is not theirs to retract.
    """
    because = rules.text(because, field="because", needed=False)
    with rules.changing(incident, by=by) as now:
        event = _owned(now, n, by)
        change = _change(now, event, "retracted", text=because, by=by, at=at, source=source)
        if event.kind == "updated" and now.update_due_at is not None:
            now.update_due_at = _due_without_it(now, at=at)
            rules.save(now, "update_due_at")
        return change


def _due_without_it(incident: Incident, *, at: datetime) -> datetime | None:
    """Return when the next update is due by the entries that stand; None if people were told that it is overdue."""
    turns = Event.objects.filter(incident=incident, kind__in=event_kinds.RESETS_UPDATE).order_by("-n")
    last = next((one.event for one in timeline.entries(turns) if one.retracted is None), None)
    if last is None:
        return incident.update_due_at
    due = rules.next_update_at(incident, at=last.at)
    told = Event.objects.filter(incident=incident, kind="due", n__gt=last.n).exists()
    return None if told and due is not None and due <= clock.at(at) else due


def take_back(
    incident: Incident, *, n: int, by: Person | None, at: datetime, because: str = "", source: str = Source.WEB
) -> Event:
    """Retract an entry that another app wrote, together with what it was about; the posted message follows."""
    because = rules.text(because, field="because", needed=False)
    with rules.changing(incident, by=by) as now:
        event = Event.objects.get(incident=now, n=n)
        change = _change(now, event, "retracted", text=because, by=by, at=at, source=source)
        rules.save(now)
    return change


def update_fell_due(incident: Incident, *, at: datetime) -> bool:
    """Record once that the promised status update is overdue; return whether it was recorded now."""
    with rules.changing(incident, by=None) as now:
        if now.update_due_at is None or now.update_due_at > clock.at(at) or not now.is_active:
            return False
        every = now.policy.update_every_min
        text = f"A status update is due: {now.policy.name} asks for one every {every} minutes."
        timeline.append(now, "due", at=now.update_due_at, recorded_at=at, text=text, data={"room": now.room})
        now.update_due_at = None
        rules.save(now, "update_due_at")
    return True


def _owned(incident: Incident, n: int, by: Person | None) -> Event:
    found = Event.objects.filter(incident=incident, n=n).select_related("by")
    entry = next(iter(timeline.entries(found)), None)
    if entry is not None and entry.redacted is not None:
        raise rules.Refused("This entry was redacted.")
    if entry is None or not entry.mendable:
        raise rules.Refused("Only notes, updates, tasks and messages can be changed or retracted.")
    event = entry.event
    if by is not None and event.by_id != by.pk and incident.lead_id != by.pk:
        raise rules.Refused("Only the person who wrote this, or the lead, can change it.")
    if entry.retracted is not None:
        raise rules.Refused("This entry is already retracted.")
    return event


def _change(
    incident: Incident,
    event: Event,
    kind: str,
    *,
    text: str,
    by: Person | None,
    at: datetime,
    source: str,
    recorded_at: datetime | None = None,
    data: Mapping[str, Any] | None = None,
) -> Event:
    said: dict[str, Any] = {"text": text, "about_n": event.n, "data": {"about": event.n, **(data or {})}}
    change = timeline.append(incident, kind, at=at, recorded_at=recorded_at, by=by, source=source, **said)
    if event.kind in folding.MADE:
        followups.project(incident, event)
    if event.kind in event_kinds.TOLD:
        rules.save(incident)  # the posted message follows the edit
    return change
