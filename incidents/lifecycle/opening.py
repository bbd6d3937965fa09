"""Opening up: publish a summary of a private incident, written by one of its people and confirmed by another.

Nothing else is published.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from incidents import codenames, numbered, timeline
from incidents.drills import agreement
from incidents.lifecycle import rules
from incidents.lifecycle.access import must_take_part, note
from incidents.models import Codename, Incident, Participant, Person, Source, Summary

SUMMARY_CHARS = 3_000
# A higher layer knows where a summary is published outside, and registers its answer here.
answers: Final[list[Callable[[Incident], str]]] = []


def open_up(incident: Incident, *, summary: str, by: Person | None, at: datetime, source: str = Source.WEB) -> Summary:
    """Write a summary of a private incident for everyone to read; nothing is published before ``publish``.

    It replaces an earlier unconfirmed summary. Raises ``BadInput`` for a text that names the incident, which would link
    the two. Raises ``Refused`` for a public incident.
    """
    text = rules.text(summary, field="summary")
    if len(text) > SUMMARY_CHARS:
        raise rules.BadInput("summary", f"At most {SUMMARY_CHARS:,} characters; this has {len(text):,}.")
    with rules.changing(incident, by=by) as now:
        must_take_part(now, by)
        agreement.must_be_real(now, "open up")
        if not now.private:
            raise rules.Refused(f"{now.codename} is already public: everyone can read it.")
        _must_not_name(now, text)
        Summary.objects.filter(incident=now, published_at=None).delete()
        row = Summary.objects.create(incident=now, text=text, written_by=by, written_at=at)
        reviewer = reviewer_of(row)
        data = {"summary": row.pk, "reviewer": reviewer.name if reviewer else "", "room": now.room}
        timeline.append(now, "opening", at=at, by=by, source=source, text=text, data=data)
        rules.save(now)
    return row


def publish(incident: Incident, *, summary: int, by: Person | None, at: datetime, source: str = Source.WEB) -> Summary:
    """Confirm the summary with this id as it was read, and publish it under a codename of its own.

    Raises ``Refused`` for its author, for everyone but the lead if someone else leads, and if it was rewritten in the
    meantime. An earlier published summary is replaced.
    """
    with rules.changing(incident, by=by) as now:
        must_take_part(now, by)
        row = proposed(now)
        if row is None or row.pk != summary:
            raise rules.Refused("This summary was rewritten or published in the meantime. Read it again, then confirm.")
        must_be_for(by, row)
        before = published(now)
        row.codename = before.codename if before else codenames.alone()
        row.reviewed_by, row.published_at = by, at
        row.save(update_fields=["codename", "reviewed_by", "published_at"])
        data = {"codename": row.codename, "summary": row.pk, "room": now.room}
        note("opened-up", now.codename, by=by, at=at, summary=row.codename)
        timeline.append(now, "opened_up", at=at, by=by, source=source, data=data)
        rules.save(now)
    return row


def where(incident: Incident) -> str:
    """Return where its summary is published, to follow the words *it is published*."""
    return next((one(incident) for one in answers), "on a page")


def proposed(incident: Incident) -> Summary | None:
    """Return the summary that waits to be confirmed, if there is one."""
    found = Summary.objects.filter(incident=incident, published_at=None)
    return found.select_related("written_by", "incident__lead").defer("incident__words").order_by("-pk").first()


def as_shown(incident: Incident, borne: object) -> int:
    """Return the id of the summary that a window or form names; 0 if its number is another summary's by now."""
    row = numbered.found(Summary.objects.filter(incident=incident), borne, n="pk", at="written_at")
    return 0 if row is None else row.pk


def published(incident: Incident) -> Summary | None:
    """Return the published summary of an incident, if there is one."""
    return Summary.objects.filter(incident=incident).exclude(published_at=None).order_by("-pk").first()


def reviewer_of(summary: Summary) -> Person | None:
    """Return the lead, who has to confirm it; None if they wrote it or there is no lead: then anyone else may."""
    lead = summary.incident.lead
    if lead is None or lead.pk == summary.written_by_id:
        return None
    here = Participant.objects.filter(incident=summary.incident_id, person=lead, left_at=None).exists()
    return lead if here and lead.can_join else None


def must_be_for(by: Person | None, summary: Summary) -> None:
    """Raise ``Refused`` unless this person may confirm the summary."""
    reviewer = reviewer_of(summary)
    if by is not None and by.pk == summary.written_by_id:
        who = reviewer.name if reviewer else "another participant"
        raise rules.Refused(f"You wrote this summary, so {who} has to confirm it.")
    if reviewer is not None and by is not None and by.pk != reviewer.pk:
        raise rules.Refused(f"{reviewer.name} is the lead and has to confirm what is published.")
    if by is None and summary.written_by_id is None:
        raise rules.Refused("This summary was written from a terminal, so a person has to confirm it.")


def _must_not_name(incident: Incident, text: str) -> None:
    said = text.casefold()
    names = {incident.codename, *Codename.objects.filter(incident=incident).values_list("name", flat=True)}
    named = next((name for name in sorted(names) if name in said), None)
    if named is not None:
        raise rules.BadInput("summary", f"Remove {named}: it would link the summary to the private incident.")
