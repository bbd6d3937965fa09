"""Who a closed incident might let in: a rule of its type now names them, and its people decide."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from incidents.lifecycle import access
from incidents.models import AccessRequest, Incident, Person
from workflows.loading.load_facts import IncidentState
from workflows.planning import participation
from workflows.planning.participation import Offer, Standing


@dataclass(frozen=True, slots=True)
class Differing:
    """What to ask, and what no longer needs an answer, each with its words."""

    new: tuple[Offer, ...] = ()
    over: tuple[tuple[AccessRequest, str, bool], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.over)


def differing(known: IncidentState) -> Differing:
    """Compare the people rules name with those already asked about; nothing once the incident has ended."""
    if not known.facts.active or not (known.facts.is_closed or known.requests):
        return Differing()
    who = participation.of(known.facts)
    asked = {one.person_id: one for one in known.requests}
    named = {one.who.person_id: one for one in who.offers}
    over = {pk: one for pk, one in asked.items() if _is_over(one, who.standings.get(pk), named.get(pk))}
    # Whose rule names them no more may be named by another one.
    new = tuple(one for pk, one in named.items() if pk not in asked or pk in over)
    return Differing(new, tuple(_over(one, who.standings.get(pk)) for pk, one in over.items()))


def note(incident: Incident, found: Differing, *, at: datetime) -> None:
    """Ask the incident's people, and close what needs no answer, in the caller's transaction, which holds its row."""
    people = Person.objects.in_bulk([one.who.person_id for one in found.new])
    for request, says, is_in in found.over:
        access.settle(request, says, is_in=is_in, at=at)
    for offer in found.new:
        person = people[offer.who.person_id]
        access.offer(incident, person, offer.says, rule=offer.rule, role=offer.role, at=at)


def _over(request: AccessRequest, standing: Standing | None) -> tuple[AccessRequest, str, bool]:
    is_in, name = standing is not None and standing.here, request.person.name
    rule = f"in {request.rule}" if request.rule.startswith("@") else request.rule
    return request, f"{name} is in the incident now." if is_in else f"{name} is no longer {rule}.", is_in


def _is_over(request: AccessRequest, standing: Standing | None, offer: Offer | None) -> bool:
    """Return whether a request no longer needs an answer: they are in, or the rule no longer names them."""
    if request.role:
        return offer is None or offer.role != request.role
    if standing is not None and standing.here:
        return True
    return bool(request.rule) and (offer is None or offer.rule != request.rule)
