"""What happens to public content once an incident is private: withdrawn, counted, closed or left to a person. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from workflows.planning.facts import Facts
from workflows.planning.invitee import Invitee
from workflows.planning.pages import RESOLVED, Paged
from workflows.planning.things import Thing, post
from workflows.planning.wording import cards, headline, posts


def announcement(facts: Facts) -> Iterator[Thing]:
    """The message in the announcement channel: kept current, ended, or emptied."""
    channel = facts.announces_in("announcement")
    announce = facts.policy.announce and not facts.private
    if not channel or not (announce or facts.is_there("announcement")):
        return
    if facts.private:
        card = cards.withdrawn_announcement()
    elif announce:
        card = headline.announcement(facts)
    else:
        card = cards.ended_announcement(facts)
    label = f"the announcement in #{channel}"
    spec = {"channel": channel, "card": card.as_dict()}
    waits = announce and not facts.room_of(facts.room).gone  # do not wait for a channel that is gone
    yield Thing("announcement", "post", spec, label, needs=(f"channel/{facts.room}",) if waits else ())


def rooms(facts: Facts) -> Iterator[Thing]:
    """Public rooms that the conversation left: our words withdrawn, one neutral line, the topic cleared, archived.

    Words are withdrawn at once. The neutral line and the archiving wait until the private room exists and its handover
    message is posted: if it cannot be made, nothing new is said in public. If someone archived or deleted the room made
    for the handover message, nothing waits for it.
    """
    arrived = tuple(_arrived(facts))
    for number in facts.rooms_left:
        channel = f"channel/{number}"
        if not facts.is_there(channel):
            continue
        yield from withdrawn(facts, number)
        yield from counted(facts, number)
        moved = (channel, *arrived)
        farewell = post(f"farewell/{number}", cards.farewell(), "one neutral line in the old channel", number)
        yield Thing(farewell.key, "post", farewell.spec, farewell.label, needs=moved, room=number)
        shown = f"#{facts.room_of(number).shown}"
        yield Thing(f"archived/{number}", "archived", {"room": number}, shown, (*moved, farewell.key), number)


def _arrived(facts: Facts) -> Iterator[str]:
    """The things that must exist before people are told that the conversation moved."""
    if facts.room_of(facts.room).gone:
        return
    yield f"channel/{facts.room}"
    if not facts.is_there(f"archived/{facts.room}"):
        yield f"handover/{facts.room}"


def withdrawals(facts: Facts) -> Iterator[Thing]:
    """What is withdrawn of an incident that ended before its private room was opened."""
    if facts.private:
        yield from announcement(facts)
    for number in facts.rooms_left:
        yield from withdrawn(facts, number)


def withdrawn(facts: Facts, number: int) -> Iterator[Thing]:
    """Our own words in a room that the conversation left."""
    for key in (f"headline/{number}", *(f"told/{e.n}" for e in facts.told if e.room == number)):
        if facts.is_there(key):
            yield post(key, cards.withdrawn(), "our message in the old channel", number)
    if facts.is_there(f"topic/{number}"):
        channel = f"channel/{number}"
        yield Thing(f"topic/{number}", "topic", {"room": number, "text": ""}, "the old topic", (channel,), number)


def counted(facts: Facts, number: int) -> Iterator[Thing]:
    """Count what others wrote in a room the conversation left: it stays there, and participants should know."""
    room = facts.room_of(number)
    if room.public or not room.private:
        label, needs = f"what others posted in #{room.shown}", (f"channel/{number}",)
        yield Thing(f"counted/{number}", "counted", {"room": number}, label, needs, number)


def once_closed(things: Iterable[Thing], facts: Facts) -> Iterator[Thing]:
    """Have everything in a room that is itself made private wait until the vendor shows it as private."""
    if not (facts.private and facts.room_of(facts.room).public):
        yield from things
        return
    found, channel, closed = list(things), f"channel/{facts.room}", f"closed/{facts.room}"
    people = sorted(str(one.spec["person"]) for one in found if one.kind == "member")
    shown = f"#{facts.room_of(facts.room).shown}"
    yield Thing(closed, "closed", {"room": facts.room, "people": people}, shown, (channel,), facts.room)
    for one in found:
        waits = one.room == facts.room and one.key != channel
        yield replace(one, needs=(*one.needs, closed)) if waits else one


def direct(facts: Facts) -> Iterator[Thing]:
    """What a person has to do by hand, sent to one of them while there is no channel to report it in.

    Steps that are being retried need no one, and one that failed twice is reported once.
    """
    whom = _at_hand(facts)
    if whom is not None and is_empty(facts):
        spec = {"person": whom.chat_id, "card": cards.nobody_invited(facts).as_dict()}
        yield Thing(f"direct/empty/{facts.room}", "direct", spec, f"{whom.name} directly that no one could be invited")
    if whom is None or facts.is_there(f"channel/{facts.room}"):
        return
    if facts.active and facts.room_of(facts.room).gone:
        spec = {"person": whom.chat_id, "card": cards.channel_gone(facts).as_dict()}
        yield Thing(f"direct/channel/{facts.room}", "direct", spec, f"{whom.name} directly that its channel is gone")
    asked = [one for one in facts.told if one.by_hand and one.room == facts.room and one.retry in facts.failing]
    known = {(one.retry, one.by_hand): one for one in asked if facts.is_there(f"direct/{one.n}")}
    for newest in {one.retry: one for one in asked}.values():
        event = known.get((newest.retry, newest.by_hand), newest)
        spec = {"person": whom.chat_id, "card": posts.by_hand(event, facts).as_dict()}
        yield Thing(f"direct/{event.n}", "direct", spec, f"{whom.name} directly what to do by hand")


def _at_hand(facts: Facts) -> Invitee | None:
    """Return who to tell directly: the lead, else another participant, preferably not a guest.

    The lead may have been removed from a private incident since, and then cannot see it.
    """
    is_out = facts.private and facts.lead is not None and facts.lead.person_id not in facts.inside
    people = [None if is_out else facts.lead, *(stay.who for stay in facts.stays if stay.here)]
    reached = [one for one in people if one is not None and one.chat_id]
    return next((one for one in reached if not one.not_invited), next(iter(reached), None))


def is_empty(facts: Facts) -> bool:
    """Return whether the private channel has no people because none could be invited: only an app lets people in."""
    in_use = facts.is_there(f"channel/{facts.room}") and not facts.is_there(f"archived/{facts.room}")
    return bool(facts.uninvited) and facts.active and facts.private and in_use


def titles(facts: Facts) -> Iterator[Thing]:
    """Titles of pages that ended before the incident became private, if they say what it is about."""
    if not (facts.private and facts.pager):
        return
    for page in _titled(facts):
        if page.status == RESOLVED:
            spec = {"page": page.key, "title": cards.page_title(facts)}
            yield Thing(f"title/{page.key}", "title", spec, f"the resolved page to {page.name}")


def has_titles(facts: Facts) -> bool:
    """Return whether titles of a private incident's pages say what it is about, and no one has tried to change that."""
    return any(not facts.is_there(f"title/{page.key}") for page in _titled(facts))


def _titled(facts: Facts) -> Iterator[Paged]:
    title = cards.page_title(facts)
    return (page for page in facts.paged if page.title not in {"", title} and not page.elsewhere)
