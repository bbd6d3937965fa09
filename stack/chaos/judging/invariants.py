"""What must hold once everything has settled, whatever happened: functions that yield violations. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from stack.chaos.judging import held_up, known_rooms, learned, private, put_back, standing
from stack.chaos.judging.aftermath import JOINS, Aftermath, Row, channels, current_rooms, place

OWED: Final = {"waiting", "running"}
NOWHERE: Final = {"is_archived", "channel_not_found", "not_in_channel"}
LEAVES: Final = {"channel_leave", "group_leave"}


@dataclass(frozen=True, slots=True)
class Violation:
    """What does not hold: which law, which incident, and words to look for in the log."""

    law: str
    codename: str
    says: str
    look_for: tuple[str, ...] = ()


def violations(found: Aftermath) -> list[Violation]:
    """List everything that does not hold."""
    return [
        Violation(law, codename, says, tuple(look_for))
        for law, check in LAWS.items()
        for codename, says, *look_for in check(found)
    ]


Broken = Iterator[tuple[str, ...]]


def _accepted_is_on_a_timeline(found: Aftermath) -> Broken:
    said: dict[str, list[Row]] = defaultdict(list)
    for event in found.events:
        said[event["codename"]].append(event)
    for one in found.accepted:
        if not one.becomes:
            continue
        entries = [e for e in said[one.codename] if e["kind"] == one.becomes and one.word in e["said"]]
        if len(entries) != 1 and not (one.may_be_lost and not entries):
            says = f"{one.who}'s {one.act} was accepted and is on the timeline {len(entries)} times"
            yield one.codename, says, one.word


def _no_number_is_missing(found: Aftermath) -> Broken:
    numbers: dict[str, list[int]] = defaultdict(list)
    for event in found.events:
        numbers[event["codename"]].append(event["n"])
    for one in found.incidents:
        if sorted(numbers[one["codename"]]) != list(range(1, one["last_n"] + 1)):
            has = sorted(numbers[one["codename"]])
            yield one["codename"], f"its entries are numbered {has}, and the last should be {one['last_n']}"


def _nothing_is_owed(found: Aftermath) -> Broken:
    for one in found.effects:
        if one["state"] in OWED:
            yield one["codename"], f"{one['key']} is {one['state']}: {one['error']}", one["key"]
    for one in found.incidents:
        if one["planned"] is None or one["planned"] < one["revision"]:
            yield one["codename"], f"planned up to {one['planned']} of {one['revision']}"


def _nothing_failed(found: Aftermath) -> Broken:
    """Except announcements of incidents that were over before the channel was back: no one needs them then.

    Nor does it count what may have been said in a channel that people keep archived: no one can look for it.
    """
    archived = {one["id"] for one in found.channels if one["is_archived"]}
    shut = {(one["codename"], one["room"]) for one in found.rooms if one["channel"] in archived}
    for one in found.effects:
        is_announced = one["key"].startswith("announcement#") and one["error_code"] in NOWHERE
        is_news_no_more = is_announced and one["verb"] == "create" and not one["active"]
        is_shut_in = one["error_code"] == "is_archived" and (one["codename"], one["room"]) in shut
        if one["state"] == "failed" and not (is_news_no_more or is_shut_in):
            yield one["codename"], f"{one['key']} failed for good: {one['error']}", one["key"]


def _the_sweep_finds_nothing(found: Aftermath) -> Broken:
    for codename in found.unsettled:
        yield codename, "its plan is not empty: the sweep would still do something"


def _everyone_wanted_is_in(found: Aftermath) -> Broken:
    """Except people no app can invite: those in workspaces that do not share it, and guests listed as missing."""
    there, rooms = channels(found), current_rooms(found)
    elsewhere = {one["id"] for one in found.people if one["is_stranger"]}
    guests = {one["id"] for one in found.people if one.get("is_restricted") or one.get("is_ultra_restricted")}
    told = {(one["codename"], one["key"]) for one in found.gaps}
    for codename, wanted in found.wanted.items():
        channel = there.get(rooms.get(codename, ""))
        if not channel or channel["is_archived"]:
            continue
        missing = {one for one in guests if (codename, f"gap/invite/{one}") in told}
        if out := set(wanted) - set(channel["members"]) - elsewhere - missing:
            yield codename, f"{sorted(out)} should be in #{channel['name']} and are not", channel["id"]


def _groups_are_known(found: Aftermath) -> Broken:
    for handle in unknown_groups(found.groups, found.groups_known):
        yield "", f"who is in @{handle} now is not known", handle


def unknown_groups(groups: Iterable[Row], known: Iterable[Row]) -> list[str]:
    """List the workspace's groups that the product knows differently."""
    members = {one["handle"]: set(one["members"]) for one in known}
    return [one["handle"] for one in groups if members.get(one["handle"]) != set(one["members"])]


def _no_channel_is_made_twice(found: Aftermath) -> Broken:
    made = [call["args"] for call in found.calls if call["method"] == "conversations.create" and call["ok"]]
    for name, times in Counter(one.get("name", "") for one in made).items():
        if times > 1:
            yield "", f"#{name} was made {times} times", name
    for name, others in _alike(one.get("name", "") for one in made):
        yield "", f"#{name} was made although #{others[0]} was", name
    known, lost = {room["channel"] for room in found.rooms}, put_back.lost_channels(found)
    for one in found.channels:
        is_lost = bool(lost & {one["name"], *one.get("previous_names", ())})
        if one["creator"] == found.bot and one["id"] not in known and one.get("kind") != "im" and not is_lost:
            yield "", f"#{one['name']} was made and belongs to no incident", one["name"], one["id"]


def _alike(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each name that ends in a number because it was taken, with the other one: our names have no number."""
    known = sorted(set(names))
    for name in known:
        if others := [other for other in known if other == re.sub(r"-\d+$", "", name) != name]:
            yield name, others


def _nobody_is_invited_twice(found: Aftermath) -> Broken:
    names = {room["channel"]: room["codename"] for room in found.rooms}
    for channel in found.channels:
        came: Counter[str] = Counter()
        for message in channel["messages"]:
            if message.get("subtype") in LEAVES:
                came[message["user"]] -= 1
            elif message.get("subtype") == "channel_unarchive":  # which puts no one back into a public one
                came.clear()
            elif message.get("subtype") in JOINS and message.get("inviter") == found.bot:
                came[message["user"]] += 1
                if came[message["user"]] > 1:
                    yield names.get(channel["id"], ""), f"{message['user']} was invited to #{channel['name']} twice"
            came[message.get("user", "")] = max(0, came[message.get("user", "")])


def _no_message_is_posted_twice(found: Aftermath) -> Broken:
    marks: Counter[tuple[str, str]] = Counter()
    for call in found.calls:
        if _is_posted(call) and not _is_direct(call) and (mark := _mark(call["args"])):
            marks[str(call["args"].get("channel")), mark] += 1
    for (channel, mark), times in marks.items():
        if times > 1:
            yield "", f"the message {mark} was posted {times} times in {channel}", mark


def _nobody_is_told_twice(found: Aftermath) -> Broken:
    """Except what was resent with its mark because Slack's response was lost: that does no harm.

    Two steps may have the same words, and are distinguished by what their buttons do.
    """
    direct = [call for call in found.calls if _is_posted(call) and _is_direct(call)]
    for calls in put_back.remembered(direct, found):
        yield from _told_twice(calls)


def _told_twice(calls: Iterable[Row]) -> Broken:
    told: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for call in calls:
        args = call["args"]
        told[place(call), str(args.get("text", "")), str(args.get("attachments", ""))].append(_mark(args))
    for (whom, text, _), marks in told.items():
        if len(set(marks) - {""}) + marks.count("") > 1:
            yield "", f"{whom} was told directly {len(marks)} times: {text[:80]}", whom


def _is_posted(call: Row) -> bool:
    return call["method"] == "chat.postMessage" and bool(call["ok"])


def _is_direct(call: Row) -> bool:
    return place(call).startswith("U")


def _no_page_is_opened_twice(found: Aftermath) -> Broken:
    opened = Counter(one["key"] for one in found.pager_incidents if one["key"])
    for page in found.pages:
        if opened[page["dedup_key"]] > 1:
            yield page["codename"], f"its page was opened {opened[page['dedup_key']]} times", page["dedup_key"]


def open_keys(pager_incidents: Iterable[Row]) -> Counter[str]:
    """Count the pager's open incidents per key: their own, or that of an open alert."""
    return Counter(key for one in pager_incidents if one["status"] != "resolved" for key in _keys(one))


def _keys(incident: Row) -> set[str]:
    alerts = {one["key"] for one in incident.get("alerts", ()) if one["status"] != "resolved"}
    return {key for key in (incident["key"], *alerts) if key}


def _pages_stand_as_the_pager_says(found: Aftermath) -> Broken:
    statuses = {one["id"]: one["status"] for one in found.pager_incidents}
    for page in found.pages:
        if page["pager_id"] and page["status"] != statuses.get(page["pager_id"], "nothing"):
            there = statuses.get(page["pager_id"], "not there")
            yield page["codename"], f"a page is {page['status']} here and {there} in the pager", page["pager_id"]
    rings = open_keys(found.pager_incidents)
    for page in found.pages:
        if rings[page["dedup_key"]] > 1:
            yield page["codename"], "a page is open twice in the pager", page["dedup_key"]
        if page["dedup_key"] in rings and page["status"] in {"opening", "resolved"}:
            yield page["codename"], f"a page is {page['status']} here and open in the pager", page["dedup_key"]
        if page["status"] == "opening" and page["dedup_key"] not in rings:
            yield page["codename"], "a page is said to be opened, and nothing opens it", page["dedup_key"]


def _the_audit_verifies(found: Aftermath) -> Broken:
    if found.audit:
        yield "", found.audit


LAWS: Final[dict[str, Callable[[Aftermath], Broken]]] = {
    "every accepted command is on a timeline, once": _accepted_is_on_a_timeline,
    "no number of a timeline is missing": _no_number_is_missing,
    "nothing is owed": _nothing_is_owed,
    "nothing failed for good": _nothing_failed,
    "the sweep finds nothing to do": _the_sweep_finds_nothing,
    "everyone wanted is in the channel": _everyone_wanted_is_in,
    "who is in which group is known": _groups_are_known,
    "no channel is made twice": _no_channel_is_made_twice,
    "nobody is invited twice": _nobody_is_invited_twice,
    "no message is posted twice": _no_message_is_posted_twice,
    "nobody is told the same directly twice": _nobody_is_told_twice,
    "no page is opened twice": _no_page_is_opened_twice,
    "pages stand as the pager says": _pages_stand_as_the_pager_says,
    **private.LAWS,
    **learned.LAWS,
    **put_back.LAWS,
    **standing.LAWS,
    **known_rooms.LAWS,
    **held_up.LAWS,
    "the audit verifies": _the_audit_verifies,
}


def _mark(args: Row) -> str:
    kept: Any = args.get("metadata") or {}
    if isinstance(kept, str):
        kept = json.loads(kept)
    return str((kept.get("event_payload") or {}).get("mark", ""))
