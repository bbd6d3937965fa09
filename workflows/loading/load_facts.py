"""Load what planning needs, for one incident or a thousand, with the same number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from django.conf import settings
from django.db.models import Count, Q

from incidents import event_kinds, timeline, visibility
from incidents.models import AccessRequest, Codename, Event, Incident, Participant, Person
from incidents.policies.policy import Capture
from workflows import ports
from workflows.loading import summaries
from workflows.models import Effect, Page, PagerUser, Resource
from workflows.oncall import callees, page_reach
from workflows.oncall import people as joining
from workflows.planning import captures
from workflows.planning.actions import CREATE, RETIRE
from workflows.planning.captures import ProfileSource, Trigger
from workflows.planning.facts import ChannelPost, Facts, Published, Room, Stay
from workflows.planning.invitee import Invitee
from workflows.planning.observed import GONE, REFUSED, THERE, Observed, ObservedThing, Owed
from workflows.planning.pages import Callee, Paged, RequestedPage, Stranger
from workflows.usergroups import workspace_cache

Row = TypeVar("Row", Participant, Event, Codename, Resource, Effect, Page, AccessRequest)

ONE_OF = "gap/one-of/"
WITH_PAGER = ("page", "alert")  # the kinds of entries about what the pager shows, too
ANSWERS = ("let_in", "turned_away", "request_over")  # the kinds of entries that answer who may be let in
NEWS = [*event_kinds.TOLD, *ANSWERS, "asked", "paged", "chosen"]  # the kinds of entries that plans depend on
BY_POLICY = {Participant.Reason.GROUP, Participant.Reason.ONE_OF, Participant.Reason.PAGED}


@dataclass(slots=True)
class IncidentState:
    """What the planning knows of one incident, and some of the rows that it was read from.

    ``requests`` are those that nobody answered yet.
    """

    facts: Facts
    observed: Observed
    gaps: dict[str, Resource]
    requests: list[AccessRequest]


def one(incident: Incident, *, planned: bool = True) -> IncidentState:
    """Read the facts and the observed state of one incident; one never ``planned`` has nothing outside yet."""
    rows = _read([incident])
    if planned:
        _read_outside([incident], rows)
    return _known(incident, rows)


def many(incidents: Sequence[Incident]) -> dict[int, IncidentState]:
    """Read the facts and the observed state of many incidents, by primary key, in a fixed number of queries."""
    rows = _read(incidents)
    _read_outside(incidents, rows)
    return {incident.pk: _known(incident, rows) for incident in incidents}


@dataclass(slots=True)
class _Rows:
    groups: Mapping[str, tuple[Invitee, ...] | None]
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
    pages: dict[int, list[Page]] = field(default_factory=lambda: defaultdict(list))
    resources: dict[int, list[Resource]] = field(default_factory=lambda: defaultdict(list))
    effects: dict[int, list[Effect]] = field(default_factory=lambda: defaultdict(list))
    counts: dict[int, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    published: Mapping[int, Published] = field(default_factory=dict)
    users: Mapping[str, PagerUser] = field(default_factory=dict)


def _read(incidents: Sequence[Incident]) -> _Rows:
    ids = [incident.pk for incident in incidents]
    handles = {handle for incident in incidents for handle in incident.policy.groups}
    held = {person for incident in incidents for person in incident.roles.values()}
    chat = ports.chat()
    rows = _Rows(
        groups=workspace_cache.members(handles),
        chat=chat is not None,
        converts=chat is not None and chat.converts,
        sources=sources(),
        holders={person.pk: person for person in Person.objects.filter(pk__in=held)} if held else {},
        pager=ports.pager() is not None,
        calling=callees.Callees(),
    )
    taking_part = Participant.objects.filter(incident__in=ids).select_related("person", "by")
    _file(rows.participants, taking_part.order_by("since_at", "pk"))
    private = [incident.pk for incident in incidents if incident.private]
    if private:
        asked = AccessRequest.objects.filter(incident__in=private).select_related("person")
        _file(rows.requests, asked.filter(Q(let_in=None) | ~Q(rule="")).order_by("pk"))
    talked = [incident.pk for incident in incidents if incident.last_n > 1]  # the first entry is told by the headline
    if talked:
        told = Event.objects.filter(incident__in=talked, kind__in=NEWS).select_related("by").order_by("n")
        _file(rows.events, timeline.naming(told, reader=visibility.EVERYONE))  # a channel's members all read it
    if any(rows.events.values()):
        for change in Event.objects.filter(incident__in=ids, about_n__isnull=False).order_by("n"):
            rows.changes[change.incident_id, change.about_n or 0] = change
    if rows.pager:
        _file(rows.pages, Page.objects.filter(incident__in=ids).order_by("pk").prefetch_related("rung"))
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


def _read_outside(incidents: Sequence[Incident], rows: _Rows) -> None:
    """Read what is owed and what is there, in this order.

    Each query sees what has committed by then. An effect that ends in between is seen both owed and there, which plans
    nothing; the other way round it would be neither, and would be done again.
    """
    ids = [incident.pk for incident in incidents]
    open_states = [Effect.State.WAITING, Effect.State.RUNNING, Effect.State.FAILED]
    _file(rows.effects, Effect.objects.filter(incident__in=ids, state__in=open_states).order_by("pk"))
    _file(rows.resources, Resource.objects.filter(incident__in=ids).order_by("pk"))
    counted = Effect.objects.filter(incident__in=ids).values_list("incident", "thing").annotate(times=Count("pk"))
    for incident_id, thing, times in counted:
        rows.counts[incident_id][thing] = times


def _file(drawers: dict[int, list[Row]], rows: Iterable[Row]) -> None:
    for row in rows:
        drawers[row.incident_id or 0].append(row)


def _known(incident: Incident, rows: _Rows) -> IncidentState:
    ended = {page.key for page in rows.pages[incident.pk] if not page.is_open}
    observed = Observed(
        seen={one.key: _seen(one, ended) for one in rows.resources[incident.pk] if one.kind != "gap"},
        owed=_owed(rows.effects[incident.pk]),
        counts=rows.counts[incident.pk],
    )
    gaps = {one.key: one for one in rows.resources[incident.pk] if one.kind == "gap"}
    waiting = [one for one in rows.requests[incident.pk] if one.let_in is None]
    return IncidentState(_facts(incident, rows, observed), observed, gaps, waiting)


def _seen(resource: Resource, ended: Collection[str]) -> ObservedThing:
    state = GONE if resource.key in ended else resource.state
    why = str(resource.external.get("why", "")) if state == REFUSED else ""
    return ObservedThing(resource.kind, resource.spec, state, resource.room, resource.label, why)


def _owed(effects: Iterable[Effect]) -> dict[str, tuple[Owed, ...]]:
    chains: dict[str, list[Owed]] = defaultdict(list)
    for effect in effects:
        started = effect.state != Effect.State.WAITING or effect.unsure
        failed = effect.state == Effect.State.FAILED
        if effect.kind == "member":
            for person in effect.spec["people"]:
                member = {"room": effect.room, "person": person}
                owed = Owed(effect.key, CREATE, member, started, effect.room, failed)
                chains[f"member/{effect.room}/{person}"].append(owed)
        else:
            spec = None if effect.verb == RETIRE else effect.spec
            chains[effect.thing].append(Owed(effect.key, effect.verb, spec, started, effect.room, failed))
    return {key: tuple(chain) for key, chain in chains.items()}


def _facts(incident: Incident, rows: _Rows, observed: Observed) -> Facts:
    participants = rows.participants[incident.pk]
    events = rows.events[incident.pk]
    answers = {event.data["request"]: event for event in events if event.kind in ANSWERS}
    told = tuple(_told(event, rows, answers.get(event.n)) for event in events if event.kind in event_kinds.TOLD)
    slack = settings.FIREKIND.slack
    return Facts(
        revision=incident.revision,
        codename=incident.codename,
        title=incident.title,
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
        chosen=_chosen(incident, events, participants),
        told=tuple(one for one in told if _is_told(one)),
        update=next(
            (one for one in reversed(told) if one.kind == "updated" and not (one.retracted or one.redacted)), None
        ),
        archive_asked=incident.archive_asked,
        announce_channel=slack.announce_channel if slack else "incidents",
        there=_there(observed),
        chat=rows.chat,
        services=tuple(incident.services),
        triggers=(Trigger(1, "declare", incident.declared_at), *(one for one in map(_trigger, events) if one)),
        sources=rows.sources,
        pager=rows.pager,
        on_call=rows.calling.on_call,
        otherwise=rows.calling.otherwise,
        callees=rows.calling.callees,
        asked=tuple(_asked(event, rows) for event in events if event.kind == "paged"),
        paged=_pages(incident, rows, observed),
        converts=rows.converts,
        published=rows.published.get(incident.pk),
    )


def _chosen(incident: Incident, events: Iterable[Event], participants: Iterable[Participant]) -> dict[str, Invitee]:
    """Return who was chosen for each one-of role since people talk in this room, and still is here."""
    here = {one.person_id: one.person for one in participants if one.left_at is None and one.person.can_join}
    return {
        event.data["role"]: someone(here[event.data["person"]], event.data["why"])
        for event in events
        if event.kind == "chosen" and event.data.get("room") == incident.room and event.data.get("person") in here
    }


def _asked(event: Event, rows: _Rows) -> RequestedPage:
    ref, name = event.data["target"], event.data["name"]
    callee = rows.calling.asked.get(ref) or Callee(ref, name, "")
    return RequestedPage(callee, event.data["turn"], event.data.get("room", 1))


def _pages(incident: Incident, rows: _Rows, observed: Observed) -> tuple[Paged, ...]:
    found = [_paged(page, rows, observed) for page in rows.pages[incident.pk]]
    if not incident.private:
        return tuple(found)
    inside = {one.person.chat_id or "" for one in rows.participants[incident.pk] if one.left_at is None or one.went}
    return tuple(one.closed(inside) for one in found)


def _paged(page: Page, rows: _Rows, observed: Observed) -> Paged:
    seen = observed.seen.get(page.key)
    title = str(seen.spec.get("title", "")) if seen else ""
    rung = tuple(someone(person, f"on call for {page.name}") for person in page.rung.all() if person.chat_id)
    users = [rows.users[id] for id in page.rung_ids if id in rows.users] if page.is_open else []
    return Paged(
        page.key,
        page.target,
        page.name,
        page.service_id,
        page.status,
        rung,
        title,
        answered=page.answered_at is not None,
        withdrawn=page.withdrawn_at is not None,
        by=page.answered_by,
        strangers=callees.strangers(users),
        late=tuple(_late(page, users, {one.person_id for one in rung})),
    )


def _late(page: Page, users: Iterable[PagerUser], known: Collection[int]) -> Iterator[tuple[Invitee, Stranger]]:
    """Yield people that a page reached who are not brought in yet: they were matched, or it moved on, since."""
    for user in users:
        if user.person is not None and user.person_id not in known and not joining.barred(user):
            stranger = Stranger(user.pager_id, user.name, "they were not on call here when it was opened")
            yield someone(user.person, f"on call for {page.name}"), stranger


def sources() -> Mapping[str, ProfileSource]:
    """Return the sources of profiles that are connected, by name."""
    profiler = ports.profiler()
    return {source.name: source for source in profiler.sources()} if profiler else {}


def _trigger(event: Event) -> Trigger | None:
    """Return what an entry lets profiles be captured on."""
    if event.kind == "asked":
        asked = Capture(event.data["source"], event.data["kind"], captures.ASKED, event.data["seconds"])
        return Trigger(event.n, captures.ASKED, event.at, asked)
    moment = captures.MOMENTS.get(event.kind)
    return Trigger(event.n, moment, event.at) if moment else None


def _there(observed: Observed) -> frozenset[str]:
    seen = {key for key, one in observed.seen.items() if one.state == THERE}
    begun = {key for key, chain in observed.owed.items() if any(owed.under_way for owed in chain)}
    return frozenset(seen | begun)


def _rooms(incident: Incident, rows: _Rows, observed: Observed) -> tuple[Room, ...]:
    prefix = settings.FIREKIND.slack.channel_prefix if settings.FIREKIND.slack else "inc"
    first = Codename(name=incident.codename, room=1, private=incident.private)  # until the conversation moves
    rooms = []
    for code in sorted(rows.codenames[incident.pk] or [first], key=lambda code: code.room):
        name = f"{prefix}-{code.name}"
        seen = observed.seen.get(f"channel/{code.room}")
        public = seen is not None and not seen.spec.get("private")
        rooms.append(Room(code.room, name, code.private, seen.label.removeprefix("#") if seen else name, public))
    return tuple(rooms)


def _declarer(incident: Incident, participants: Iterable[Participant]) -> Invitee | None:
    return next((someone(one.person, "") for one in participants if one.person_id == incident.declared_by_id), None)


def _turned_away(requests: Iterable[AccessRequest]) -> frozenset[tuple[int, str]]:
    """Return those who were turned away, and by which rule they had been offered."""
    return frozenset((one.person_id, one.rule) for one in requests if one.let_in is False and one.answered_by_id)


def _stay(one: Participant, incident: Incident) -> Stay:
    named = one.reason in BY_POLICY and one.since_at >= incident.typed_at
    here, by = one.left_at is None and not one.person.deactivated, one.by.name if one.by else ""
    return Stay(someone(one.person, ""), one.reason, one.detail, by, here, one.went or one.person.deactivated, named)


def _roles(incident: Incident, rows: _Rows) -> tuple[tuple[str, Invitee], ...]:
    held = [(role, rows.holders[pk]) for role, pk in sorted(incident.roles.items()) if pk in rows.holders]
    return tuple((role, someone(person, role)) for role, person in held)


def someone(person: Person, why: str) -> Invitee:
    """Return a person as the planning sees them."""
    return Invitee(person.chat_id or "", person.name, why, person.pk)


def _told(event: Event, rows: _Rows, answer: Event | None = None) -> ChannelPost:
    change = rows.changes.get((event.incident_id, event.n))
    text = change.text if change and change.kind == "edited" else event.text
    return ChannelPost(
        n=event.n,
        kind=event.kind,
        label=event_kinds.of(event.kind).news,
        by=event.by.name if event.by else "",
        sentence="" if event.redacted else event_kinds.sentence(event.kind, text=text, data=event.data),
        text=text,
        room=event.data.get("room", 1),
        retracted=bool(change and change.kind == "retracted"),
        redacted=bool(event.redacted),
        retry=str(event.data.get("effect", "")),
        evidence=event.data["n"] if event.kind == "evidence" else 0,
        pictured=event.kind == "evidence" and bool(event.data.get("picture")),
        finding=event.data["n"] if event.kind == "judged" else 0,
        ask=_ask(event),
        by_hand=str(event.data.get("by_hand", "")),
        link=event.link or str(event.data.get("url", "")) if event.kind in WITH_PAGER else "",
        answer=_answer(answer) if answer else "",
    )


def _answer(event: Event) -> str:
    """Say who answered an access request, and how."""
    sentence = event_kinds.sentence(event.kind, text=event.text, data=event.data)
    if event.kind == "request_over":
        return sentence
    return f"{event.by.name if event.by else 'Firekind'} {sentence}."


def _ask(event: Event) -> str:
    """Return what an entry asks people to do: a verb, and what it is about."""
    gap = str(event.data.get("gap", "")) if event.kind == "gap" else ""
    role = gap.removeprefix(ONE_OF) if gap.startswith(ONE_OF) else ""
    return f"fill|{role}" if role else str(event.data.get("ask", ""))


def _is_told(told: ChannelPost) -> bool:
    return told.room > 0  # what cannot be posted where people talk is written with room 0
