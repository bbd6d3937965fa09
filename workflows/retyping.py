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
from workflows import calling, directory, gather, ports
from workflows.captures import Trigger
from workflows.desired import desired_state
from workflows.facts import Facts, Room, Told
from workflows.observed import Observed
from workflows.plan import Line, Plan, plan
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
    return _with_notes(plan(desired_state(after), known.observed), known.facts, after, known.observed)


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
        return lifecycle.retype(now, to=to, by=by, at=at, source=source, because=because, bring=bring, since=since)


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
    after = facts.retyped(policy, keep=tuple(keep.values()), bring=brought)
    told = Told(0, "retyped", kinds.of("retyped").news, by.name if by else "", "", "", after.room)
    return _with_groups(replace(after, told=(*after.told, told)))


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


def _with_notes(result: Plan, before: Facts, after: Facts, observed: Observed) -> Plan:
    result = _without_ports(result, after)
    notes: list[str] = []
    if after.room != before.room:
        notes = _notes_of_the_move(before, after)
    elif before.private and not after.policy.private:
        joining = [
            line.text.removeprefix("invite ")
            for line in result.lines
            if line.sign == "+" and line.key.startswith("invite")
        ]
        notes = ["The channel and its history stay private. Opening up is a separate, deliberate step."]
        notes += [f"{names} will be able to read the private history." for names in joining]
    return replace(result, notes=tuple(notes))


def _notes_of_the_move(before: Facts, after: Facts) -> list[str]:
    notes = ["At once, only the people named here can see this incident on the web and in searches."]
    if before.is_there(f"channel/{before.room}"):
        shown = f"#{before.room_of(before.room).shown}"
        notes.append(f"People who read {shown} have read it, and what others wrote there stays there.")
        notes.append(f"{shown} cannot be brought back by Firekind once it is archived.")
    notes.append("It stays private from then on, whatever type it takes later.")
    return notes


def _without_ports(result: Plan, facts: Facts) -> Plan:
    """Say what cannot be done because nothing is connected that could."""
    lines: list[Line] = []
    if not facts.chat:
        says = "No chat is connected: nobody is invited and nothing is posted. Only this page changes."
        lines.append(Line("!", says, "chat"))
    if facts.policy.pages and not facts.pager:
        lines.append(Line("!", f"No pager is connected: {', '.join(facts.policy.pages)} cannot be paged.", "pager"))
    return replace(result, lines=(*result.lines, *lines))
