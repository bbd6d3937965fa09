"""Retype with the plan shown first: what a door asks before and after someone confirms."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime

from django.conf import settings
from django.db import transaction

from incidents import kinds, lifecycle
from incidents.models import Incident, IncidentType, Person, Source
from incidents.policy import Policy, moves_room, private_after
from workflows import calling, directory, gather, moving, ports
from workflows.captures import Trigger
from workflows.desired import desired_state
from workflows.facts import Facts, Room, Told
from workflows.models import Alert
from workflows.observed import Observed
from workflows.plan import Line, Note, Plan, plan
from workflows.someone import Someone


class PlanChanged(Exception):
    """What was confirmed is not what would happen any more; ``plan`` is the new one, to be shown instead."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("The plan changed while you were reading it. This is the new one; look again, then confirm.")
        self.plan = plan


def preview(incident: Incident, *, to: IncidentType, by: Person | None = None, bring: Collection[Person] = ()) -> Plan:
    """Return what a retype would do, without doing any of it and without asking any vendor."""
    known = gather.one(incident)
    after = _retyped(known.facts, incident, to.policy, by=by, bring=bring)
    alerts = Alert.objects.filter(incident=incident).count() if after.private and not known.facts.private else 0
    return _with_notes(plan(desired_state(after), known.observed), known.facts, after, alerts=alerts)


def confirm(
    incident: Incident,
    *,
    to: IncidentType,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    because: str = "",
    bring: Collection[Person] = (),
    digest: str | None = None,
    since: int | None = None,
) -> Incident:
    """Retype after someone confirmed the plan with this digest; raise ``PlanChanged`` when it is another by now.

    Without a digest nothing was shown and nothing is compared. Raises ``Refused`` and ``Stale`` like the verb.
    """
    with transaction.atomic():
        locked = Incident.objects.select_for_update(of=("self",)).select_related("type", "policy_version", "lead")
        now = locked.get(pk=incident.pk)
        if digest is not None and now.is_active and now.type_id != to.pk:
            fresh = preview(now, to=to, by=by, bring=bring)
            if fresh.digest != digest:
                raise PlanChanged(fresh)
        stays = moves_room(now.private, to.policy) and _keeps_room(now, to.policy, by=by, bring=bring)
        return lifecycle.retype(
            now, to=to, by=by, at=at, source=source, because=because, bring=bring, since=since, keep_room=stays
        )


def _keeps_room(incident: Incident, policy: Policy, *, by: Person | None, bring: Collection[Person]) -> bool:
    """Tell whether the room is made private itself, by the same facts as the plan that was shown."""
    facts = gather.one(incident).facts
    return _retyped(facts, incident, policy, by=by, bring=bring).room == facts.room


def preview_declare(
    *, type: IncidentType, by: Person | None = None, lead: Person | None = None, services: Collection[str] = ()
) -> Plan:
    """Return what declaring an incident of this type would do."""
    policy = type.policy
    people = {one.chat_id: one for one in [*_persons(lead, "leads"), *_persons(by, "declared it")]}
    slack = settings.FIREKIND.slack
    facts = Facts(
        revision=0,
        codename="",
        title="",
        policy=policy,
        private=policy.private,
        room=1,
        rooms=(Room(1, "", policy.private, "a channel of its own"),),
        url=settings.FIREKIND.base_url,
        declared_at=datetime.fromtimestamp(0, tz=UTC),
        lead=next(iter(_persons(lead, "leads")), None),
        people=tuple(people.values()),
        pager=ports.pager() is not None,
        announce_channel=slack.announce_channel if slack else "",
        chat=ports.chat() is not None,
        services=tuple(" ".join(service.split()) for service in services),
        triggers=(Trigger(1, "declare", datetime.fromtimestamp(0, tz=UTC)),),
        sources=gather.sources(),
    )
    return _without_ports(plan(desired_state(_with_groups(facts)), Observed()), facts)


def preview_policy(incident: Incident, policy: Policy) -> Plan:
    """Return what would happen to an open incident of the type if its policy became this one."""
    known = gather.one(incident)
    if moves_room(incident.private, policy):
        text = "is public; it keeps its old policy until someone retypes it, because this one is private"
        return Plan(lines=(Line("=", f"{incident.codename} {text}", "private"),))
    after = replace(known.facts, policy=policy, private=private_after(incident.private, policy))
    return plan(desired_state(_with_groups(after)), known.observed)


def _retyped(
    facts: Facts, incident: Incident, policy: Policy, *, by: Person | None, bring: Collection[Person]
) -> Facts:
    keep = {one.chat_id: one for one in [*_persons(incident.lead, "leads"), *_persons(by, "retyped it")]}
    brought = tuple(one for person in bring for one in _persons(person, "brought along"))
    stays = _stays(facts, policy, {*keep, *(one.chat_id for one in brought)})
    after = facts.retyped(policy, keep=tuple(keep.values()), bring=brought, stays=stays)
    told = Told(0, "retyped", kinds.of("retyped").news, by.name if by else "", "", "", after.room)
    return _with_groups(replace(after, told=(*after.told, told)))


def _stays(facts: Facts, policy: Policy, coming: Collection[str]) -> bool:
    """Tell whether the room is made private itself: where that can be done, and everyone in it may stay."""
    room = facts.room_of(facts.room)
    if not (facts.converts and room.public and facts.is_there(f"channel/{facts.room}")):
        return False
    if facts.is_there(f"archived/{facts.room}"):
        return False
    inside = {key.rpartition("/")[2] for key in facts.there if key.startswith(f"member/{facts.room}/")}
    groups = directory.members(set(policy.groups))
    invited = {one.chat_id for handle in policy.invite for one in groups.get(handle) or ()}
    return inside <= {*coming, *invited}


def _with_groups(facts: Facts) -> Facts:
    """Look up whom the facts' policy names: groups, and where a pager is connected schedules and callees."""
    found = calling.known([facts.policy], pager=facts.pager)
    return replace(
        facts,
        groups=directory.members(set(facts.policy.groups)),
        on_call=found.on_call,
        otherwise=found.otherwise,
        callees=found.callees,
    )


def _persons(person: Person | None, why: str) -> list[Someone]:
    return [gather.someone(person, why)] if person is not None and person.chat_id else []


def _with_notes(result: Plan, before: Facts, after: Facts, *, alerts: int) -> Plan:
    result = _without_ports(result, after)
    notes: tuple[Note, ...] = ()
    if after.private and not before.private:
        notes = moving.notes(before, after, alerts=alerts)
    elif before.private and not after.policy.private:
        joining = [
            line.text.removeprefix("invite ")
            for line in result.lines
            if line.sign == "+" and line.key.startswith("invite")
        ]
        says = "The channel and its history stay private. Opening up is a separate, deliberate step."
        notes = (Note(says), *(Note(f"{names} will be able to read the private history.") for names in joining))
    return replace(result, notes=notes)


def _without_ports(result: Plan, facts: Facts) -> Plan:
    """Say what cannot be done because nothing is connected that could."""
    lines: list[Line] = []
    if not facts.chat:
        says = "No chat is connected: nobody is invited and nothing is posted. Only this page changes."
        lines.append(Line("!", says, "chat"))
    if facts.policy.pages and not facts.pager:
        lines.append(Line("!", f"No pager is connected: {', '.join(facts.policy.pages)} cannot be paged.", "pager"))
    return replace(result, lines=(*result.lines, *lines))
