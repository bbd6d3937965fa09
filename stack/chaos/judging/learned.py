"""What must hold for tickets, drills, replays and reviews once everything has settled. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from stack.chaos.judging.aftermath import JOINS, Aftermath, Row
from stack.chaos.scenario import ANNOUNCED

NOT_FOUND: Final = 404
Broken = Iterator[tuple[str, ...]]


def out_of_step(followups: Iterable[Row], tickets: Iterable[Row]) -> Iterator[tuple[Row, Row]]:
    """Yield each follow-up whose ticket disagrees, with that ticket; a deleted one says nothing."""
    known = {f"{one['project']}#{one['n']}": one for one in tickets if not one["deleted"]}
    for one in followups:
        ticket = known.get(one["ticket"])
        if ticket is not None and _here(one) != (ticket["title"], ticket["state"], ticket["owner"]):
            yield one, ticket


def _here(one: Row) -> tuple[str, str, str]:
    return " ".join(one["text"].split()), one["state"], one["account"]


def _no_ticket_is_opened_twice(found: Aftermath) -> Broken:
    """Except one that someone deleted in the tracker before the response arrived: nothing shows that it existed."""
    heard_of = " ".join(str(one["said"]) for one in found.events if one["kind"] == "followup_tracked")
    ours = (one for one in found.tickets if not one["deleted"] or f'"{one["project"]}#{one["n"]}"' in heard_of)
    marks = Counter(one["mark"] for one in ours if one["mark"])
    for mark, times in marks.items():
        if times > 1:
            yield "", f"the ticket {mark} was opened {times} times", mark


def _tickets_are_in_step(found: Aftermath) -> Broken:
    for one, ticket in out_of_step(found.followups, found.tickets):
        there = (ticket["title"], ticket["state"], ticket["owner"])
        yield one["codename"], f"{one['ticket']} is {there}, and follow-up {one['n']} is {_here(one)}", one["ticket"]


def _no_open_ticket_says_what_is_private(found: Aftermath) -> Broken:
    said = [f"{one['title']} {one['body']}" for one in found.tickets if one["open_to_all"] and not one["deleted"]]
    for one in found.incidents:
        for word in found.words.get(one["codename"], ()) if one["private"] else ():
            if any(word in text for text in said):
                yield one["codename"], f"a ticket that everyone may read says {word}", word


def _a_drill_reaches_nobody_else(found: Aftermath) -> Broken:
    announced = json.dumps([one["messages"] for one in found.channels if one["name"] == ANNOUNCED])
    rung = json.dumps([*map(str, found.pager_incidents)])
    tickets = json.dumps([one["body"] for one in found.tickets])
    paged = {one["codename"] for one in found.pages}
    for drill in (one["codename"] for one in found.incidents if one["is_drill"]):
        words = (drill, *found.words.get(drill, ()))
        if drill in paged:
            yield drill, "a drill paged someone"
        for where, said in (("the announcement channel", announced), ("the pager", rung), ("a ticket", tickets)):
            if _any(words, said):
                yield drill, f"a drill is named in {where}"


def _a_drill_invites_only_who_agreed(found: Aftermath) -> Broken:
    """Or who acted in it themselves, such as opening it or taking its lead."""
    drills = {one["codename"] for one in found.incidents if one["is_drill"]}
    rooms = {one["channel"]: one["codename"] for one in found.rooms if one["codename"] in drills}
    may = {(one["codename"], one["chat_id"]) for one in found.at_drills}
    for channel in found.channels:
        for message in channel["messages"] if channel["id"] in rooms else ():
            came = (rooms[channel["id"]], message.get("user"))
            if message.get("subtype") in JOINS and message.get("inviter") == found.bot and came not in may:
                yield came[0], f"{message['user']} was invited to #{channel['name']} and had not agreed to drills"


def _any(words: Sequence[str], said: str) -> bool:
    return any(word in said for word in words)


def _nothing_is_replayed_twice(found: Aftermath) -> Broken:
    for (codename, past), times in Counter((one["codename"], one["past"]) for one in found.replayed).items():
        if times > 1:
            yield codename, f"entry {past} of the past was shown {times} times"


def _what_was_written_is_in_the_review_once(found: Aftermath) -> Broken:
    for one in found.accepted:
        if one.act == "review_written":
            texts = [row["text"] for row in found.reviews if row["codename"] == one.codename]
            times = sum(text.count(one.word) for text in texts)
            if times != 1 and not (one.may_be_lost and not times):
                yield one.codename, f"what {one.who} wrote is in the review {times} times", one.word


def _no_outsider_sees_what_is_private(found: Aftermath) -> Broken:
    for one in found.looked_in:
        if one["status"] != NOT_FOUND:
            yield one["codename"], f"{one['who']}, who takes no part, was answered {one['status']} at {one['path']}"


LAWS: Final[dict[str, Callable[[Aftermath], Broken]]] = {
    "no ticket is opened twice": _no_ticket_is_opened_twice,
    "tickets are in step": _tickets_are_in_step,
    "no open ticket says what is private": _no_open_ticket_says_what_is_private,
    "a drill reaches nobody else": _a_drill_reaches_nobody_else,
    "a drill invites only who agreed": _a_drill_invites_only_who_agreed,
    "nothing is replayed twice": _nothing_is_replayed_twice,
    "what was written is in the review, once": _what_was_written_is_in_the_review_once,
    "no outsider sees what is private": _no_outsider_sees_what_is_private,
}
