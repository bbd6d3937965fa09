"""The scenario of a chaos run: a pure function of the seed and the length. Same seed, same acts and faults."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from stack.chaos import exchanges, outages, restores
from stack.chaos.planned import PlannedAct, PlannedFault, Scenario, word
from workflows.effects import failpoints
from workflows.planning.actions import KINDS

STAFF: Final = (
    "ada", "mateo", "yuki", "priya", "tomasz", "grace", "farah", "dmitri", "linh", "samuel", "ingrid", "carlos",
    "wei", "amelie", "kofi", "diego", "siobhan", "marcus",
)  # fmt: skip
GUESTS: Final = ("zoe", "pavel")
OUTSIDERS: Final = ("rosa",)
AT_DRILLS: Final = ("mateo", "farah")  # who agreed to be invited to drills
AT_THE_WEB: Final = ("ada", "mateo", "farah", "ingrid")  # of those on the sandbox's sign-in page
TYPES: Final = ("ambiguous", "internal", "security", "time-bomb", "isolated", "major")
DECLARED: Final = ("", "", "internal", "isolated", "time-bomb", "major", "security")
PAGED: Final = ("Major incidents", "Security", "Engineering", "Support")
INCIDENTS_A_MINUTE: Final = 24
ACTS_AN_INCIDENT: Final = (3, 9)
LASTS_S: Final = 90.0  # how long after its declaration people act on an incident
DRILLS: Final = 12  # one in this many is a drill
ANNOUNCED: Final = "incidents"  # the announcement channel
LOST: Final = ("archive_announcing", "rename_announcing")  # how it is lost for a while
MADE_UP_FOR: Final = ("member_*", "channel_*", "channel_*", "group_*")  # events that may be lost
REVOKED: Final = "revoked"  # our token, for everything
MAY_LEAVE: Final = ("kofi", "siobhan", "carlos")  # the company, at some moment
QUIET_END: Final = 0.9  # the share of the time in which incidents are declared
# How the pager fails: a method and a path. If its REST API fails and its events do not, pages use the fallback.
PAGER_DOORS: Final = (
    *(("*", "*"), ("POST", "*"), ("PUT", "*")),
    *(("*", "/incidents*"), ("*", "/incidents*"), ("GET", "/incidents*"), ("POST", "/v2/enqueue")),
)

# What people do to an incident, each with its frequency.
ACTS: Final[Mapping[str, int]] = {
    "retype": 26, "update": 16, "note": 8, "evidence_link": 4, "evidence_file": 5, "page": 7, "lead": 8, "role": 6,
    "bring": 5, "summary": 3, "title": 3, "mitigate": 5, "resolve": 5, "reopen": 5, "cancel": 1, "ask_in": 4,
    "join": 8, "leave": 6, "invite": 4, "kick": 3, "rename_channel": 4, "archive": 3, "unarchive": 3,
    "pager_acknowledge": 5, "pager_resolve": 4, "pager_trigger": 2, "webhook_doubled": 4, "webhook_late": 4,
    "acknowledge": 6, "web_note": 6, "task": 5, "followup": 10, "task_moved": 8, "ticket_moved": 6, "ticket_given": 3,
    "ticket_renamed": 3, "ticket_deleted": 1, "review_written": 6, "review_published": 3, "replay": 4, "replay_next": 4,
    "answer": 3,
}  # fmt: skip

# What an act needs first: the lead does that, halfway between the declaration and the act.
NEEDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("review_written", "review_published", "replay"), "resolve"),
    **dict.fromkeys(("replay_next", "answer"), "replay"),
    **dict.fromkeys(("ticket_moved", "ticket_given", "ticket_renamed", "ticket_deleted", "task_moved"), "followup"),
}
ON_THE_WEB: Final = frozenset({"web_note", "review_written", "review_published", "replay_next"})


def drawn(seed: int, *, minutes: float, incidents: int | None = None) -> Scenario:
    """Draw the scenario of a seed."""
    chance = random.Random(f"acts {seed} {minutes:g} {incidents}")  # noqa: S311 (what happens, nothing secret)
    count = incidents or round(INCIDENTS_A_MINUTE * minutes)
    acts = sorted(_acts(chance, seed, length_s=minutes * 60, count=count), key=lambda one: (one.at_s, one.n))
    found = [one for lane in LANES for one in _lane(seed, lane, length_s=minutes * 60)]
    found += exchanges.drawn(seed, length_s=minutes * 60)
    if outage := outages.drawn(seed, length_s=minutes * 60):
        found.append(outage)
    if restore := restores.drawn(seed, length_s=minutes * 60):
        found.append(restore)
        acts = sorted([*acts, *restores.turned_private(acts, restore, seed=seed)], key=lambda one: (one.at_s, one.n))
    faults = sorted(found, key=lambda one: (one.at_s, one.lane, one.n))
    return Scenario(seed, minutes, tuple(acts), tuple(faults))


def _acts(chance: random.Random, seed: int, *, length_s: float, count: int) -> Iterator[PlannedAct]:
    n = 0
    for incident in range(count):
        began_s = round(chance.uniform(0, length_s * QUIET_END), 2)
        lead, n = chance.choice(STAFF), n + 1
        yield PlannedAct(n, began_s, incident, "declare", lead, word(seed, n), _declared(chance))
        kinds = chance.choices([*ACTS], [*ACTS.values()], k=chance.randint(*ACTS_AN_INCIDENT))
        lasts_s = min(LASTS_S, length_s - began_s)
        for kind in kinds:
            after_s, who = chance.uniform(min(1.5, lasts_s), lasts_s), _somebody(chance, kind, lead)
            for needed, share in _with_needs(kind):
                n += 1
                at_s = round(began_s + after_s * share, 2)
                by = who if needed == kind else lead
                yield PlannedAct(n, at_s, incident, needed, by, word(seed, n), _more(chance))


def _with_needs(kind: str) -> Iterator[tuple[str, float]]:
    """Yield an act and what it needs, each with the share of the time after which it is done."""
    share, needed = 1.0, kind
    while needed:
        yield needed, share
        share, needed = share / 2, NEEDS.get(needed, "")


def _declared(chance: random.Random) -> dict[str, Any]:
    return {"type": chance.choice(DECLARED), "drill": not chance.randrange(DRILLS)}


def _somebody(chance: random.Random, kind: str, lead: str) -> str:
    """Return mostly the lead or a colleague, sometimes someone who may not."""
    anybody = [lead] * 8 + [chance.choice(STAFF)] * 8 + [chance.choice(GUESTS), chance.choice(OUTSIDERS)]
    one = chance.choice(anybody)
    return lead if kind in {"rename_channel", "archive"} else chance.choice(AT_THE_WEB) if kind in ON_THE_WEB else one


def _more(chance: random.Random) -> dict[str, Any]:
    """Draw the parameters an act may need: always the same number of draws, so that one act shifts no other."""
    return {
        "type": chance.choice((*TYPES, "security", "security")),
        "other": chance.choice(STAFF),
        "target": chance.choice(PAGED),
        "role": chance.choice(("Scribe", "Communications")),
        "section": chance.choice(("summary", "hard", "decisions")),
        "state": chance.choice(("open", "done", "dropped")),
        "verb": chance.choice(("done", "drop", "reopen")),
        "nth": chance.randint(1, 3),
        "owner": chance.choice(("", "ada", "wei", "mateo")),
        "back": chance.randint(1, 12),
    }


# Lanes: each breaks one thing after the other, and all of them run at the same time.
Draw = Callable[[random.Random], tuple[str, float, dict[str, Any]]]


def _process(chance: random.Random) -> tuple[str, float, dict[str, Any]]:
    kinds = ("kill_worker", "kill_worker", "crash_at", "crash_at", "kill_web", "kill_evidence")
    kind = chance.choice((*kinds, "freeze_worker", "freeze_worker", "freeze_web", "freeze_evidence"))
    places = [f"{chance.choice(failpoints.POINTS)}:{chance.choice([*KINDS])}" for _ in range(6)]
    longest_s = 45.0 if kind in {"freeze_worker", "freeze_evidence"} else 6.0  # longer than its claims last
    return kind, round(chance.uniform(0.2, longest_s), 2), {"places": places}


def _server(chance: random.Random) -> tuple[str, float, dict[str, Any]]:
    kinds = (
        *("restart_postgres", "freeze_postgres", "read_only_postgres"),
        *("flush_redis", "restart_redis", "freeze_redis", "full_redis"),
    )
    return chance.choice(kinds), round(chance.uniform(1, 12), 2), {"at_pooler": chance.random() < 0.5}


def _slack(chance: random.Random) -> tuple[str, float, dict[str, Any]]:
    methods = ("*", "conversations.create", "conversations.invite", "chat.*", "pins.add", "conversations.*")
    kinds = ("ratelimited", "server_error", "drop", "drop_before", "fatal_error", "latency", "silence", "slow", REVOKED)
    kind, method = chance.choice(kinds), chance.choice(methods)
    about = {"fault": kind, "method": "*" if kind == REVOKED else method}
    return "slack", round(chance.uniform(4, 18), 2), about | _share(chance)


def _events(chance: random.Random) -> tuple[str, float, dict[str, Any]]:
    """Draw what happens to Slack's events: they are repeated, come late and thus out of order, or are lost.

    Those that are lost forever say who joins and leaves, or what became of a channel: both are also polled.
    """
    kind = chance.choice(("event_again", "event_again", "event_late", "event_late", "event_lost"))
    what = chance.choice(("*", "*", "member_*", "channel_*"))
    made_up_for = chance.choice(MADE_UP_FOR)
    what = made_up_for if kind == "event_lost" else what
    late = {"ms": chance.randint(200, 40_000)}
    return "slack_events", round(chance.uniform(5, 30), 2), {"fault": kind, "method": what} | late | _share(chance)


def _pager(chance: random.Random) -> tuple[str, float, dict[str, Any]]:
    kinds = ("ratelimited", "server_error", "error_after", "drop", "drop_before", "timeout", "silence", "slow")
    kind = chance.choice(kinds)
    method, path = chance.choice(PAGER_DOORS)
    lasts_s = round(chance.uniform(4, 18), 2)
    return "pager", lasts_s, {"fault": kind, "method": method, "path": path} | _share(chance)


def _tracker(chance: random.Random) -> tuple[str, float, dict[str, Any]]:
    kind = chance.choice(("limited", "down", "lost", "refused", "silence"))
    methods = ("*", "POST *", "PATCH *", "GET *")
    return (
        "tracker",
        round(chance.uniform(4, 18), 2),
        {"fault": kind, "method": chance.choice(methods)} | _share(chance),
    )


def _share(chance: random.Random) -> dict[str, Any]:
    return {"probability": round(chance.uniform(0.2, 0.9), 2), "retry_after_s": chance.randint(1, 8)}


def _clock(chance: random.Random) -> tuple[str, float, dict[str, Any]]:
    process = chance.choice(("web", "worker", "evidence"))
    return "step_clock", round(chance.uniform(8, 40), 2), {"process": process, "offset_s": chance.choice((-60, 60))}


def _announcing(chance: random.Random) -> tuple[str, float, dict[str, Any]]:
    return chance.choice(LOST), round(chance.uniform(10, 60), 2), {}


def _staffing(chance: random.Random) -> tuple[str, float, dict[str, Any]]:
    anybody = (*STAFF, *STAFF, *GUESTS, *OUTSIDERS)
    members = list(dict.fromkeys(chance.sample(anybody, chance.randint(0, 7))))
    kind = chance.choice((*("regroup",) * 8, "deactivate"))
    return kind, 0.0, {"nth": chance.randint(0, 99), "members": members, "who": chance.choice(MAY_LEAVE)}


LANES: Final[Mapping[str, tuple[Draw, float]]] = {
    "processes": (_process, 9.0),
    "servers": (_server, 16.0),
    "slack": (_slack, 9.0),
    "events": (_events, 15.0),
    "pager": (_pager, 14.0),
    "tracker": (_tracker, 14.0),
    "clocks": (_clock, 20.0),
    "announcing": (_announcing, 60.0),
    "staffing": (_staffing, 20.0),
}
"""How each lane draws its faults, and the seconds that lie between two of them on average."""


def _lane(seed: int, lane: str, *, length_s: float) -> Iterator[PlannedFault]:
    chance = random.Random(f"{lane} {seed} {length_s:g}")  # noqa: S311 (what breaks, nothing secret)
    draw, rest_s = LANES[lane]
    rest_s = min(rest_s, length_s / 4)  # a short run is just as rough
    at_s, n = chance.uniform(1, rest_s), 0
    while at_s < length_s:
        kind, lasts_s, more = draw(chance)
        lasts_s = min(lasts_s, round(length_s / 4, 2))
        n += 1
        yield PlannedFault(n, round(at_s, 2), lane, kind, lasts_s, more)
        at_s += lasts_s + chance.uniform(0.3, 1.7) * rest_s
