"""What should exist outside for one incident, from its policy and its facts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from incidents.policy import OneOf, Policy
from workflows import captures, cards
from workflows.card import Card
from workflows.facts import Facts, Someone, Told

Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing that should exist outside.

    ``key`` names it within the incident (``topic/1``); ``spec`` says how it should be, in plain JSON values;
    ``needs`` are keys of things that must be there first; ``room`` is None for what stands in no room of ours;
    ``due_at`` is when it may be made, where that is not at once.
    """

    key: str
    kind: str
    spec: Spec
    label: str
    needs: tuple[str, ...] = ()
    room: int | None = None
    why: str = ""
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """Something the policy asks for that cannot be had; ``says`` what is missing and how to mend it."""

    key: str
    says: str


@dataclass(frozen=True, slots=True)
class Desired:
    """Everything that should exist, and what is missing."""

    things: tuple[Thing, ...] = ()
    gaps: tuple[Gap, ...] = ()
    chosen: Mapping[str, Someone] = field(default_factory=dict)


def desired_state(facts: Facts) -> Desired:
    """Work out everything that should exist outside for an incident with these facts."""
    talk = _talk(facts)
    gaps = [*talk.gaps, *_missing_sources(facts)]
    return replace(talk, things=(*talk.things, *_captures(facts)), gaps=tuple(gaps))


def _talk(facts: Facts) -> Desired:
    """Work out where people talk, who, and what is said there.

    Nothing is asked for where no chat is connected, nor for an incident that ended before its room was opened: only
    what it said in public before it turned private is withdrawn all the same.
    """
    opened = facts.is_there(f"channel/{facts.room}")
    if not facts.chat:
        return Desired()
    if not (facts.active or opened):
        return Desired(tuple(_withdrawals(facts)))
    invitees, chosen, gaps = _people(facts)
    things = [*_current_room(facts, invitees), *_announcement(facts), *_told(facts), *_left_rooms(facts)]
    if opened and facts.active and facts.is_there(f"archived/{facts.room}"):
        gaps.append(_archived_gap(facts))
    return Desired(tuple(things), tuple(gaps), chosen)


def _captures(facts: Facts) -> Iterator[Thing]:
    asked = captures.wanted(
        facts.policy,
        triggers=facts.triggers,
        sources=facts.sources,
        services=facts.services,
        status=facts.status,
    )
    for one in asked:
        yield Thing(one.key, "capture", one.spec, one.label, due_at=one.due_at)


def _missing_sources(facts: Facts) -> Iterator[Gap]:
    if facts.active:
        for key, says in captures.missing(facts.policy, facts.sources):
            yield Gap(f"source/{key}", says)


def _people(facts: Facts) -> tuple[dict[str, Someone], dict[str, Someone], list[Gap]]:
    """Everyone to be in the room by chat id, who was chosen for each one-of role, and the gaps."""
    found = {one.chat_id: one for one in facts.people if one.chat_id not in facts.away}
    gaps: list[Gap] = []
    chosen: dict[str, Someone] = {}
    if not facts.active:
        return found, chosen, gaps
    if facts.policy.groups and not facts.groups:
        gaps.append(_unread_groups(facts.policy))
    for handle in facts.policy.invite:
        members = facts.groups.get(handle, ())
        if members is None:
            gaps.append(_missing_group(handle, facts.policy))
        for one in members or ():
            found.setdefault(one.chat_id, one)
    for role in facts.policy.one_of:
        pick, gap = _one_of(role, facts, present=found)
        gaps += [gap] if gap else []
        if pick is not None:
            chosen[role.role] = pick
            found.setdefault(pick.chat_id, pick)
    return {key: one for key, one in found.items() if key not in facts.away}, chosen, gaps


def _one_of(role: OneOf, facts: Facts, *, present: Mapping[str, Someone]) -> tuple[Someone | None, Gap | None]:
    if role.group not in facts.groups:
        return None, None
    members = facts.groups[role.group]
    if members is None:
        return None, _missing_group(role.group, facts.policy)
    pick = _choose(members, already=facts.chosen.get(role.role), present=present, away=facts.away)
    if pick is None:
        return None, _nobody(role.role, role.group)
    return replace(pick, why=f"the one of @{role.group}"), None


def _choose(
    members: tuple[Someone, ...], *, already: str | None, present: Mapping[str, Someone], away: frozenset[str]
) -> Someone | None:
    """Pick exactly one of a group: who was chosen before, else who is here anyway, else the first by name."""
    able = sorted((one for one in members if one.chat_id not in away), key=lambda one: (one.name, one.chat_id))
    order = sorted(able, key=lambda one: (one.chat_id != already, one.chat_id not in present))
    return order[0] if order else None


def _current_room(facts: Facts, invitees: Mapping[str, Someone]) -> Iterator[Thing]:
    number = facts.room
    room = facts.room_of(number)
    channel = f"channel/{number}"
    spec = {"name": room.name, "private": room.private}
    yield Thing(channel, "channel", spec, f"#{room.shown}" if room.name else "a channel of its own", room=number)
    for one in invitees.values():
        yield Thing(
            f"member/{number}/{one.chat_id}",
            "member",
            {"room": number, "person": one.chat_id},
            one.name,
            needs=(channel,),
            room=number,
            why=one.why,
        )
    topic = {"room": number, "text": cards.topic(facts)}
    yield Thing(f"topic/{number}", "topic", topic, "the topic", needs=(channel,), room=number)
    bookmark = {"room": number, "title": "Incident page", "link": facts.url}
    yield Thing(f"bookmark/{number}", "bookmark", bookmark, "the incident page", needs=(channel,), room=number)
    headline = f"headline/{number}"
    yield _post(headline, cards.headline(facts), "the headline", number)
    yield Thing(f"pin/{number}", "pin", {"post": headline}, "the headline", needs=(headline,), room=number)
    if number > 1:
        yield _post(f"handover/{number}", cards.handover(facts), "the hand-over", number)
    if facts.archive_asked and not facts.active:
        yield Thing(f"archived/{number}", "archived", {"room": number}, f"#{room.shown}", (channel,), number)


def _told(facts: Facts) -> Iterator[Thing]:
    for event in facts.told:
        if event.room == facts.room:
            yield _post(f"told/{event.n}", cards.told(event, facts), event.label, event.room)
            if event.pictured and not event.retracted:
                yield from _picture(event)


def _picture(event: Told) -> Iterator[Thing]:
    """A picture below the message that tells of it: sent up beside it, shown once the text stands."""
    label, post = f"the picture of evidence {event.evidence}", f"told/{event.n}"
    upload, spec = f"upload/{event.n}", {"room": event.room, "evidence": event.evidence}
    yield Thing(upload, "upload", spec, label, needs=(f"channel/{event.room}",), room=event.room)
    shown = spec | {"post": post, "upload": upload}
    yield Thing(f"picture/{event.n}", "picture", shown, label, needs=(post, upload), room=event.room)


def _announcement(facts: Facts) -> Iterator[Thing]:
    announce = facts.policy.announce and not facts.private
    if not announce and not facts.is_there("announcement"):
        return
    if facts.private:
        card = cards.withdrawn_announcement()
    elif announce:
        card = cards.announcement(facts)
    else:
        card = cards.ended_announcement(facts)
    label = f"the announcement in #{facts.announce_channel}"
    spec = {"channel": facts.announce_channel, "card": card.as_dict()}
    yield Thing("announcement", "post", spec, label, needs=(f"channel/{facts.room}",) if announce else ())


def _left_rooms(facts: Facts) -> Iterator[Thing]:
    """Public rooms that the talk left: our words withdrawn, one neutral line, the topic cleared, archived.

    Words are withdrawn at once. The neutral line and the archiving wait until the private room stands and its
    hand-over is posted: if it cannot be made, nothing new is said anywhere public.
    """
    for number in range(1, facts.room):
        channel = f"channel/{number}"
        if not facts.is_there(channel):
            continue
        yield from _withdrawn(facts, number)
        moved = (channel, f"channel/{facts.room}", f"handover/{facts.room}")
        farewell = _post(f"farewell/{number}", cards.farewell(), "one neutral line in the old channel", number)
        yield Thing(farewell.key, "post", farewell.spec, farewell.label, needs=moved, room=number)
        shown = f"#{facts.room_of(number).shown}"
        yield Thing(f"archived/{number}", "archived", {"room": number}, shown, (*moved, farewell.key), number)


def _withdrawals(facts: Facts) -> Iterator[Thing]:
    if facts.private:
        yield from _announcement(facts)
    for number in range(1, facts.room):
        yield from _withdrawn(facts, number)


def _withdrawn(facts: Facts, number: int) -> Iterator[Thing]:
    for key in (f"headline/{number}", *(f"told/{e.n}" for e in facts.told if e.room == number)):
        if facts.is_there(key):
            yield _post(key, cards.withdrawn(), "our message in the old channel", number)
    if facts.is_there(f"topic/{number}"):
        channel = f"channel/{number}"
        yield Thing(f"topic/{number}", "topic", {"room": number, "text": ""}, "the old topic", (channel,), number)


def _post(key: str, card: Card, label: str, room: int) -> Thing:
    return Thing(key, "post", {"room": room, "card": card.as_dict()}, label, needs=(f"channel/{room}",), room=room)


def _unread_groups(policy: Policy) -> Gap:
    handles = ", ".join(f"@{handle}" for handle in policy.groups)
    says = (
        f"The groups of this workspace could not be read yet, so nobody was brought in for {handles}. "
        "It is tried again by itself; if this stays, look at the app's permissions and at the worker's log."
    )
    return Gap("groups", says)


def _missing_group(handle: str, policy: Policy) -> Gap:
    says = (
        f"There is no user group @{handle} in this workspace, so nobody was brought in for it. "
        f"Create @{handle}, or change what the type {policy.name} asks for."
    )
    return Gap(f"group/{handle}", says)


def _nobody(role: str, handle: str) -> Gap:
    says = f"Nobody of @{handle} can be {role}: the group has no one who may be invited. Add someone to @{handle}."
    return Gap(f"one-of/{handle}", says)


def _archived_gap(facts: Facts) -> Gap:
    shown = facts.room_of(facts.room).shown
    return Gap("archived", f"#{shown} is archived, and a bot cannot bring it back. Unarchive it by hand in Slack.")
