"""Offers: who a closed incident might let in because a rule of its type now names them. Its participants decide."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from incidents.lifecycle import access
from incidents.models import AccessRequest, Incident, Person
from workflows.loading.load_facts import IncidentState
from workflows.planning import participation
from workflows.planning.facts import Facts
from workflows.planning.participation import Offer, Standing

ON_CALL: Final = "on call for "  # followed by a schedule's name: prefix of a rule that is not a group's


@dataclass(frozen=True, slots=True)
class Differing:
    """What to ask, and what no longer needs an answer, each with its words."""

    new: tuple[Offer, ...] = ()
    over: tuple[tuple[AccessRequest, str, bool], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.over)


def differing(known: IncidentState) -> Differing:
    """Compare the people rules name with those already asked about; empty once the incident has ended."""
    if not known.facts.active or not (known.facts.is_closed or known.requests):
        return Differing()
    who = participation.of(known.facts)
    asked = {one.person_id: one for one in known.requests}
    named = {one.who.person_id: one for one in who.offers}
    over = {pk: one for pk, one in asked.items() if _is_over(one, who.standings.get(pk), named.get(pk))}
    # Someone whose rule no longer names them may be named by another one.
    new = tuple(one for pk, one in named.items() if pk not in asked or pk in over)
    return Differing(new, tuple(_over(one, who.standings.get(pk), known.facts) for pk, one in over.items()))


def note(incident: Incident, found: Differing, *, at: datetime) -> None:
    """Ask the participants, and close requests that need no answer.

    Runs in the caller's transaction, which holds the incident's row.
    """
    people = Person.objects.in_bulk([one.who.person_id for one in found.new])
    for request, says, is_in in found.over:
        access.settle(request, says, is_in=is_in, at=at)
    for offer in found.new:
        person = people[offer.who.person_id]
        access.offer(incident, person, offer.says, rule=offer.rule, role=offer.role, at=at)


def _over(request: AccessRequest, standing: Standing | None, facts: Facts) -> tuple[AccessRequest, str, bool]:
    is_in = standing is not None and standing.here
    return request, f"{request.person.name} is in the incident now." if is_in else _ended(request, facts), is_in


def _ended(request: AccessRequest, facts: Facts) -> str:
    """Say why a rule no longer names someone who is not in: the type changed, a role is taken, or they are off call."""
    name, rule, policy = request.person.name, request.rule, facts.policy
    is_group = rule.startswith("@")
    asked = policy.invite if is_group else policy.schedules
    subject = rule.removeprefix("@" if is_group else ON_CALL)
    if subject not in asked:
        return f"The type {policy.name} does not bring in {rule if is_group else f'the person {rule}'}."
    now = (facts.groups if is_group else facts.on_call).get(subject) or ()
    holder = {**facts.chosen, **dict(facts.roles)}.get(request.role)
    if holder is not None and request.person_id in {one.person_id for one in now}:
        return f"{holder.name} is {request.role} now."
    return f"{name} is no longer {f'in {rule}' if is_group else rule}."


def _is_over(request: AccessRequest, standing: Standing | None, offer: Offer | None) -> bool:
    """Return whether a request no longer needs an answer: they are in, or the rule no longer names them."""
    if request.role:
        return offer is None or offer.role != request.role
    if standing is not None and standing.here:
        return True
    return bool(request.rule) and (offer is None or offer.rule != request.rule)
