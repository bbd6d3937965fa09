"""What should exist outside for one incident, from its policy and its facts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from incidents.policy import OneOf, Policy
from workflows import captures, cards, leaving, pages
from workflows.facts import Facts, Told
from workflows.someone import Someone
from workflows.things import Desired, Gap, Thing, post


def desired_state(facts: Facts) -> Desired:
    """Work out everything that should exist outside for an incident with these facts."""
    talk = _talk(facts)
    gaps = [*talk.gaps, *_missing_callees(facts), *_missing_sources(facts)]
    things = (
        *talk.things,
        *_summary(facts),
        *(_page(one, facts) for one in _pages(facts)),
        *_captures(facts),
        *leaving.titles(facts),
    )
    return replace(talk, things=things, gaps=tuple(gaps))


def _talk(facts: Facts) -> Desired:
    """Work out where people talk, who, and what is said there.

    Nothing is asked for where no chat is connected, nor for an incident that ended before its room was opened: only
    what it said in public before it turned private is withdrawn all the same.
    """
    opened = facts.is_there(f"channel/{facts.room}")
    if not facts.chat:
        return Desired()
    if not (facts.active or opened):
        return Desired(tuple(leaving.withdrawals(facts)))
    invitees, chosen, gaps = _people(facts)
    things = [*_current_room(facts, invitees), *leaving.announcement(facts), *_told(facts)]
    things = [
        *leaving.once_closed(things, facts),
        *leaving.rooms(facts),
        *leaving.direct(facts),
    ]
    if opened and facts.active and facts.is_there(f"archived/{facts.room}"):
        gaps.append(_archived_gap(facts))
    return Desired(tuple(things), tuple(gaps), chosen)


def _summary(facts: Facts) -> Iterator[Thing]:
    """The public channel of a summary, with that one message: what two people confirmed, and nobody invited."""
    if facts.published is None or not facts.chat:
        return
    spec = {"name": facts.published.channel, "private": False}
    yield Thing("outlet", "outlet", spec, f"#{facts.published.channel}")
    said = {"in": "outlet", "card": cards.summary(facts.published).as_dict()}
    yield Thing("summary", "post", said, "the summary for everyone", needs=("outlet",))


def _pages(facts: Facts) -> tuple[pages.Wanted, ...]:
    """Pages that should be open: none once the incident has ended, and none that nobody could send."""
    if not (facts.pager and facts.active):
        return ()
    names = facts.policy.pages
    return tuple(pages.wanted(names, callees=facts.callees, asked=facts.asked, paged=facts.paged, room=facts.room))


def _page(wanted: pages.Wanted, facts: Facts) -> Thing:
    return Thing(wanted.key, "page", wanted.spec(cards.page_title(facts)), wanted.callee.label)


def _missing_callees(facts: Facts) -> Iterator[Gap]:
    if facts.pager and facts.active:
        policy = facts.policy
        for key, says in pages.missing(policy.pages, callees=facts.callees, paged=facts.paged, type_name=policy.name):
            yield Gap(key, says)


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
    if not facts.active:
        return found, {}, []
    gaps = [*_into(found, facts)]
    chosen: dict[str, Someone] = {}
    for role in facts.policy.one_of:
        pick, missing = _one_of(role, facts, present=found)
        gaps += missing
        if pick is not None:
            chosen[role.role] = pick
            found.setdefault(pick.chat_id, pick)
    return {key: one for key, one in found.items() if key not in facts.away}, chosen, gaps


def _into(found: dict[str, Someone], facts: Facts) -> Iterator[Gap]:
    """Add those whom the policy brings in by group or by page; yield what is missing."""
    if facts.policy.groups and not facts.groups:
        yield _unread_groups(facts.policy)
    for handle in facts.policy.invite:
        members = facts.groups.get(handle, ())
        if members is None:
            yield _missing_group(handle, facts.policy)
        for one in members or ():
            found.setdefault(one.chat_id, one)
    for one in (one for page in _pages(facts) if page.brings for one in page.callee.people):
        found.setdefault(one.chat_id, one)


def _one_of(role: OneOf, facts: Facts, *, present: Mapping[str, Someone]) -> tuple[Someone | None, list[Gap]]:
    """Find who has a role that exactly one person has, and what is missing.

    Who has it keeps it, past the end of their shift. Else it is somebody on call, else one of the group, else whom the
    type names itself.
    """
    holder = dict(facts.roles).get(role.role) or facts.chosen.get(role.role)
    if holder is not None and holder.chat_id not in facts.away:
        return holder, []
    gaps: list[Gap] = []
    for members, why, gap in _candidates(role, facts):
        pick = _choose(members, present=present, away=facts.away)
        if pick is not None:
            return replace(pick, why=why), gaps
        gaps += [gap] if gap else []
    return None, gaps if gaps or not _is_known(role, facts) else [_nobody(role, pager=facts.pager)]


def _candidates(role: OneOf, facts: Facts) -> Iterator[tuple[tuple[Someone, ...], str, Gap | None]]:
    """Yield who may have a role, why, and what is missing where that is for somebody to mend: the best first."""
    if role.schedule and facts.pager:
        on_call = facts.on_call.get(role.schedule, ())
        gap = _missing_schedule(role, facts.policy) if on_call is None else None
        yield on_call or (), f"on call for {role.schedule}", gap
    if role.group:
        members = facts.groups.get(role.group, ())
        gap = _missing_group(role.group, facts.policy) if members is None else None
        yield members or (), f"the one of @{role.group}", gap
    if role.otherwise in facts.otherwise:
        yield (facts.otherwise[role.otherwise],), "named by the type", None


def _is_known(role: OneOf, facts: Facts) -> bool:
    """Tell whether those who could have a role were looked up, so that there being nobody is worth saying."""
    return role.group in facts.groups or role.schedule in facts.on_call or not (role.group or facts.pager)


def _choose(members: tuple[Someone, ...], *, present: Mapping[str, Someone], away: frozenset[str]) -> Someone | None:
    """Pick exactly one: who is here anyway, else the first by name."""
    able = sorted((one for one in members if one.chat_id not in away), key=lambda one: (one.name, one.chat_id))
    order = sorted(able, key=lambda one: one.chat_id not in present)
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
    yield post(headline, cards.headline(facts), "the headline", number)
    yield Thing(f"pin/{number}", "pin", {"post": headline}, "the headline", needs=(headline,), room=number)
    if number > 1:
        yield post(f"handover/{number}", cards.handover(facts), "the hand-over", number)
    if facts.archive_asked and not facts.active:
        yield Thing(f"archived/{number}", "archived", {"room": number}, f"#{room.shown}", (channel,), number)


def _told(facts: Facts) -> Iterator[Thing]:
    for event in facts.told:
        if event.room == facts.room:
            yield post(f"told/{event.n}", cards.told(event, facts), event.label, event.room)
            if event.pictured and not event.retracted:
                yield from _picture(event)


def _picture(event: Told) -> Iterator[Thing]:
    """A picture below the message that tells of it: sent up beside it, shown once the text stands."""
    label, post = f"the picture of evidence {event.evidence}", f"told/{event.n}"
    upload, spec = f"upload/{event.n}", {"room": event.room, "evidence": event.evidence}
    yield Thing(upload, "upload", spec, label, needs=(f"channel/{event.room}",), room=event.room)
    shown = spec | {"post": post, "upload": upload}
    yield Thing(f"picture/{event.n}", "picture", shown, label, needs=(post, upload), room=event.room)


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


def _missing_schedule(role: OneOf, policy: Policy) -> Gap:
    says = (
        f"The pager has no schedule {role.schedule}, so nobody is {role.role} by it. "
        f"Make it, or change what the type {policy.name} asks for."
    )
    return Gap(f"schedule/{role.schedule}", says)


def _nobody(role: OneOf, *, pager: bool) -> Gap:
    where = [f"nobody is on call for {role.schedule}" if pager else "no pager is connected"] if role.schedule else []
    where += [f"@{role.group} has no one who may be invited"] if role.group else []
    return Gap(f"one-of/{role.role}", f"Nobody is {role.role}: {' and '.join(where)}. Choose who it is.")


def _archived_gap(facts: Facts) -> Gap:
    shown = facts.room_of(facts.room).shown
    return Gap("archived", f"#{shown} is archived, and a bot cannot bring it back. Unarchive it by hand in Slack.")
