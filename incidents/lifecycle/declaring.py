from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from audit import tracing
from incidents import codenames, hints, timeline, visibility
from incidents.drills import agreement
from incidents.indexing import word_index
from incidents.lifecycle import circle, rules
from incidents.models import Incident, IncidentType, Participant, Person, Source
from incidents.models.incident import ACTIVE
from incidents.policies import current_types
from incidents.written_rows import WrittenInsert

# Going back to a form fetches it again, with a later moment in it, while what was typed is still there.
GOES_BACK: Final = timedelta(minutes=10)

INCIDENT: Final = WrittenInsert(
    Incident, given=True, computed={"words": word_index.words_of("new.title || ' ' || new.summary")}
)
FIRST_PEOPLE: Final = WrittenInsert(Participant)


class TypeEdited(rules.BadInput):
    """The type asks for something else than it did when shown: the new plan has to be shown before declaring."""

    def __init__(self, name: str) -> None:
        says = "was edited after you opened this, so nothing was declared. Review what it does now, then declare."
        super().__init__("type", f"{name} {says}")


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
    since: datetime | None = None,
    seen: int | None = None,
) -> Incident:
    """Open an incident. A title alone is enough; without a type it gets the default one.

    A long title is cut at a word, and the summary begins with all of it. An incident is a drill from the start and
    stays one; a drill that ``replays`` a private incident is private. An active incident that the same person declared
    with the same title after ``since``, or just before, is the same form sent again, and is returned instead. ``seen``
    is the number of the type's version whose plan was shown. Raises ``TypeEdited`` if by now other people would be told
    or paged, ``BadInput`` for an unusable title or summary and for a lead who did not agree to drills, and ``Refused``
    for an archived type.
    """
    title, whole = rules.short_title(title)
    summary = rules.beginning(whole, rules.text(summary, field="summary", needed=False))
    named = rules.names(services)
    type = _usable(type or _default_type())
    _must_be_as_seen(type, seen)
    if is_drill:
        agreement.must_agree(lead, by=by, field="lead")
    # No savepoint within a door's transaction: everything that may be refused was refused above.
    with transaction.atomic(savepoint=False):
        if found := _sent_before(title, by=by, is_drill=is_drill, since=since, at=at):
            return found
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


def _sent_before(
    title: str, *, by: Person | None, is_drill: bool, since: datetime | None, at: datetime
) -> Incident | None:
    if by is None or since is None:
        return None
    Person.objects.select_for_update(no_key=True).get(pk=by.pk)  # handle one form at a time
    mine = visibility.visible_to(by).filter(declared_by=by, title=title, is_drill=is_drill, status__in=ACTIVE)
    return mine.filter(declared_at__gte=min(since, at - GOES_BACK)).order_by("declared_at").first()


def _default_type() -> IncidentType:
    found = current_types.default()
    if found is None:
        raise rules.Refused("No incident type is set up yet. Run `manage.py load_types` once.")
    return found


def _usable(type: IncidentType) -> IncidentType:
    if type.archived_at is not None or type.current is None:
        raise rules.Refused(f"The type {type.slug} is archived; choose another one.")
    return type


def _must_be_as_seen(type: IncidentType, seen: int | None) -> None:
    if seen is None or type.current is None or seen == type.current.number:
        return
    was = type.versions.filter(number=seen).first()
    if was is None or was.policy.reaches != type.policy.reaches:
        raise TypeEdited(type.policy.name)


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
    )
    incident.update_due_at = rules.next_update_at(incident, at=at)
    # Building this statement each time would be a quarter of the web process's work for a command, so it is built once.
    INCIDENT.add([incident])
    return INCIDENT.there(incident, active=incident.status in ACTIVE)


def _first_people(incident: Incident, *, by: Person | None, lead: Person | None, at: datetime) -> None:
    reasons: dict[Person, str] = {}
    if by is not None:
        reasons[by] = Participant.Reason.DECLARED
    if lead is not None:
        reasons[lead] = Participant.Reason.LEAD
    FIRST_PEOPLE.add(
        Participant(incident=incident, person=person, reason=reason, since_at=at) for person, reason in reasons.items()
    )
