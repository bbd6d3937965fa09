from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from incidents import codenames, timeline
from incidents.lifecycle import rules
from incidents.models import Codename, Incident, IncidentType, Participant, Person, Source


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
) -> Incident:
    """Open an incident; a title alone is enough, the type defaults to the default type.

    Raises ``BadInput`` for an unusable title or summary and ``Refused`` for an archived type.
    """
    title = rules.title(title)
    summary = rules.text(summary, field="summary", needed=False)
    with transaction.atomic():
        incident = _created(title, summary, type or _default_type(), by=by, lead=lead, services=services, at=at)
        _first_people(incident, by=by, lead=lead, at=at)
        policy = incident.policy
        data = {"type": policy.slug, "type_name": policy.name, "room": 1, "summary": summary}
        timeline.append(incident, "declared", at=at, by=by, source=source, text=title, data=data, also_found_by=summary)
        if lead is not None:
            timeline.append(
                incident, "led", at=at, by=by, source=source, data={"name": lead.name, "self": lead == by, "room": 0}
            )
        rules.save(incident)
    return incident


def _default_type() -> IncidentType:
    found = IncidentType.objects.filter(is_default=True).select_related("current").first()
    if found is None:
        raise rules.Refused("No incident type is set up yet. Run `manage.py load_types` once.")
    return found


def _created(
    title: str,
    summary: str,
    type: IncidentType,
    *,
    by: Person | None,
    lead: Person | None,
    services: Collection[str],
    at: datetime,
) -> Incident:
    if type.archived_at is not None or type.current is None:
        raise rules.Refused(f"The type {type.slug} is archived; pick another one.")
    private = type.policy.private
    name = codenames.fresh(private=private)
    incident = Incident(
        codename=name,
        title=title,
        summary=summary,
        type=type,
        policy_version=type.current,
        private=private,
        lead=lead,
        declared_by=by,
        services=rules.names(services),
        declared_at=at,
        typed_at=at,
        clear_at=None if type.is_default else at,
    )
    incident.update_due_at = rules.next_update_at(incident, at=at)
    incident.save(force_insert=True)
    Codename.objects.filter(name=name).update(incident=incident)
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
