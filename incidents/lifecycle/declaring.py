from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from audit import tracing
from incidents import codenames, hints, timeline
from incidents.drills import agreement
from incidents.lifecycle import circle, rules
from incidents.models import Incident, IncidentType, Participant, Person, Source


def declare(
    title: str,
    *,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    type: IncidentType | None = None,
    summary: str = "",
    lead: Person | None = None,
    services: Collection[str] = (),
    is_drill: bool = False,
    replays: Incident | None = None,
) -> Incident:
    """Open an incident; a title alone is enough, the type defaults to the default type.

    A drill is one from its first moment on, and stays one; one that ``replays`` what is private is private. Raises
    ``BadInput`` for an unusable title or summary, and for a lead who did not agree to drills, and ``Refused`` for an
    archived type.
    """
    title = rules.title(title)
    summary = rules.text(summary, field="summary", needed=False)
    named = rules.names(services)
    type = _usable(type or _default_type())
    if is_drill:
        agreement.must_agree(lead, by=by, field="lead")
    # No savepoint inside a door's transaction: everything that may be refused was refused above.
    with transaction.atomic(savepoint=False):
        incident = _inserted(
            title, summary, type, by=by, lead=lead, services=named, is_drill=is_drill, replays=replays, at=at
        )
        _first_people(incident, by=by, lead=lead, at=at)
        policy = incident.policy
        data = {"type": policy.slug, "type_name": policy.name, "room": 1, "summary": summary}
        data |= {"drill": True} if is_drill else {}
        timeline.begin(incident, "declared", at=at, by=by, source=source, text=title, data=data)
        if lead is not None:
            data = {"name": lead.name, "self": lead == by, "room": 0}
            timeline.append(incident, "led", at=at, by=by, source=source, data=data)
        if incident.private:
            circle.admit(incident, circle.asked(incident), by=by, at=at, source=source)
            incident.save(update_fields=["closed_at"])
        hints.tell(incident)
    return incident


def _default_type() -> IncidentType:
    found = IncidentType.objects.filter(is_default=True).select_related("current").first()
    if found is None:
        raise rules.Refused("No incident type is set up yet. Run `manage.py load_types` once.")
    return found


def _usable(type: IncidentType) -> IncidentType:
    if type.archived_at is not None or type.current is None:
        raise rules.Refused(f"The type {type.slug} is archived; choose another one.")
    return type


def _inserted(
    title: str,
    summary: str,
    type: IncidentType,
    *,
    by: Person | None,
    lead: Person | None,
    services: list[str],
    is_drill: bool,
    replays: Incident | None,
    at: datetime,
) -> Incident:
    private = type.policy.private or (replays is not None and replays.private)
    name, pk = codenames.first(private=private, is_drill=is_drill)
    incident = Incident(
        pk=pk,
        codename=name,
        title=title,
        summary=summary,
        type=type,
        policy_version=type.current,
        private=private,
        is_drill=is_drill,
        replays=replays,
        lead=lead,
        declared_by=by,
        services=services,
        declared_at=at,
        typed_at=at,
        clear_at=None if type.is_default else at,
        revision=1,
        traceparent=tracing.here(),
        last_n=1,
        words=timeline.words_of(f"{title} {summary}"),
    )
    incident.update_due_at = rules.next_update_at(incident, at=at)
    incident.save(force_insert=True)
    return incident


def _first_people(incident: Incident, *, by: Person | None, lead: Person | None, at: datetime) -> None:
    reasons: dict[Person, str] = {}
    if by is not None:
        reasons[by] = Participant.Reason.DECLARED
    if lead is not None:
        reasons[lead] = Participant.Reason.LEAD
    Participant.objects.bulk_create(
        Participant(incident=incident, person=person, reason=reason, since_at=at) for person, reason in reasons.items()
    )
