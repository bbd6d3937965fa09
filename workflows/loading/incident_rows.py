"""Read the rows that planning needs, of one incident or a thousand, with the same number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from django.db import connection
from django.db.models import Q, prefetch_related_objects

from incidents import event_kinds, timeline, visibility
from incidents.followups import folding
from incidents.lifecycle import circle
from incidents.models import AccessRequest, Codename, Event, Followup, Incident, Participant, Person
from incidents.people.bidi import isolated
from incidents.written_rows import WrittenRows
from workflows import ports
from workflows.loading import summaries
from workflows.models import Effect, Page, PagerUser, Resource
from workflows.oncall import callees, page_reach
from workflows.planning import actions
from workflows.planning.captures import ProfileSource
from workflows.planning.facts import Published
from workflows.planning.invitee import Invitee
from workflows.usergroups import absent_groups, workspace_cache

Row = TypeVar("Row", Participant, Event, Followup, Codename, Resource, Effect, Page, AccessRequest)

ANSWERS = ("let_in", "turned_away", "request_over")  # the kinds of entries that answer an access request
OPEN = (Effect.State.WAITING.value, Effect.State.RUNNING.value, Effect.State.FAILED.value)
ABOUT_PEOPLE = ["paged", "chosen"]  # the kinds of entries that say who takes part
NEWS = [*event_kinds.TOLD, *ANSWERS, "asked", *ABOUT_PEOPLE]  # the kinds of entries that plans depend on

# Read by every plan and every page of an incident. Written as SQL because Django takes longer to compose them than they
# take to run.
TAKING_PART: Final = WrittenRows(
    Participant, of="one", beside={"person": WrittenRows(Person, of="p"), "by": WrittenRows(Person, of="b")}
)
PAGE: Final = WrittenRows(Page, of="g", beside={"ack_asked_by": WrittenRows(Person, of="b")})
EFFECT: Final = WrittenRows(Effect, of="e")
RESOURCE: Final = WrittenRows(Resource, of="r")
COUNTS: Final = """
    SELECT incident_id, thing, count(*) FROM workflows_effect WHERE incident_id = ANY (%s) GROUP BY incident_id, thing
"""


@dataclass(slots=True)
class IncidentRows:
    """The rows that were read, by incident where there is one row for each."""

    groups: Mapping[str, tuple[Invitee, ...] | None]
    why_no_group: Mapping[str, str]
    chat: bool
    sources: Mapping[str, ProfileSource]
    holders: Mapping[int, Person]
    pager: bool
    converts: bool
    calling: callees.Callees
    participants: dict[int, list[Participant]] = field(default_factory=lambda: defaultdict(list))
    events: dict[int, list[Event]] = field(default_factory=lambda: defaultdict(list))
    changes: dict[tuple[int, int], Event] = field(default_factory=dict)
    codenames: dict[int, list[Codename]] = field(default_factory=lambda: defaultdict(list))
    requests: dict[int, list[AccessRequest]] = field(default_factory=lambda: defaultdict(list))
    agreed: frozenset[int] = frozenset()
    followups: dict[int, list[Followup]] = field(default_factory=lambda: defaultdict(list))
    pages: dict[int, list[Page]] = field(default_factory=lambda: defaultdict(list))
    resources: dict[int, list[Resource]] = field(default_factory=lambda: defaultdict(list))
    effects: dict[int, list[Effect]] = field(default_factory=lambda: defaultdict(list))
    counts: dict[int, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    published: Mapping[int, Published] = field(default_factory=dict)
    past_private: frozenset[int] = frozenset()  # public replays of incidents that are private by now
    users: Mapping[str, PagerUser] = field(default_factory=dict)


def read(incidents: Sequence[Incident], *, kinds: Collection[str] = NEWS) -> IncidentRows:
    """Read everything but the outside state; of the timeline, only the given ``kinds`` of entries."""
    ids = [incident.pk for incident in incidents]
    handles = {handle for incident in incidents for handle in incident.policy.groups}
    held = {person for incident in incidents for person in incident.roles.values()}
    chat = ports.chat()
    groups = workspace_cache.members(handles)
    rows = IncidentRows(
        groups=groups,
        why_no_group=absent_groups.why(groups),
        chat=chat is not None,
        converts=chat is not None and chat.converts,
        sources=sources(),
        holders={person.pk: person for person in Person.objects.filter(pk__in=held)} if held else {},
        pager=ports.pager() is not None,
        calling=callees.Callees(),
        agreed=agreed() if any(incident.is_drill for incident in incidents) else frozenset(),
        past_private=_past_private(incidents),
    )
    _file(rows.participants, _taking_part(ids))
    private = [incident.pk for incident in incidents if incident.private]
    if private:
        asked = AccessRequest.objects.filter(incident__in=private).select_related("person")
        _file(rows.requests, asked.filter(Q(let_in=None) | ~Q(rule="")).order_by("pk"))
    talked = [incident.pk for incident in incidents if incident.last_n > 1]  # the headline covers the first entry
    if talked:
        told = timeline.read("e.incident_id = ANY (%s) AND e.kind = ANY (%s) ORDER BY e.n", [talked, list(kinds)])
        _file(rows.events, timeline.naming(told, reader=visibility.EVERYONE))  # all members of a channel read it
        _read_what_choices_rest_on(rows, but=kinds)
    if any(rows.events.values()):
        for change in timeline.read("e.incident_id = ANY (%s) AND e.about_n IS NOT NULL ORDER BY e.n", [ids]):
            rows.changes[change.incident_id, change.about_n or 0] = change
    begun = [one.incident_id for some in rows.events.values() for one in some if one.kind in folding.MADE]
    if begun:
        _file(
            rows.followups,
            Followup.objects.filter(incident__in=begun).select_related("owner", "incident").defer("incident__words"),
        )
    _file(rows.pages, _pages(ids))  # pages stay open, or have ended, without a pager too
    if rows.pages:
        rows.users = page_reach.users_of([page for some in rows.pages.values() for page in some])
    rows.calling = callees.known(
        [incident.policy for incident in incidents],
        asked=[event.data["target"] for events in rows.events.values() for event in events if event.kind == "paged"],
        pager=rows.pager,
    )
    opened = [event.incident_id for events in rows.events.values() for event in events if event.kind == "opened_up"]
    rows.published = summaries.published(opened)
    moved = [incident.pk for incident in incidents if incident.room > 1]
    if moved:
        _file(rows.codenames, Codename.objects.filter(incident__in=moved))
    return rows


def _read_what_choices_rest_on(rows: IncidentRows, *, but: Collection[str]) -> None:
    """Read which entries say whose choices hold, if anyone was chosen, except for the kinds already read.

    In a separate query, because for three kinds at once PostgreSQL reads a whole timeline.
    """
    others = {*circle.CHOOSING} - {*but}
    chosen = [pk for pk, events in rows.events.items() if any(one.kind == "chosen" for one in events)]
    if chosen and others:
        _file(rows.events, Event.objects.filter(incident__in=chosen, kind__in=others).order_by("n"))


def _taking_part(ids: Collection[int]) -> list[Participant]:
    return TAKING_PART.read(
        """
        FROM incidents_participant one JOIN incidents_person p ON p.id = one.person_id
        LEFT JOIN incidents_person b ON b.id = one.by_id
        WHERE one.incident_id = ANY (%s) ORDER BY one.since_at, one.id
        """,
        [list(ids)],
    )


def _pages(ids: Collection[int]) -> list[Page]:
    found = PAGE.read(
        """
        FROM workflows_page g LEFT JOIN incidents_person b ON b.id = g.ack_asked_by_id
        WHERE g.incident_id = ANY (%s) ORDER BY g.id
        """,
        [list(ids)],
    )
    prefetch_related_objects(found, "rung")
    return found


def read_outside(incidents: Sequence[Incident], rows: IncidentRows) -> None:
    """Read what is owed, then what exists, in this order.

    Each query sees what has committed by then. An effect that ends in between appears both as owed and as existing,
    which plans nothing; in the opposite order it would appear as neither, and would be done again.
    """
    ids = [incident.pk for incident in incidents]
    owed = "FROM workflows_effect e WHERE e.incident_id = ANY (%s) AND e.state = ANY (%s) ORDER BY e.id"
    there = "FROM workflows_resource r WHERE r.incident_id = ANY (%s) ORDER BY r.id"
    _file(rows.effects, _understood(EFFECT.read(owed, [ids, [*OPEN]])))
    _file(rows.resources, _in_sight(RESOURCE.read(there, [ids])))
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, [ids])
        for incident_id, thing, times in cursor.fetchall():
            rows.counts[incident_id][thing] = times


def effects_of(incident: Incident) -> list[Effect]:
    """Return all effects that an incident ever had, oldest first."""
    return EFFECT.read("FROM workflows_effect e WHERE e.incident_id = %s ORDER BY e.id", [incident.pk])


def resources_of(incident: Incident) -> list[Resource]:
    """Return all resources that an incident has or had, oldest first."""
    return RESOURCE.read("FROM workflows_resource r WHERE r.incident_id = %s ORDER BY r.id", [incident.pk])


def take_outside(rows: IncidentRows, effects: Iterable[Effect], resources: Iterable[Resource]) -> None:
    """Take what is owed and what exists from all rows of one incident, which were read in this order, as above."""
    effects = list(effects)
    _file(rows.effects, _understood(one for one in effects if one.state in OPEN))
    _file(rows.resources, _in_sight(resources))
    for one in effects:
        times = rows.counts[one.incident_id]
        times[one.thing] = times.get(one.thing, 0) + 1


def _understood(effects: Iterable[Effect]) -> Iterator[Effect]:
    """Leave out effects that only a newer version, running alongside this one, knows: it plans and ends them itself."""
    return (one for one in effects if actions.knows(one.kind, one.verb))


def _in_sight(resources: Iterable[Resource]) -> Iterator[Resource]:
    """Leave out resources that only a newer version makes."""
    return (one for one in resources if one.kind in {"gap", *actions.KINDS})


def _file(drawers: dict[int, list[Row]], rows: Iterable[Row]) -> None:
    for row in rows:
        drawers[row.incident_id or 0].append(row)


def agreed() -> frozenset[int]:
    """Return the ids of people who agreed to take part in drills."""
    return frozenset(Person.objects.filter(agrees_to_drills=True).values_list("pk", flat=True))


def sources() -> Mapping[str, ProfileSource]:
    """Return the sources of profiles that are connected, by name."""
    profiler = ports.profiler()
    return {source.name: source for source in profiler.sources()} if profiler else {}


def _past_private(incidents: Iterable[Incident]) -> frozenset[int]:
    """Return the public replays whose original has become private: no one there may see anything more of it."""
    replays = [one.pk for one in incidents if one.replays_id is not None and not one.private]
    found = Incident.objects.filter(pk__in=replays, replays__private=True) if replays else Incident.objects.none()
    return frozenset(found.values_list("pk", flat=True))


def someone(person: Person, why: str) -> Invitee:
    """Return a person as planning sees them."""
    not_invited = person.not_invited if person.chat_id else ""
    is_guest, name = person.is_guest or person.is_external, isolated(person.name)
    return Invitee(person.chat_id or "", name, why, person.pk, not_invited=not_invited, is_guest=is_guest)
