"""Plan one past incident under some types, moment by moment, as if everything planned had happened. Pure.

People, groups and who is on call are those of today, because who was on call then is not stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from incidents.policies.policy import Policy
from insights.trying.life import PastLife
from workflows.planning import participation
from workflows.planning.desired import desired_state
from workflows.planning.facts import Facts, Room, Stay
from workflows.planning.pages import ACKNOWLEDGED, RESOLVED, TRIGGERED, Paged
from workflows.planning.participation import Participation
from workflows.planning.things import Desired

Policies = Mapping[str, Policy]


@dataclass(frozen=True, slots=True)
class PlayedAct:
    """Something that was asked for, with the type that first asked for it and a description.

    For a person, ``words`` are the ways in which they come: a group, a role, a page.
    """

    slug: str
    words: tuple[str, ...]


@dataclass(slots=True)
class PlayedLife:
    """Everything that was ever asked for: people by id, pages and captures by key, gaps by key; and privacy."""

    people: dict[int, PlayedAct] = field(default_factory=dict)
    pages: dict[str, PlayedAct] = field(default_factory=dict)
    captures: dict[str, PlayedAct] = field(default_factory=dict)
    gaps: dict[str, PlayedAct] = field(default_factory=dict)
    private: dict[str, PlayedAct] = field(default_factory=dict)


def play(life: PastLife, policies: Policies) -> PlayedLife:
    """Return what an incident would have caused under these types."""
    played = PlayedLife()
    first, *rest = life.moments
    facts = _entered(_declared(life.facts, policies[first.slug]))
    facts = _take(played, facts, first.slug)
    for moment in rest:
        policy = policies[moment.slug]
        staying = (Stay(facts.declarer, "declared"),) if facts.declarer is not None else ()
        facts = _answered(facts, moment.answered).retyped(policy, staying=staying, bring=())
        facts = _take(played, _entered(facts), moment.slug)
    return played


def _declared(facts: Facts, policy: Policy) -> Facts:
    room = Room(1, facts.codename, policy.private, facts.codename)
    return replace(facts, policy=policy, private=policy.private, rooms=(room,))


def _entered(facts: Facts) -> Facts:
    """Return the facts after everyone due to come in has done so, and a private incident has closed."""
    who = participation.of(facts)
    coming = {one.who.person_id: Stay(one.who, *one.entry, named=True) for one in who.coming}
    known = {stay.who.person_id: stay for stay in facts.stays} | coming
    chosen = {**facts.chosen, **who.chosen}
    return replace(facts, stays=tuple(known.values()), is_closed=facts.private, chosen=chosen)


def _answered(facts: Facts, targets: frozenset[str]) -> Facts:
    """Return the facts after people answered pages to these targets, as they did in the real incident."""
    paged = (
        replace(one, status=ACKNOWLEDGED, answered=True) if one.is_open and one.ref in targets else one
        for one in facts.paged
    )
    return replace(facts, paged=tuple(paged))


def _take(played: PlayedLife, facts: Facts, slug: str) -> Facts:
    """Record what is asked for now, and return the facts after all of it has happened."""
    wanted, who = desired_state(facts), participation.of(facts)
    for one in who.standings.values():
        if one.wanted:
            ways = tuple(_ways(one.who.person_id, facts, who))
            played.people.setdefault(one.who.person_id, PlayedAct(slug, ways))
    for thing in wanted.things:
        if thing.kind == "page":
            played.pages.setdefault(thing.key, PlayedAct(slug, (str(thing.spec["name"]),)))
        elif thing.kind == "capture":
            played.captures.setdefault(thing.key, PlayedAct(slug, (thing.label,)))
    for gap in wanted.gaps:
        played.gaps.setdefault(gap.key, PlayedAct(slug, (gap.says,)))
    if facts.private:
        played.private.setdefault("", PlayedAct(slug, ()))
    return _paged(facts, wanted)


def _ways(person: int, facts: Facts, who: Participation) -> Iterator[str]:
    """Yield the ways a type brings in a person: each of its groups, a role, what it pages."""
    for handle in facts.policy.invite:
        if any(one.person_id == person for one in facts.groups.get(handle) or ()):
            yield f"@{handle}"
    for role, one in who.chosen.items():
        if one.person_id == person:
            yield f"the {role}"
    for page in participation.pages_of(facts):
        if page.brings and any(one.person_id == person for one in page.callee.people):
            yield f"who {page.callee.name} pages"


def _paged(facts: Facts, wanted: Desired) -> Facts:
    """Open the pages that are wanted, and withdraw those that are not."""
    pages = {one.key: one for one in wanted.things if one.kind == "page"}
    callees = {one.ref: one for one in facts.callees.values() if one is not None}
    known = {one.key: one for one in facts.paged}
    for key, one in known.items():
        if one.is_open and key not in pages:
            known[key] = replace(one, status=RESOLVED, withdrawn=True)
    for key, thing in pages.items():
        if key not in known:
            ref = str(thing.spec["target"])
            people = callees[ref].people if ref in callees else ()
            service, name = str(thing.spec["service"]), str(thing.spec["name"])
            known[key] = Paged(key, ref, name, service, TRIGGERED, people)
    return replace(facts, paged=tuple(known.values()))
