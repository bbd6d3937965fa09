"""What should exist outside for one incident, from its policy and its facts. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workflows.planning import captures, drills, pages, participation, withdrawal
from workflows.planning.facts import ChannelPost, Facts
from workflows.planning.participation import Participation, Standing
from workflows.planning.things import Desired, Gap, Thing, post
from workflows.planning.tickets import wanted
from workflows.planning.wording import cards, headline, page_notes, posts


def desired_state(facts: Facts) -> Desired:
    """Compute everything that should exist outside for an incident with these facts."""
    facts = drills.within_reach(facts)
    who = participation.of(facts)
    talk = _talk(facts, who)
    gaps = [*talk.gaps, *_missing_callees(facts), *_missing_sources(facts), *_stranded(facts), *_left_elsewhere(facts)]
    things = (
        *talk.things,
        *_summary(facts),
        *_pages(facts),
        *_captures(facts),
        *withdrawal.titles(facts),
        *_tickets(facts),
    )
    return replace(talk, things=tuple(drills.kept_inside(things, facts)), gaps=tuple(gaps), chosen=who.chosen)


def _talk(facts: Facts, who: Participation) -> Desired:
    """Compute the incident's rooms, their people, and what is posted there.

    Nothing is wanted while no chat is connected, nor for an incident that ended before its room was opened; even then,
    what it posted in public before it became private is withdrawn. A room that is only looked for counts once
    it is found.
    """
    channel, gone = f"channel/{facts.room}", facts.room_of(facts.room).gone
    opened = facts.is_found(channel)
    if not facts.chat:
        return Desired(chat=False)
    if not (facts.active or opened or gone):
        return Desired(tuple(withdrawal.withdrawals(facts)), tuple(_kept_in_archives(facts)))
    gaps = [*who.gaps, *_kept_in_archives(facts), *_outside(facts)]
    if facts.active and not gone and not facts.is_there(f"archived/{facts.room}"):
        gaps += _turned_away(facts, who)
    if withdrawal.is_empty(facts):
        gaps.append(Gap(f"empty/{facts.room}", cards.empty(facts), told=False))
    if gone and facts.active:
        gaps.append(Gap(f"{gone}/{facts.room}", cards.gone(facts), told=False))
    things = [*_current_room(facts, who), *withdrawal.announcement(facts), *_told(facts)]
    things = [
        *withdrawal.once_closed(things, facts),
        *withdrawal.rooms(facts),
        *withdrawal.direct(facts),
        *_alone(facts),
    ]
    if opened and facts.active and facts.is_there(f"archived/{facts.room}"):
        gaps.append(_archived_gap(facts))
    return Desired(tuple(things), tuple(gaps))


def _summary(facts: Facts) -> Iterator[Thing]:
    """The public channel of a summary, with one message that two people confirmed. No one is invited.

    One line in the announcement channel links to it. That line never changes, so another summary adds nothing there.
    """
    if facts.published is None or not facts.chat:
        return
    spec = {"name": facts.published.channel, "private": False}
    yield Thing("outlet", "outlet", spec, f"#{facts.published.channel}")
    said = {"in": "outlet", "card": cards.summary(facts.published).as_dict()}
    yield Thing("summary", "post", said, "the public summary", needs=("outlet",))
    if channel := facts.announces_in("notice"):
        notice = {"channel": channel, "card": cards.notice(facts.published).as_dict()}
        where = f"the link to the summary in #{channel}"
        yield Thing("notice", "post", notice, where, needs=("outlet", "summary"))


def _pages(facts: Facts) -> Iterator[Thing]:
    """The pages that should be open, and the acknowledgements of them requested from here."""
    wanted = [_page(one, facts) for one in participation.pages_of(facts)]
    yield from wanted
    for page, who in pages.acknowledging(facts.paged, wanted={one.key for one in wanted}):
        spec = {"page": page.key, "name": page.name, "person": who.person_id}
        label = f"the page to {page.name} for {who.name}"
        yield Thing(who.key(page.key), "acknowledged", spec, label, needs=(page.key,))


def _page(wanted: pages.WantedPage, facts: Facts) -> Thing:
    title, names = cards.page_title(facts), wanted.callee.names
    if not facts.pager:  # it keeps its title: nothing can be changed there now
        title = next((one.title for one in facts.paged if one.key == wanted.key and one.title), title)
    spec = wanted.spec(title)
    return Thing(wanted.key, "page", spec, wanted.label, why=wanted.before, reaches=names)


def _left_elsewhere(facts: Facts) -> Iterator[Gap]:
    if facts.pager:
        neutral = cards.page_title(facts) if facts.private else ""
        for key, says in page_notes.left_elsewhere(facts.paged, neutral=neutral):
            yield Gap(key, says)


def _tickets(facts: Facts) -> Iterator[Thing]:
    if facts.tracker is not None:
        yield from wanted.tickets(facts.followups, tracker=facts.tracker, known=facts.tickets, private=facts.private)


def _missing_callees(facts: Facts) -> Iterator[Gap]:
    if facts.pager and facts.active:
        policy, callees = facts.policy, facts.callees
        for key, says in page_notes.missing(policy.pages, callees=callees, paged=facts.paged, type_name=policy.name):
            yield Gap(key, says)
        for key, says in () if facts.is_drill else page_notes.unsent(facts.asked, paged=facts.paged):
            yield Gap(key, says)
        wanted_pages = tuple(participation.pages_of(facts))
        for doubt in (page_notes.in_maintenance, page_notes.unheard, page_notes.silent):
            yield from (Gap(key, says) for key, says in doubt(wanted_pages, paged=facts.paged))
        for key, says in page_notes.nobody_on_call(wanted_pages, paged=facts.paged):
            yield Gap(key, says, told=False)  # the failed page itself is reported
        paged = wanted_pages if facts.chat else ()
        for key, says in page_notes.strangers(paged, private=facts.private):
            yield Gap(key, says)


def _stranded(facts: Facts) -> Iterator[Gap]:
    if not facts.private:
        return
    yield from wanted.stranded(facts.stranded)
    yield from wanted.doubtful(facts.doubtful)
    if facts.elsewhere:
        yield Gap("words", cards.left_elsewhere(facts.elsewhere))


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


def _current_room(facts: Facts, who: Participation) -> Iterator[Thing]:
    number = facts.room
    room = facts.room_of(number)
    channel = f"channel/{number}"
    spec = {"name": room.name, "private": room.private}
    unnamed = "a dedicated private channel" if room.private else "a dedicated channel"
    yield Thing(channel, "channel", spec, f"#{room.shown}" if room.name else unnamed, room=number)
    inside = facts.inside
    for standing in who.standings.values():
        if standing.wanted and standing.who.chat_id and not _is_turned_away(standing, facts):
            member = _member(standing, number)
            is_out = member.key in facts.put_out
            if facts.active or not is_out:
                yield replace(member, inside=standing.who.person_id in inside and not is_out)
    topic = {"room": number, "text": cards.topic(facts)}
    yield Thing(f"topic/{number}", "topic", topic, "the topic", needs=(channel,), room=number)
    bookmark = {"room": number, "title": "Incident page", "link": facts.url}
    yield Thing(f"bookmark/{number}", "bookmark", bookmark, "the incident page", needs=(channel,), room=number)
    key = f"headline/{number}"
    yield post(key, headline.headline(facts), "the headline", number)
    yield Thing(f"pin/{number}", "pin", {"post": key}, "the headline", needs=(key,), room=number)
    if number > 1:
        yield post(f"handover/{number}", cards.handover(facts), "the handover", number)
    if facts.archive_asked and not facts.active:
        yield Thing(f"archived/{number}", "archived", {"room": number}, f"#{room.shown}", (channel,), number)


def _is_turned_away(standing: Standing, facts: Facts) -> bool:
    """Return whether someone is not in the room and cannot be invited, because the vendor would refuse it."""
    return bool(standing.who.not_invited) and not facts.is_there(f"member/{facts.room}/{standing.who.chat_id}")


def _turned_away(facts: Facts, who: Participation) -> Iterator[Gap]:
    for one in who.standings.values():
        if one.wanted and _is_turned_away(one, facts):
            says = f"{one.who.name} {one.who.not_invited}, so the app can't invite them. Invite them by hand."
            yield Gap(f"invite/{one.who.chat_id}", says)


def _member(standing: Standing, room: int) -> Thing:
    one = standing.who
    spec, label = {"room": room, "person": one.chat_id}, one.name
    why, asked = standing.why, standing.is_needed
    return Thing(f"member/{room}/{one.chat_id}", "member", spec, label, (f"channel/{room}",), room, why, asked=asked)


def _told(facts: Facts) -> Iterator[Thing]:
    for event in facts.told:
        if event.room == facts.room and event.only is None and not _is_mended(event, facts):
            yield post(f"told/{event.n}", posts.told(event, facts), event.label, event.room)
            if event.pictured and not event.retracted:
                yield from _picture(event)


def _is_mended(event: ChannelPost, facts: Facts) -> bool:
    """Return whether a failed step was done or is being retried before it could be reported in the channel."""
    return event.kind == "failed" and event.retry not in facts.failing and not facts.is_found(f"told/{event.n}")


def _alone(facts: Facts) -> Iterator[Thing]:
    """Messages to one person: that their file could not be read, as long as they may see the incident."""
    for event in facts.told:
        if event.only is None or event.room != facts.room or event.retracted or event.redacted:
            continue
        if event.only.chat_id and (not facts.private or event.only.person_id in facts.inside):
            spec = {"person": event.only.chat_id, "card": posts.unread(event, facts).as_dict()}
            label = f"{event.only.name} that evidence {event.evidence} could not be read"
            yield Thing(f"direct/{event.n}", "direct", spec, label)


def _picture(event: ChannelPost) -> Iterator[Thing]:
    """A picture in its message's thread: uploaded alongside the message, shown once the text is posted."""
    label, post = f"the picture of evidence {event.evidence}", f"told/{event.n}"
    upload, spec = f"upload/{event.n}", {"room": event.room, "evidence": event.evidence}
    yield Thing(upload, "upload", spec, label, needs=(f"channel/{event.room}",), room=event.room)
    shown = spec | {"post": post, "upload": upload}
    yield Thing(f"picture/{event.n}", "picture", shown, label, needs=(post, upload), room=event.room)


def _kept_in_archives(facts: Facts) -> Iterator[Gap]:
    """Public rooms that were archived while our words were in them, as far as we know: nothing there can be changed.

    We archive a room ourselves only after its farewell, and once nothing is owed in it. After a restore it may have
    been us: no one is in an archived public channel, so the state of our words there cannot be seen.
    """
    for number in facts.rooms_left if facts.private else ():
        room = facts.room_of(number)
        kept = room.words or (facts.is_there(f"headline/{number}") and not facts.is_there(f"farewell/{number}"))
        is_archived = facts.is_there(f"archived/{number}")
        if kept and is_archived and not room.withdrawing and (room.public or not room.private):
            says = f"#{room.shown} was archived before we could make sure that our messages there are withdrawn:"
            says = f"{says} everyone may still be able to read them."
            yield Gap(f"kept/{number}", f"{says} Unarchive it in Slack, and they are withdrawn.")


def _outside(facts: Facts) -> Iterator[Gap]:
    """Rooms that people removed us from and that still need something done; it cannot be reported in the room."""
    for room in facts.rooms if facts.active or facts.private else ():
        if not room.outside or facts.is_there(f"archived/{room.number}"):
            continue
        if room.number == facts.room:
            yield Gap("outside", cards.outside(room), told=False)
        elif not facts.is_there(f"farewell/{room.number}"):
            yield Gap(f"outside/{room.number}", cards.outside_left(room), told=False)


def _archived_gap(facts: Facts) -> Gap:
    shown = facts.room_of(facts.room).shown
    return Gap("archived", f"#{shown} is archived, and an app cannot unarchive it. Unarchive it in Slack.")
