"""The settled state: values that were read once, and that the invariants are checked against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from stack.chaos.outages import Outage
from stack.chaos.restores import Restore

Row = Mapping[str, Any]
JOINS: Final = {"channel_join", "group_join"}  # subtypes of the messages that say so


@dataclass(frozen=True, slots=True)
class Accepted:
    """A command that was acknowledged: its word must be on that timeline, in one entry of that kind."""

    codename: str
    word: str
    becomes: str
    who: str
    act: str
    began_at: float
    ended_at: float
    to_private: bool = False
    may_be_lost: bool = False  # a process that the restore forgot accepted it: it is there once, or not at all


@dataclass(frozen=True, slots=True)
class Aftermath:
    """Rows of the database, and what the stand-ins and their logs show. Incidents are named by codename."""

    accepted: Sequence[Accepted] = ()
    incidents: Sequence[Row] = ()  # codename, private, is_drill, active, room, revision, planned, last_n
    events: Sequence[Row] = ()  # codename, n, kind, said: all its words
    effects: Sequence[Row] = ()  # codename, key, state, error
    rooms: Sequence[Row] = ()  # codename, room, channel (its id), kind, state, label, private, archived
    gaps: Sequence[Row] = ()  # codename, key: what an incident reports as missing
    takes_part: Sequence[Row] = ()  # codename, chat_id: who is in
    at_drills: Sequence[Row] = ()  # codename, chat_id: who agreed to drills, or acted in this one
    pages: Sequence[Row] = ()  # codename, pager_id, dedup_key, status
    wanted: Mapping[str, Sequence[str]] = field(default_factory=dict)  # chat ids, of active incidents
    stands: Sequence[Row] = ()  # codename, what, channel, ts, says: messages and topics as the product wants them
    unsettled: Sequence[str] = ()  # codenames of incidents that the sweep would still act on
    channels: Sequence[Row] = ()  # of the workspace, as its control door shows them
    people: Sequence[Row] = ()
    groups: Sequence[Row] = ()  # handle, members: as in the workspace
    groups_known: Sequence[Row] = ()  # the same, as the product knows them
    calls: Sequence[Row] = ()  # of the workspace
    pager_incidents: Sequence[Row] = ()
    followups: Sequence[Row] = ()  # codename, n, text, state, account (of its owner), ticket: those that have one
    of_tickets: Sequence[Row] = ()  # what was owed to tickets and what became of it, for investigating violations
    tickets: Sequence[Row] = ()  # project, n, title, body, state, owner, deleted, mark, open_to_all
    replayed: Sequence[Row] = ()  # codename (of the replay), past: the number of the entry that was shown
    reviews: Sequence[Row] = ()  # codename, text: the newest of each section
    looked_in: Sequence[Row] = ()  # codename, who, path, status: what non-participants got
    bot: str = ""
    audit: str = ""  # what `audit verify` says when it fails
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by codename, every word that was said about it
    lost_words: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the same, for what may be lost
    restores: Sequence[Restore] = ()
    opened: Sequence[Row] = ()  # kind, asked_at, done_at: channels and pages that were opened
    outages: Sequence[Outage] = ()


def channels(found: Aftermath) -> dict[str, Row]:
    """Return the channels of the workspace by id."""
    return {one["id"]: one for one in found.channels}


def current_rooms(found: Aftermath) -> dict[str, str]:
    """Return the channel id of each incident, by codename."""
    now = {one["codename"]: one["room"] for one in found.incidents}
    return {one["codename"]: one["channel"] for one in found.rooms if one["room"] == now.get(one["codename"])}


def place(call: Row) -> str:
    """Return where a call wrote: a channel, or a person."""
    args = call["args"]
    return str(args.get("channel") or args.get("channel_id") or "")
