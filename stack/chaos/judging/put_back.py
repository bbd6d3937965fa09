"""What must hold once the database was restored, and what the other laws leave to this one. Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from stack.chaos.judging.aftermath import Accepted, Aftermath, Row

Broken = Iterator[tuple[str, ...]]


def lost_channels(found: Aftermath) -> set[str]:
    """Return the names of channels that were requested in the lost time: they may belong to nothing any more."""
    made = [call for call in found.calls if call["method"] == "conversations.create"]
    return {
        str(call["args"].get("name", ""))
        for call in made
        if any(one.may_lose(call["began_at"]) for one in found.restores)
    }


def remembered(calls: Iterable[Row], found: Aftermath) -> Iterator[list[Row]]:
    """Yield the calls that a single memory knew, or would have: what was lost ends before each restore."""
    calls = list(calls)
    for one in found.restores:
        yield [call for call in calls if call["began_at"] < one.back_at]
        calls = [call for call in calls if not one.may_lose(call["began_at"])]
    yield calls


def _closed_channels_are_named(found: Aftermath) -> Broken:
    for one in found.restores:
        for codename in sorted(set(one.closed) - set(one.named)):
            yield codename, "it had turned private, its channel is not open in Slack, and `restored` did not name it"


def _what_was_turned_private_stays_so(found: Aftermath) -> Broken:
    """What people remembered and reported at once holds: nothing that was restored undoes it later."""
    public = {one["codename"] for one in found.incidents if not one["private"]}
    again = {one.codename for one in found.accepted if one.act == "retype" and not one.may_be_lost}
    for codename in {name for one in found.restores for name in one.turned_private} & public - again:
        yield codename, "it had turned private, was retyped after the restore, and is public"


def _what_was_lost_in_private_is_not_public(found: Aftermath) -> Broken:
    """Words that only a private channel heard, about an incident that this database knows too little about."""
    public = [one for one in found.channels if not one["is_private"]]
    said = {one["name"]: json.dumps([one["topic"], one["bookmarks"], one["messages"]]) for one in public}
    said |= {f"ticket {one['n']}": f"{one['title']} {one['body']}" for one in found.tickets if one["open_to_all"]}
    for one in _said_in_private(found):
        for where in (where for where, text in said.items() if one.word in text):
            yield one.codename, f"{where} says {one.word}, which was said in private and lost", one.word


def _said_in_private(found: Aftermath) -> Iterator[Accepted]:
    """Yield what was lost and was said between a retype to a private type and the next retype."""
    acts: dict[str, list[Accepted]] = defaultdict(list)
    for one in found.accepted:
        acts[one.codename].append(one)
    for all_of_it in acts.values():
        closed_at = float("inf")
        for one in sorted(all_of_it, key=lambda one: one.ended_at):
            if one.act == "retype":
                closed_at = one.ended_at if one.to_private else float("inf")
            elif one.may_be_lost and one.becomes and one.began_at > closed_at:
                yield one


def _who_left_is_out_before_anybody_may_look(found: Aftermath) -> Broken:
    for one in found.restores:
        for codename, who in one.strays:
            yield codename, f"{who} had left its channel, and may read it again when the web starts", who


def _the_audit_held_what_it_had(found: Aftermath) -> Broken:
    for one in found.restores:
        if one.audit:
            yield "", f"just after the restore: {one.audit}"


LAWS: Final[dict[str, Callable[[Aftermath], Broken]]] = {
    "a restore names what may have turned private": _closed_channels_are_named,
    "what turned private stays so": _what_was_turned_private_stays_so,
    "what was said in private and lost is not public": _what_was_lost_in_private_is_not_public,
    "a restore lets nobody in again": _who_left_is_out_before_anybody_may_look,
    "the audit held after a restore": _the_audit_held_what_it_had,
}
