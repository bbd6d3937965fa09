"""Redact an entry: its text and history are deleted for good; a record of who redacted it stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from django.db.models import Q

import audit
from audit.sealed import redacting
from incidents import event_kinds, timeline
from incidents.audited import copies
from incidents.event_kinds import TYPED
from incidents.followups import folding
from incidents.indexing import word_index
from incidents.lifecycle import rules
from incidents.lifecycle.to_do import followups
from incidents.models import AccessRequest, Event, Incident, Participant, Person, Source, Summary
from incidents.timeline import TimelineEntry

NOT_THE_LEAD: Final = "Only the lead can redact an entry. Ask them, or take the lead first."
KEPT_AS: Final = "events"
HEAD_CHARS: Final = 40  # of text that may be cut where another entry repeats it
SUMMARY: Final = "This summary was redacted."  # differs from what copies show, so that the posted message is updated
DETAIL_CHARS: Final = 120  # of the reason someone was brought in, shown next to their name


def redact(incident: Incident, *, n: int, by: Person | None, at: datetime, source: str = Source.WEB) -> Event:
    """Delete the words of entry ``n``, and of every entry that edited or retracted it, wherever Firekind keeps them.

    Raises ``Refused`` unless ``by`` leads the incident, for an entry that no one typed, and for words that are still
    the title or the summary. Posted messages follow, as far as they can still be edited.
    """
    with rules.changing(incident, by=by) as now:
        entry = _of_lead(now, n, by)
        entries = [entry, *_quoting(now, entry.event)]
        for one in entries:
            if one is entry or one.event.kind == "declared":
                _must_be_changed_first(now, one)
        rows = [event for one in entries for event in (one.event, *one.history)]
        said = [words for event in rows for words in _taken_out(event, by=by, at=at)]
        for event in rows:
            _forget_beside(now, event)
        _forget(now, said)
        change, *_ = [
            timeline.append(now, "redacted", at=at, by=by, source=source, about_n=one, data={"about": one})
            for one in (one.event.n for one in entries)
        ]
        if entry.event.kind in folding.MADE:
            followups.project(now, entry.event)
        who, name = (by.pk, by.name) if by else (None, "")
        audit.note("redacted", by=who, by_name=name, about=now.codename, data={"entry": n}, at=at)
        rules.save(now)
    return change


def is_lead(incident: Incident, by: Person | None) -> bool:
    """Return whether someone leads an incident; None is the terminal, which counts as the lead."""
    return by is None or incident.lead_id == by.pk


def _of_lead(incident: Incident, n: int, by: Person | None) -> TimelineEntry:
    if not is_lead(incident, by):
        raise rules.Refused(NOT_THE_LEAD)
    found = Event.objects.filter(incident=incident, n=n, about_n=None).select_related("by")
    entry = next(iter(timeline.entries(found)), None)
    if entry is None or entry.event.kind not in TYPED:
        raise rules.Refused("Only what someone wrote can be redacted. Withdraw evidence on its own page.")
    if entry.redacted is not None:
        raise rules.Refused("This entry is already redacted.")
    return entry


def _must_be_changed_first(incident: Incident, entry: TimelineEntry) -> None:
    """Refuse words that are still shown elsewhere: the title, which names the incident, and the summary."""
    event = entry.event
    is_title = event.kind in {"declared", "renamed"} and event.text == incident.title
    if is_title or (event.kind == "alert" and _is_called(event, incident.title)):
        raise rules.Refused("This is still the title. Rename the incident first, then redact the entry.")
    summary = event.text if event.kind == "described" else event.data.get("summary", "")
    if incident.summary and summary == incident.summary:
        raise rules.Refused("This is still the summary. Change the summary first, then redact the entry.")


def _quoting(incident: Incident, event: Event) -> list[TimelineEntry]:
    """Return other entries that contain the same words.

    A title is repeated by the rename that replaced it, and comes from the alert if that declared the incident. The
    reason for a page is repeated by the entries about that page, and a hypothesis by each verdict on it.
    """
    others = Event.objects.filter(incident=incident).exclude(n=event.n)
    if event.kind in {"declared", "renamed"}:
        alerts = [one.n for one in others.filter(kind="alert") if _is_called(one, event.text)]
        told = others.filter(Q(kind="renamed", data__from=event.text) | Q(n__in=alerts))
    elif event.kind == "alert":
        titles = [one.text for one in others.filter(kind="declared") if _is_called(event, one.text)]
        told = others.filter(Q(kind="declared", text__in=titles) | Q(kind="renamed", data__from__in=titles))
    elif event.kind == "claimed":
        told = others.filter(kind="judged", data__n=event.data["n"])
    elif event.kind == "paged" and event.text:
        told = others.filter(kind="page", text__contains=f"{event_kinds.WHY}{event.text[:HEAD_CHARS]}")
    else:
        return []
    return [one for one in timeline.entries(told) if one.redacted is None]


def _is_called(alert: Event, title: str) -> bool:
    """Return whether an alert's title is the incident's title, which is cut if it is long."""
    called, begins = str(alert.data.get("title", "")), title.removesuffix("…")
    is_cut = begins != title and len(begins) >= HEAD_CHARS
    return bool(title) and (called == title or (is_cut and called.startswith(begins)))


def _forget(incident: Incident, said: list[str]) -> None:
    """Remove these words from the search and from everything derived from them."""
    details = [words[:DETAIL_CHARS] for words in said]
    Participant.objects.filter(incident=incident, detail__in=details).update(detail="")
    copies.let_go(incident, said)
    word_index.index_again(incident)  # last, because it also reads copies that were just cleaned


def _forget_beside(incident: Incident, event: Event) -> None:
    """Remove an entry's words from the row written with it; a redacted summary can no longer be confirmed."""
    if event.kind == "asked_in":
        AccessRequest.objects.filter(incident=incident, n=event.n).update(because=copies.STANDS)
    elif event.kind == "opening":
        written = Summary.objects.filter(incident=incident, pk=event.data["summary"])
        written.filter(published_at=None).delete()
        written.update(text=SUMMARY)


def _taken_out(event: Event, *, by: Person | None, at: datetime) -> Iterator[str]:
    """Remove the words from one row, and yield them."""
    typed = TYPED.get(event.kind, ())
    left: dict[str, Any] = {name: value for name, value in event.data.items() if name not in typed}
    who, name = (by.pk, by.name) if by else (None, "")
    values = {"text": "", "data": left, "link": ""}
    said = redacting.redact(KEPT_AS, event.pk, left=values, by=who, by_name=name, at=at)
    if said is not None:
        again = event_kinds.SAID_AGAIN.get(event.kind, ())
        more = (words for one in typed if one not in again for words in _words(said["data"].get(one)))
        yield from (words for words in (said["text"], said["link"], *more) if words)


def _words(kept: Any) -> Iterator[str]:
    """Yield texts as they were typed, and lines of a plan as they were shown: after their sign."""
    if isinstance(kept, str):
        yield kept
    elif isinstance(kept, list):
        yield from (f"{sign} {text}" for sign, text, *_ in kept)
