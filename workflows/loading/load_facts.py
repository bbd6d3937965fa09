"""Load what planning needs, for one incident or a thousand, with the same number of queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings

from incidents import visibility
from incidents.lifecycle import circle
from incidents.models import AccessRequest, Codename, Event, Incident, IncidentType, Participant, Person
from incidents.policies.policy import Capture
from workflows import ports
from workflows.loading import channel_posts, incident_rows, observing, page_rows, ticket_rows
from workflows.loading.incident_rows import ANSWERS, IncidentRows, someone
from workflows.models import Effect, Resource
from workflows.planning import captures
from workflows.planning.captures import Trigger
from workflows.planning.facts import Facts, Room, Stay
from workflows.planning.invitee import Invitee
from workflows.planning.observed import GONE, OUTSIDE, Observed

BY_POLICY = {Participant.Reason.GROUP, Participant.Reason.ONE_OF, Participant.Reason.PAGED}


@dataclass(slots=True)
class IncidentState:
    """What planning knows about one incident, and some of the rows it was read from.

    ``requests`` are those that no one has answered yet.
    """

    facts: Facts
    observed: Observed
    gaps: dict[str, Resource]
    requests: list[AccessRequest]


def one(incident: Incident, *, planned: bool = True) -> IncidentState:
    """Read the facts and the observed state of one incident; one that was never ``planned`` has nothing outside yet."""
    rows = incident_rows.read([incident])
    if planned:
        incident_rows.read_outside([incident], rows)
    return _known(incident, rows)


def of_people(incident: Incident, effects: Iterable[Effect], resources: Iterable[Resource]) -> IncidentState:
    """Read the facts about participants of one incident, given all of its effects and then all of its resources.

    Leaves out what is posted in channels, because that grows with the timeline.
    """
    rows = incident_rows.read([incident], kinds=incident_rows.ABOUT_PEOPLE)
    incident_rows.take_outside(rows, effects, resources)
    return _known(incident, rows)


def many(incidents: Sequence[Incident]) -> dict[int, IncidentState]:
    """Read the facts and the observed state of many incidents, by primary key, in a fixed number of queries."""
    rows = incident_rows.read(incidents)
    incident_rows.read_outside(incidents, rows)
    return {incident.pk: _known(incident, rows) for incident in incidents}


def of_declaring(
    type: IncidentType,
    *,
    by: Person | None = None,
    lead: Person | None = None,
    services: Collection[str] = (),
    is_drill: bool = False,
) -> Facts:
    """Return the facts of an incident of this type before it is declared, when it has no rows to read."""
    leader, declarer = _someone(lead, "leads"), _someone(by, "declared it")
    slack = settings.FIREKIND.slack
    return Facts(
        revision=0,
        codename="",
        title="",
        is_drill=is_drill,
        agreed=incident_rows.agreed() if is_drill else frozenset(),
        policy=type.policy,
        private=type.policy.private,
        room=1,
        rooms=(Room(1, "", type.policy.private, "a dedicated channel"),),
        url=settings.FIREKIND.base_url,
        declared_at=datetime.fromtimestamp(0, tz=UTC),
        lead=leader,
        declarer=declarer,
        stays=tuple(Stay(one, "declared") for one in (leader, declarer) if one is not None),
        pager=ports.pager() is not None,
        announce_channel=slack.announce_channel if slack else "",
        chat=ports.chat() is not None,
        services=tuple(" ".join(service.split()) for service in services),
        triggers=(Trigger(1, "declare", datetime.fromtimestamp(0, tz=UTC)),),
        sources=incident_rows.sources(),
    )


def _someone(person: Person | None, why: str) -> Invitee | None:
    return someone(person, why) if person is not None else None


def _known(incident: Incident, rows: IncidentRows) -> IncidentState:
    ended = {page.key for page in rows.pages[incident.pk] if not page.is_open}
    elsewhere = {page.key for page in rows.pages[incident.pk] if page.elsewhere}
    ended |= set(_left_for_good(incident, rows))
    observed = Observed(
        seen={
            one.key: observing.thing(one, ended, elsewhere) for one in rows.resources[incident.pk] if one.kind != "gap"
        },
        owed=observing.owed(rows.effects[incident.pk], place=ticket_rows.public_place()),
        counts=rows.counts[incident.pk],
    )
    gaps = {one.key: one for one in rows.resources[incident.pk] if one.kind == "gap"}
    waiting = [one for one in rows.requests[incident.pk] if one.let_in is None]
    return IncidentState(_facts(incident, rows, observed), observed, gaps, waiting)


def _left_for_good(incident: Incident, rows: IncidentRows) -> Iterator[str]:
    """Yield the keys of members whose account was deactivated: Slack removed them from the channel without an event."""
    gone = (one.person.chat_id for one in rows.participants[incident.pk] if one.person.deactivated)
    yield from (f"member/{incident.room}/{chat_id}" for chat_id in gone if chat_id)


def _facts(incident: Incident, rows: IncidentRows, observed: Observed) -> Facts:
    participants = rows.participants[incident.pk]
    events = rows.events[incident.pk]
    answers = {event.data["request"]: event for event in events if event.kind in ANSWERS}
    told = channel_posts.posts(events, rows, answers)
    last = channel_posts.last_stated(told)
    tickets = ticket_rows.known(observed)
    slack = settings.FIREKIND.slack
    return Facts(
        revision=incident.revision,
        codename=incident.codename,
        title=incident.title,
        is_drill=incident.is_drill,
        agreed=_agreed(incident, rows),
        barred=_barred(incident, participants),
        summary=incident.summary,
        status=incident.status,
        active=incident.is_active,
        policy=incident.policy,
        private=incident.private,
        room=incident.room,
        rooms=_rooms(incident, rows, observed),
        url=f"{settings.FIREKIND.base_url}{incident.get_absolute_url()}",
        declared_at=incident.declared_at,
        lead=someone(incident.lead, "leads") if incident.lead else None,
        declarer=_declarer(incident, participants),
        roles=_roles(incident, rows),
        stays=tuple(_stay(one, incident) for one in participants),
        is_closed=incident.private and incident.closed_at is not None,
        turned_away=_turned_away(rows.requests[incident.pk]),
        groups=rows.groups,
        why_no_group=rows.why_no_group,
        chosen=_chosen(events, participants),
        told=tuple(one for one in told if channel_posts.is_told(one)),
        update=last.get("updated"),
        impact=last.get("impact"),
        next_step=last.get("next_step"),
        due_at=_due_at(incident, events),
        archive_asked=incident.archive_asked,
        announce_channel=slack.announce_channel if slack else "incidents",
        announced_in=observing.announced_in(observed),
        there=observing.there(observed),
        sought=observing.sought(observed),
        apps=observing.apps(observed, room=incident.room),
        put_out=observing.put_out(observed),
        chat=rows.chat,
        services=tuple(incident.services),
        triggers=(Trigger(1, "declare", incident.declared_at), *(one for one in map(_trigger, events) if one)),
        sources=rows.sources,
        pager=rows.pager,
        on_call=rows.calling.on_call,
        otherwise=rows.calling.otherwise,
        callees=rows.calling.callees,
        asked=tuple(page_rows.requested(event, rows) for event in events if event.kind == "paged"),
        paged=page_rows.of_incident(incident, rows, observed),
        converts=rows.converts,
        published=rows.published.get(incident.pk),
        tracker=ticket_rows.tracker(),
        followups=ticket_rows.tracked(rows.followups[incident.pk], tickets=tickets),
        tickets=tickets,
        stranded=ticket_rows.stranded(observed),
        doubtful=ticket_rows.doubtful(observed),
        elsewhere=observing.left_elsewhere(observed),
        failing=observing.failing(rows.effects[incident.pk]),
        uninvited=observing.uninvited(observed, rows.effects[incident.pk], room=incident.room),
    )


def _agreed(incident: Incident, rows: IncidentRows) -> frozenset[int]:
    """Return who agreed to drills and, in a replay, may see what it replays."""
    if incident.replays_id is None or not rows.agreed:
        return rows.agreed
    return frozenset(visibility.who_may_see(incident.replays_id, among=rows.agreed))


def _barred(incident: Incident, participants: Iterable[Participant]) -> frozenset[int]:
    """Return the participants of a replay, however they joined, who may not see what it replays."""
    if incident.replays_id is None:
        return frozenset()
    ids = {one.person_id for one in participants}
    return frozenset(ids - visibility.who_may_see(incident.replays_id, among=ids))


def _due_at(incident: Incident, events: Iterable[Event]) -> datetime | None:
    """Return when the next status update is due; once overdue, that stays so until one is posted."""
    if not incident.is_active or incident.update_due_at is not None or not incident.policy.update_every_min:
        return incident.update_due_at
    return next((event.at for event in reversed(list(events)) if event.kind == "due"), None)


def _chosen(events: Iterable[Event], participants: Iterable[Participant]) -> dict[str, Invitee]:
    """Return who was chosen for each one-of role, as far as the choice holds and the person is still here."""
    here = {one.person_id: one.person for one in participants if one.left_at is None and one.person.can_join}
    return {
        event.data["role"]: someone(here[event.data["person"]], event.data["why"])
        for event in circle.choices(events)
        if event.data.get("person") in here
    }


def _trigger(event: Event) -> Trigger | None:
    """Return the trigger for captures that an entry causes, if any."""
    if event.kind == "asked":
        asked = Capture(event.data["source"], event.data["kind"], captures.ASKED, event.data["seconds"])
        return Trigger(event.n, captures.ASKED, event.at, asked)
    moment = captures.MOMENTS.get(event.kind)
    return Trigger(event.n, moment, event.at) if moment else None


def _rooms(incident: Incident, rows: IncidentRows, observed: Observed) -> tuple[Room, ...]:
    prefix = settings.FIREKIND.slack.channel_prefix if settings.FIREKIND.slack else "inc"
    first = Codename(name=incident.codename, room=1, private=incident.private)  # until the conversation moves
    rooms = []
    codes = {code.room: code for code in (rows.codenames[incident.pk] or [first])}
    for number in {one.room or 1 for one in observed.seen.values() if one.kind == "channel"} - codes.keys():
        codes[number] = Codename(name=incident.codename, room=number, private=incident.private)  # they moved back
    for code in sorted(codes.values(), key=lambda code: code.room):
        name = f"{prefix}-{code.name}"
        seen = observed.seen.get(f"channel/{code.room}")
        gone = seen.why if seen is not None and seen.state == GONE else ""
        public = seen is not None and not gone and not seen.spec.get("private")
        shown = seen.label.removeprefix("#") if seen else name
        words, withdrawing = observing.has_words(code.room, observed), observing.is_withdrawing(code.room, observed)
        outside = seen is not None and not gone and seen.why == OUTSIDE
        rooms.append(Room(code.room, name, code.private, shown, public, gone, words, withdrawing, outside))
    return tuple(rooms)


def _declarer(incident: Incident, participants: Iterable[Participant]) -> Invitee | None:
    return next((someone(one.person, "") for one in participants if one.person_id == incident.declared_by_id), None)


def _turned_away(requests: Iterable[AccessRequest]) -> frozenset[tuple[int, str]]:
    """Return those who were turned away, and the rule by which they had been offered."""
    return frozenset((one.person_id, one.rule) for one in requests if one.let_in is False and one.answered_by_id)


def _stay(one: Participant, incident: Incident) -> Stay:
    named = one.reason in BY_POLICY and one.since_at >= incident.typed_at
    here, by = one.left_at is None and not one.person.deactivated, one.by.name if one.by else ""
    return Stay(someone(one.person, ""), one.reason, one.detail, by, here, one.went or one.person.deactivated, named)


def _roles(incident: Incident, rows: IncidentRows) -> tuple[tuple[str, Invitee], ...]:
    held = [(role, rows.holders[pk]) for role, pk in sorted(incident.roles.items()) if pk in rows.holders]
    return tuple((role, someone(person, role)) for role, person in held)
