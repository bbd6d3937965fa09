"""Retype with the plan shown first: what a door calls before and after someone confirms."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction

from incidents import event_kinds, lifecycle
from incidents.lifecycle import circle, rules
from incidents.lifecycle.circle import Admission
from incidents.models import Incident, IncidentType, Participant, Person, Source
from incidents.policies.policy import Policy, moves_room, private_after
from workflows import ports
from workflows.effects.failing import failures, refused_last
from workflows.loading import load_facts
from workflows.loading.incident_rows import someone
from workflows.models import Alert
from workflows.oncall import callees
from workflows.planning import drills, participation
from workflows.planning.desired import desired_state
from workflows.planning.facts import ChannelPost, Facts, Stay
from workflows.planning.observed import Observed
from workflows.planning.participation import Standing
from workflows.planning.plan import Plan, plan
from workflows.planning.plan_lines import FREE, PlanLine, being_opened
from workflows.planning.wording import basis, privacy_notes, reminding, shut_out
from workflows.reconcile import admitting
from workflows.usergroups import absent_groups, workspace_cache

OWN_MESSAGES = frozenset({"post", "small", "picture", "title"})  # keys of lines about our own messages


class PlanChanged(Exception):
    """The confirmed plan is out of date; ``plan`` is the new one, to show instead."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("The plan changed while you were reading it. This is the new one; review it, then confirm.")
        self.plan = plan


def preview(
    incident: Incident,
    *,
    to: IncidentType,
    by: Person | None = None,
    bring: Collection[Person] = (),
    come: bool = True,
) -> Plan:
    """Return what a retype would do, without doing it or asking any vendor.

    ``by`` comes along into a private type unless ``come`` is false; ``bring`` are brought along.
    """
    return _shown_to(by, _work_out(incident, to.policy, by=by, bring=bring, come=come).plan)


def confirm(
    incident: Incident,
    *,
    to: IncidentType,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    because: str = "",
    bring: Collection[Person] = (),
    come: bool = True,
    digest: str | None = None,
    since: int | None = None,
) -> Incident:
    """Retype after someone confirmed the plan with this digest; raise ``PlanChanged`` if the plan has changed.

    The people in the plan are brought in by name, whatever happens to their groups. Without a digest nothing was shown
    and nothing is compared. Raises ``NotThere``, ``Refused`` and ``Stale`` like the verb.
    """
    with transaction.atomic():
        now = rules.held(incident, by=by, several=to.policy.private)
        found = None
        if now.is_active and lifecycle.may_retype(now, to):
            found = _work_out(now, to.policy, by=by, bring=bring, come=come)
            if digest is not None and found.plan.digest != digest:
                raise PlanChanged(_shown_to(by, found.plan))
        retyped = lifecycle.retype(
            now,
            to=to,
            by=by,
            at=at,
            source=source,
            because=because,
            bring=bring,
            come=come,
            admission=found.admission if found else None,
            since=since,
            keep_room=found is not None and moves_room(now.private, to.policy) and found.after.room == now.room,
            new_room=found is not None and found.after.room != now.room,
            changes=_changes(found.plan) if found else None,
        )
        if found:
            failures.take_over(retyped, retries=found.plan.retries, awaits=found.plan.awaits, at=at)
        return retyped


def _changes(result: Plan) -> list[tuple[str, str, str, int]]:
    """Return the lines that say what changes, and the people concerned, without what stays or is merely reposted.

    Also without those who are in but no longer needed: no one is removed, so they would wait for nothing.
    """
    lines = (line for line in result.lines if line.key == FREE or (line.sign in "+~-" and line.key not in OWN_MESSAGES))
    return [(line.sign, line.text, line.key, line.count) for line in lines]


@dataclass(frozen=True, slots=True)
class _WorkedOut:
    """A retype as it would be: the facts after it, the plan, and who comes in by it."""

    after: Facts
    plan: Plan
    admission: Admission


def _work_out(
    incident: Incident, policy: Policy, *, by: Person | None, bring: Collection[Person], come: bool
) -> _WorkedOut:
    known = load_facts.one(incident)
    after = _retyped(known.facts, incident, policy, by=by, bring=bring, come=come)
    turns_private = after.private and not known.facts.private
    alerts = Alert.objects.filter(incident=incident).count() if turns_private else 0
    replays = Incident.objects.filter(replays=incident, private=False).count() if turns_private else 0
    duplicates = Incident.objects.filter(duplicate_of=incident, private=False).count() if turns_private else 0
    result = plan(desired_state(after), known.observed, tries_again=ports.connected().keys())
    opening = sum(1 for _ in being_opened(known.observed))
    beside = {"alerts": alerts, "replays": replays, "duplicates": duplicates, "opening": opening}
    result = _with_refusals(_with_notes(result, known.facts, after, beside=beside), by=by)
    admission = admitting.of(after, participation.of(after))
    whom = _reached(result, known.facts, after, admission)
    choice = (sorted(one.pk for one in bring), come)
    named = replace(result, whom=whom, basis=basis.of(known.facts, after, alerts=alerts, choice=choice))
    return _WorkedOut(after, named, admission)


def _reached(result: Plan, before: Facts, after: Facts, admission: Admission) -> tuple[str, ...]:
    """Return the ids behind the names: who comes in, who is invited or paged, and who loses access."""
    asked = {one.thing for one in result.actions if one.kind in {"member", "page"}}
    inside = {f"in/{one.person_id}" for one in admission.entries}
    outside = {f"out/{one.person_id}" for one in shut_out.losing(before, after)}
    return tuple(sorted(asked | inside | outside))


def preview_declare(
    *,
    type: IncidentType,
    by: Person | None = None,
    lead: Person | None = None,
    services: Collection[str] = (),
    is_drill: bool = False,
) -> Plan:
    """Return what declaring an incident of this type would do."""
    facts = load_facts.of_declaring(type, by=by, lead=lead, services=services, is_drill=is_drill)
    result = _with_refusals(_without_ports(plan(desired_state(_with_groups(facts)), Observed()), facts), by=by)
    result = _with_reminders(result, None, type.policy)
    return _shown_to(by, replace(result, lines=(*result.lines, *_not_invited(facts))))


def _shown_to(by: Person | None, whole: Plan) -> Plan:
    """Return a plan as someone may read it: guests see no names."""
    return whole.without_names() if by is not None and (by.is_guest or by.is_external) else whole


def shown_to(by: Person | None, lines: Collection[PlanLine]) -> tuple[PlanLine, ...]:
    """Return the lines of a plan that was carried out, as someone may read them."""
    return _shown_to(by, Plan(lines=tuple(lines))).lines


def preview_policy(incident: Incident, policy: Policy) -> Plan:
    """Return what would happen to an open incident if its type's policy became this one."""
    known = load_facts.one(incident)
    if moves_room(incident.private, policy):
        text = "is public; it keeps its old policy until someone retypes it, because this one is private"
        return Plan(lines=(PlanLine("=", f"{incident.codename} {text}", "private"),))
    after = replace(known.facts, policy=policy, private=private_after(incident.private, policy))
    # A changed policy alone brings no one into a private incident: those it names are offered to the participants.
    return _with_reminders(plan(desired_state(_with_groups(after)), known.observed), known.facts.policy, policy)


def _retyped(
    facts: Facts, incident: Incident, policy: Policy, *, by: Person | None, bring: Collection[Person], come: bool
) -> Facts:
    kept = circle.staying(incident, by=by, come=come, bring=bring)
    said = by.name if by else ""
    staying = tuple(_stay(person, reason, by=said) for person, (reason, _) in kept.items())
    brought = tuple(someone(person, said) for person in bring)

    def turned(*, converts: bool) -> Facts:
        after = facts.retyped(policy, staying=staying, bring=brought, converts=converts)
        told = ChannelPost(0, "retyped", event_kinds.of("retyped").news, said, "", "", after.room)
        return _with_groups(replace(after, told=(*after.told, told)))

    converts = moves_room(facts.private, policy) and _convertible(facts)
    after = turned(converts=converts)
    return turned(converts=False) if converts and participation.left_behind(facts, after) else after


def _stay(person: Person, reason: str, *, by: str) -> Stay:
    return Stay(someone(person, ""), reason, by=by if reason == Participant.Reason.PICKED else "")


def _convertible(facts: Facts) -> bool:
    """Return whether the room itself could be made private; only if everyone in it may stay."""
    room = facts.room_of(facts.room)
    there = facts.is_there(f"channel/{facts.room}") and not facts.is_there(f"archived/{facts.room}")
    return facts.converts and room.public and there


def _with_groups(facts: Facts) -> Facts:
    """Look up who the facts' policy names: groups, and with a pager also schedules and callees."""
    found = callees.known([facts.policy], pager=facts.pager)
    groups = workspace_cache.members(set(facts.policy.groups))
    return replace(
        facts,
        groups=groups,
        why_no_group=absent_groups.why(groups),
        on_call=found.on_call,
        otherwise=found.otherwise,
        callees=found.callees,
    )


def _gaining(after: Facts) -> Iterator[Standing]:
    """Yield who comes to take part by the retype, in the channel or not."""
    who = participation.of(after).standings.values()
    yield from (one for one in who if one.wanted and one.who.person_id not in after.inside)


def _on_the_web(after: Facts, whom: Iterable[Standing]) -> Iterator[PlanLine]:
    """Say who keeps or gains access without being in a channel: it accepts no one, or they have no chat account."""
    takes = after.chat and not after.is_there(f"archived/{after.room}")
    for one in whom:
        if one.wanted and not (one.who.chat_id and takes):
            account = "" if one.who.chat_id else ", with no Slack account here"
            says = f"{one.who.name} can see it on the web only{account} ({one.why})"
            inside = int(one.who.person_id in after.inside)
            yield PlanLine("+", says, f"sees/{one.who.person_id}", inside=inside)


def _not_invited(after: Facts) -> Iterator[PlanLine]:
    """Say who takes part and cannot be invited because no one linked them to an account."""
    if not after.chat or after.is_there(f"archived/{after.room}"):
        return
    for one in participation.of(after).standings.values():
        if one.wanted and not one.who.chat_id:
            says = f"{one.who.name} is not invited: they have no Slack account here ({one.why})"
            yield PlanLine("!", says, f"sees/{one.who.person_id}")


def _with_notes(result: Plan, before: Facts, after: Facts, *, beside: Mapping[str, int]) -> Plan:
    result = _with_reminders(_without_ports(result, after), before.policy, after.policy)
    if not after.private:
        return replace(result, lines=(*result.lines, *_not_invited(after)))
    gaining = tuple(_gaining(after))
    if before.private:
        lines = (*result.lines, *_on_the_web(after, gaining))
        return replace(result, lines=lines, notes=tuple(privacy_notes.opening(after, gaining)))
    everyone = participation.of(after).standings.values()
    lines = (*shut_out.lines(before, after), *result.lines, *_on_the_web(after, everyone))
    notes = privacy_notes.notes(before, after, **beside, looked_for=len(result.doubts))
    return replace(result, lines=lines, notes=notes)


def _with_reminders(result: Plan, before: Policy | None, after: Policy) -> Plan:
    return replace(result, lines=(*result.lines, *reminding.lines(before, after)))


def _with_refusals(result: Plan, *, by: Person | None) -> Plan:
    """Warn of steps that a vendor refused when last asked, in incidents ``by`` may see; no one learns of others."""
    lines = (PlanLine("!", says, "refused") for says in refused_last.ahead(result.actions, by=by))
    return replace(result, lines=(*result.lines, *lines))


def _without_ports(result: Plan, facts: Facts) -> Plan:
    """Say what is not done because what it needs is not connected, or because it is a drill."""
    lines: list[PlanLine] = []
    if not facts.chat:
        says = "Slack is not connected: no one is invited and nothing is posted. Only this page changes."
        lines.append(PlanLine("!", says, "chat"))
    if facts.is_drill:
        lines.append(PlanLine("=", drills.SAYS, "drill"))
    elif facts.policy.pages and not facts.pager:
        lines.append(
            PlanLine("!", f"PagerDuty is not connected: {', '.join(facts.policy.pages)} cannot be paged.", "pager")
        )
    if not facts.pager and any(one.kind == "page" for one in result.actions):
        lines.append(PlanLine("!", "PagerDuty is not connected: pages are resolved once it is.", "pager"))
    return replace(result, lines=(*result.lines, *lines))
