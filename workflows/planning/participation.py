"""Who is in an incident, and why: one answer for each person, from the facts alone. Pure.

The plan and its preview, visibility, the people panel, JSON and the cards all use this and nothing else. A reason that
has ended is history: it says how someone came, never why they are in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from incidents.people.bidi import isolated
from workflows.planning import choosing, drills, pages
from workflows.planning.facts import Facts, Stay
from workflows.planning.invitee import Invitee
from workflows.planning.things import Gap

# How stays begin that hold for as long as they last, in words; ``{by}`` is who let them in.
LASTING: Final[Mapping[str, tuple[str, str]]] = {
    "picked": ("brought in by {by}", "brought in"),
    "let-in": ("let in by {by}", "let in"),
    "joined": ("invited by {by}", "joined the channel"),
    "glass": ("broke glass", "broke glass"),
    "retyped": ("retyped it", "retyped it"),
}
# What is said about people whose reason has ended; ``{detail}`` is the group, the role or the page.
FORMER: Final[Mapping[str, str]] = {
    "declared": "declared it",
    "lead": "led before",
    "role": "was {detail} before",
    "group": "came with @{detail}",
    "one-of": "was {detail} before",
    "paged": "was paged before",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """One person: every reason that holds now, and what follows from them.

    ``wanted`` should be in the channel, ``here`` take part, ``went`` left or were removed by hand. If no reason holds,
    ``former`` says how they came.
    """

    who: Invitee
    reasons: tuple[str, ...] = ()
    former: str = ""
    wanted: bool = False
    here: bool = False
    went: bool = False
    entry: tuple[str, str] = ("", "")  # how a stay begins that the policy causes: reason and detail, as stored

    @property
    def why(self) -> str:
        """Every reason in words, or how they came if none still holds."""
        return ", ".join(self.reasons) or self.former

    @property
    def is_needed(self) -> bool:
        """Whether anything still asks for this person."""
        return bool(self.reasons)


@dataclass(frozen=True, slots=True)
class Offer:
    """Someone a rule now names but no longer lets in: the incident's participants decide.

    With a ``role``, that role is someone else's, to be handed over, or still unassigned.
    """

    who: Invitee
    rule: str
    says: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Participation:
    """Everyone by person id, who has each one-of role, what is missing, and who may be let in."""

    standings: Mapping[int, Standing]
    chosen: Mapping[str, Invitee] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    offers: tuple[Offer, ...] = ()

    @property
    def coming(self) -> list[Standing]:
        """Those who should be in and do not take part yet."""
        return [one for one in self.standings.values() if one.wanted and not one.here]


def of(facts: Facts) -> Participation:
    """Compute who is in and why."""
    facts = drills.within_reach(facts)
    stays = {stay.who.person_id: stay for stay in facts.stays}
    found = _Reasons()
    _personal(found, facts, stays)
    _by_policy(found, facts)
    if not facts.active:
        return Participation(_standings(found, facts, stays))
    present = {pk for pk, one in _standings(found, facts, stays).items() if one.wanted}
    chosen, gaps = choosing.choose(facts, present=present)
    for role, one in chosen.items():
        found.add(one, one.why, entry=("one-of", role))
    offers = tuple(_offers(facts, chosen, stays)) if facts.is_closed else ()
    missing = (*choosing.missing_groups(facts), *gaps)
    return Participation(_standings(found, facts, stays), chosen, missing, offers)


def left_behind(before: Facts, after: Facts) -> frozenset[str]:
    """Return the chat ids of those in the room who must not be in it afterwards, including apps."""
    inside = {key.rpartition("/")[2] for key in before.there if key.startswith(f"member/{before.room}/")}
    return frozenset(inside - {one.who.chat_id for one in of(after).standings.values() if one.wanted})


@dataclass(slots=True)
class _Reasons:
    who: dict[int, Invitee] = field(default_factory=dict)
    says: dict[int, list[str]] = field(default_factory=dict)
    entries: dict[int, tuple[str, str]] = field(default_factory=dict)

    def add(self, who: Invitee, says: str, *, entry: tuple[str, str] = ("", "")) -> None:
        """Add one reason of one person; ``entry`` is how the stay is recorded, and a role outweighs other reasons."""
        self.who.setdefault(who.person_id, who)
        said = self.says.setdefault(who.person_id, [])
        if says not in said:
            said.append(says)
        if entry[0] == "one-of" or (entry[0] and who.person_id not in self.entries):
            self.entries[who.person_id] = entry


def _personal(found: _Reasons, facts: Facts, stays: Mapping[int, Stay]) -> None:
    """Personal reasons: leading, a role, having declared it, and how they came if that lasts."""
    if facts.lead is not None:
        found.add(facts.lead, "leads")
    for role, one in facts.roles:
        found.add(one, role)
    for stay in stays.values():
        if not (stay.here or stay.went):
            continue  # shut out: having declared it is history
        if facts.declarer is not None and facts.declarer.person_id == stay.who.person_id:
            found.add(stay.who, "declared it")
        if says := _lasting(stay):
            found.add(stay.who, says)


def _lasting(stay: Stay) -> str:
    if stay.came not in LASTING:
        return ""
    if stay.detail and stay.came == "picked":
        return stay.detail
    by, alone = LASTING[stay.came]
    return by.format(by=isolated(stay.by)) if stay.by else alone


def _by_policy(found: _Reasons, facts: Facts) -> None:
    """The policy's reasons: its groups, and those its pages and requested ones reach now."""
    if not facts.active:
        return
    for handle in facts.policy.invite:
        for one in facts.groups.get(handle) or ():
            found.add(one, f"@{handle}", entry=("group", handle))
    for page in pages_of(facts):
        for one in page.callee.people if page.brings else ():
            found.add(one, one.why or "paged", entry=("paged", one.why))


def _standings(found: _Reasons, facts: Facts, stays: Mapping[int, Stay]) -> dict[int, Standing]:
    order = dict.fromkeys([*stays, *found.who])
    everyone = (_standing(pk, found, facts, stays.get(pk)) for pk in order)
    return {one.who.person_id: one for one in everyone}


def _standing(pk: int, found: _Reasons, facts: Facts, stay: Stay | None) -> Standing:
    who = found.who.get(pk) or (stay.who if stay else None)
    assert who is not None, "everyone has a stay or a reason"
    reasons, here, went = tuple(found.says.get(pk, ())), bool(stay and stay.here), bool(stay and stay.went)
    former = FORMER.get(stay.came, "").format(detail=stay.detail) if stay else ""
    named = here and facts.active and bool(stay and stay.named)
    # A retype of a private incident shuts no one out, invited yet or not.
    kept = here if facts.private or facts.is_closed else named
    asked = kept if facts.is_closed else bool(reasons) or kept
    wanted = not went and drills.may_come(pk, facts) and asked
    who = replace(who, why=", ".join(reasons) or former)
    return Standing(who, reasons, former, wanted, here, went, found.entries.get(pk, ("", "")))


def pages_of(facts: Facts) -> tuple[pages.WantedPage, ...]:
    """Pages that should be open: none once the incident has ended, and none that could not be sent.

    Open ones stay open while the pager is not connected.
    """
    if not facts.active or facts.is_drill:
        return ()
    names, paged = facts.policy.pages, facts.paged
    wanted = pages.wanted(names, callees=facts.callees, asked=facts.asked, paged=paged, room=facts.room)
    standing = {one.key for one in paged if one.is_open}
    return tuple(one for one in wanted if facts.pager or one.key in standing)


def _offers(facts: Facts, chosen: Mapping[str, Invitee], stays: Mapping[int, Stay]) -> Iterator[Offer]:
    """Yield those a rule of the type now names who are not in, each once, except people turned away."""
    seen: set[int] = set()
    for offer in (*_new_holders(facts, chosen), *_new_members(facts)):
        pk = offer.who.person_id
        stay = stays.get(pk)
        is_in = stay is not None and stay.here and not offer.role
        if pk in seen or is_in or pk in facts.away or (pk, offer.rule) in facts.turned_away:
            continue
        seen.add(pk)
        yield offer


def _new_members(facts: Facts) -> Iterator[Offer]:
    for handle in facts.policy.invite:
        for one in facts.groups.get(handle) or ():
            says = f"{one.name} is in @{handle} now, which the type {facts.policy.name} brings in"
            yield Offer(one, f"@{handle}", f"{says}, but not in this incident. Let them in?")


def _new_holders(facts: Facts, chosen: Mapping[str, Invitee]) -> Iterator[Offer]:
    """Yield who is now on call for a role that someone else, or no one, has: a handover is offered, not done."""
    held = dict(facts.roles)
    for role in facts.policy.one_of:
        on_call = (facts.on_call.get(role.schedule) or ()) if role.schedule and facts.pager else ()
        holder = chosen.get(role.role)
        if not on_call or role.role in held or (holder and holder.person_id in {one.person_id for one in on_call}):
            continue
        one = min(on_call, key=lambda one: (one.name, one.chat_id))
        rule = f"on call for {role.schedule}"
        has = f"{holder.name} has the role {role.role} here" if holder else f"no one has the role {role.role} here"
        yield Offer(one, rule, f"{one.name} is {rule} now; {has}. Let them in and hand it over?", role.role)
