"""Play a scenario on a stack: people and faults at the same time; then mend everything, let it settle, and check it."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from itertools import cycle, groupby
from typing import Final, Protocol

import psycopg

from stack.chaos import learning
from stack.chaos.acting import ELSEWHERE, ActOutcome, Cast, Rooms, WebForms
from stack.chaos.judging import gathering, invariants, known_rooms, learned
from stack.chaos.judging.aftermath import Aftermath
from stack.chaos.judging.invariants import Violation
from stack.chaos.outages import Outage
from stack.chaos.planned import PlannedAct, PlannedFault, Scenario
from stack.chaos.restores import Restore
from stack.chaos.scenario import AT_DRILLS, AT_THE_WEB, GUESTS, OUTSIDERS
from stack.errors import StackError
from stack.outside import Api, Records, SandboxAccount, SandboxTracker, SandboxWorkspace, until
from stack.supervisor.running import Stack

ACTORS: Final = 8
OVERTIME: Final = 1.15  # of the length: acts not begun by then are left out and counted
PATIENCE_S: Final = 120
LOOKS: Final = 3  # pages escalate while everything is read, so its parts are from different moments
READ_AT_MOST: Final = 3
CALM_S: Final = 6.0  # the time between two checks that find nothing owed; the sweep runs in between
Tell = Callable[[str], None]
# Only a few channels get a turn every 45 s, so channels with a lost event are polled as if it were theirs.
LOOK: Final = """
from django.utils import timezone
from workflows import ports
from workflows.channels import room_looks
for one in {ids}:
    room_looks.look(ports.chat(), one, at=timezone.now())
"""
# A public channel's turn to have its members read also comes too late in such a run, with hundreds of open incidents.
READ_PUBLIC: Final = """
from django.utils import timezone
from workflows.channels import membership
membership.poll_public(at=timezone.now(), at_once=None)
"""
IN_PUBLIC: Final = """
    SELECT c.external_id AS channel, m.spec ->> 'person' AS chat_id FROM workflows_resource m
      JOIN incidents_incident i ON i.id = m.incident_id AND m.room = i.room AND i.active AND NOT i.private
      JOIN workflows_resource c ON c.incident_id = i.id AND c.room = i.room AND c.kind = 'channel' AND c.state = 'there'
     WHERE m.kind = 'member' AND m.state = 'there'
"""
REFUSED: Final = """
    SELECT DISTINCT r.external_id AS channel, e.error_code = 'is_archived' AS archived FROM workflows_effect e
      JOIN workflows_resource r ON r.incident_id = e.incident_id AND r.kind = 'channel' AND r.room = e.room
     WHERE e.state = 'failed' AND e.error_code IN ('is_archived', 'is_inactive', 'not_in_channel', 'access_denied')
"""
# Back-off waits minutes for the next try. Vendors work again, so it may come soon; but not at once, because a request
# without a response may still be under way.
HURRY: Final = """
    UPDATE workflows_effect SET due_at = now() + interval '20 s'
     WHERE state = 'waiting' AND attempt > 0 AND due_at > now() + interval '25 s'
"""
# A replay waits three minutes for what people would do next; no one is asked any more.
HURRY_REPLAYS: Final = """
    UPDATE incidents_replay SET shown_at = now() - interval '10 minutes', due_at = now() WHERE due_at > now()
"""
# Everyone is read every quarter of an hour; the event that someone left may have come while no one listened.
READ_EVERYONE: Final = "UPDATE workflows_directoryread SET people_at = people_at - interval '1 hour', stale = true"


@dataclass(slots=True)
class ChaosRun:
    """What was done, the results, and how long it took."""

    scenario: Scenario
    outcomes: list[ActOutcome] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    acted_s: float = 0.0
    settled_s: float = 0.0
    waited_for: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # seconds, by what was unfinished
    trouble: str = ""
    aftermath: Aftermath = field(default_factory=Aftermath)
    violations: list[Violation] = field(default_factory=list)


class ActDoer(Protocol):
    """Carries out the acts of a scenario."""

    def do(self, act: PlannedAct) -> ActOutcome:
        """Do one act and return the result."""
        ...


class FaultDoer(Protocol):
    """Carries out the faults of a scenario."""

    counts: Counter[str]
    restores: list[Restore]
    outages: list[Outage]

    def do(self, fault: PlannedFault, over: threading.Event) -> None:
        """Break one thing for its duration, or until the run is over, and mend it."""
        ...

    def mend(self) -> None:
        """Mend everything for good."""
        ...


def played(
    stack: Stack,
    scenario: Scenario,
    *,
    breaker: FaultDoer,
    tell: Tell,
    settle_s: float,
    others: Sequence[str] = (),
) -> ChaosRun:
    """Play a scenario and judge the final state; `others` are addresses of further web hosts."""
    run = ChaosRun(scenario)
    cast = _cast(stack, others)
    run.faults = breaker.counts
    try:
        _act(run, cast, breaker, tell)
    finally:
        breaker.mend()
    for _ in range(LOOKS):
        _settle(run, stack, tell, settle_s=settle_s)
        newest = _newest(stack)
        run.aftermath = gathering.gathered(stack, run.outcomes, restores=breaker.restores, outages=breaker.outages)
        run.violations = invariants.violations(run.aftermath)
        if run.trouble or not run.violations or _newest(stack) == newest:
            break
    return run


def _newest(stack: Stack) -> dict[str, object]:
    """Return the newest entry, and when the last step was taken."""
    with closing(Records(stack.database_url)) as records:
        return records.rows(NEWEST)[0]


def _cast(stack: Stack, others: Sequence[str]) -> Cast:
    workspace, account = SandboxWorkspace(stack.sandbox_url), SandboxAccount(stack.sandbox_url)
    with closing(Records(stack.database_url)) as records:
        until(records.knows_people, what="nobody is known", timeout_s=PATIENCE_S)
        until(records.knows_on_call, what="nobody is known to be on call", timeout_s=PATIENCE_S)
    token = stack.manage("evidence_token", "ada@example.com", "--name", "chaos").stdout.split()[-1]
    names = {one["handle"]: one["name"] for one in workspace.state()["people"]}
    workspace.act("invite", user="ada", channel="general", who=[*GUESTS, *OUTSIDERS])  # where everyone types
    hosts = [stack.base_url, *others]
    forms = {who: WebForms(host, names[who]) for who, host in zip(AT_THE_WEB, cycle(hosts), strict=False)}
    for who in AT_DRILLS:
        forms[who].send("/account/drills", agrees="1")
    doors = {**ELSEWHERE, **learning.DOORS}
    return Cast(
        workspace, account, SandboxTracker(stack.sandbox_url), Api(hosts[-1], token), forms, Rooms(workspace), doors
    )


def _act(run: ChaosRun, cast: Cast, breaker: FaultDoer, tell: Tell) -> None:
    """Let people act and things break, at the same time, until everything is done or the time is up."""
    ActingTime(run, cast, breaker).pass_by()
    tell(f"acted for {run.acted_s:.0f} s; everything is mended now, and has to settle")


class ActingTime:
    """The time in which people act and things break: a thread per actor, and one per lane of faults."""

    def __init__(self, run: ChaosRun, cast: ActDoer, breaker: FaultDoer) -> None:
        self._run, self._cast, self._breaker = run, cast, breaker
        self._left = deque(run.scenario.acts)
        self._lock, self._over = threading.Lock(), threading.Event()
        self._began = time.monotonic()

    def pass_by(self) -> None:
        """Let everything happen; whatever ends the wait early, such as Ctrl-C, also ends what is under way."""
        faults = sorted(self._run.scenario.faults, key=lambda one: one.lane)
        lanes = [sorted(found, key=lambda one: one.at_s) for _, found in groupby(faults, lambda one: one.lane)]
        with ThreadPoolExecutor(len(lanes) + ACTORS) as pool:
            try:
                breakers = [pool.submit(self._break, lane) for lane in lanes]
                actors = [pool.submit(self._act) for _ in range(ACTORS)]
                wait(actors, timeout=self._run.scenario.minutes * 60 * OVERTIME)
            finally:
                with self._lock:
                    self._run.left_out = len(self._left)
                    self._left.clear()
                self._over.set()
        for one in (*breakers, *actors):
            one.result()  # an error of ours is not the product's
        self._run.acted_s = time.monotonic() - self._began

    def _act(self) -> None:
        while (one := self._next()) and self._wait_for(one.at_s):
            outcome = self._cast.do(one)
            with self._lock:
                self._run.outcomes.append(outcome)

    def _break(self, lane: Sequence[PlannedFault]) -> None:
        for one in lane:
            if not self._wait_for(one.at_s):
                return
            self._breaker.do(one, self._over)

    def _next(self) -> PlannedAct | None:
        with self._lock:
            return self._left.popleft() if self._left else None

    def _wait_for(self, at_s: float) -> bool:
        return not self._over.wait(max(0.0, self._began + at_s - time.monotonic()))


def _settle(run: ChaosRun, stack: Stack, tell: Tell, *, settle_s: float) -> None:
    """Wait until nothing is owed twice in a row, and everyone was told everything."""
    began = time.monotonic()
    workspace, account = SandboxWorkspace(stack.sandbox_url), SandboxAccount(stack.sandbox_url)
    until(lambda: _answers(stack.database_url), what="the database was not back", timeout_s=PATIENCE_S)
    with closing(Records(stack.database_url)) as records, psycopg.connect(stack.database_url, autocommit=True) as hurry:
        calm_since: float | None = None
        asked: Counter[tuple[object, object]] = Counter()
        hurry.execute(READ_EVERYONE)
        awaited: dict[str, Callable[[], bool]] = {
            "effects": records.settled,
            "deliveries": lambda: _idle(workspace, account),
            "who is in which group": lambda: not _unknown_groups(workspace, records),
            "what came to be read": lambda: not records.rows(UNREAD),
            "announcements": lambda: not records.rows(UNANNOUNCED),
            "tickets": lambda: _in_step(records, stack),
            "how channels stand": lambda: not _looked_at(workspace, records, stack),
            "who left public channels": lambda: not _read_public(workspace, records, stack, asked),
            "pages that are open twice": lambda: _opened_once(account),
        }
        while time.monotonic() - began < settle_s:
            hurry.execute(HURRY)
            hurry.execute(HURRY_REPLAYS)
            looked_at = time.monotonic()
            waits_for = next((what for what, is_over in awaited.items() if not is_over()), "")
            calm_since = None if waits_for else calm_since or time.monotonic()
            if calm_since is not None and time.monotonic() - calm_since > CALM_S:
                break
            time.sleep(0.5)
            run.waited_for[waits_for or "calm"] += time.monotonic() - looked_at
        else:
            run.trouble = f"it had not settled after {settle_s:g} s"
    run.settled_s = time.monotonic() - began
    tell(f"settled for {run.settled_s:.0f} s{f': {run.trouble}' if run.trouble else ''}")


NEWEST: Final = """
    SELECT (SELECT max(id) FROM incidents_event) AS entry, (SELECT max(ended_at)::text FROM workflows_effect) AS step
"""
UNREAD: Final = """
    SELECT 1 FROM pagerduty_webhook WHERE state <> 'done'
    UNION ALL SELECT 1 FROM workflows_page WHERE doubted_at IS NOT NULL AND looked_at IS NULL
    UNION ALL SELECT 1 FROM incidents_replay r JOIN incidents_incident i ON i.id = r.incident_id
     WHERE r.due_at IS NOT NULL AND i.active
    UNION ALL SELECT 1 FROM evidence_evidence WHERE state = 'reading' LIMIT 1
"""


UNANNOUNCED: Final = """
    SELECT 1 FROM workflows_effect e JOIN incidents_incident i ON i.id = e.incident_id
     WHERE e.state = 'failed' AND e.thing = 'announcement' AND (i.active OR e.verb = 'change')
       AND e.error_code IN ('channel_not_found', 'is_archived', 'is_inactive', 'not_in_channel')
       AND (SELECT count(*) FROM incidents_event f WHERE f.incident_id = e.incident_id AND f.kind = 'failed'
             AND (f.data ->> 'effect')::bigint = e.id) < 3  -- a failure reported three times is left to people
     LIMIT 1
"""


def _answers(database_url: str) -> bool:
    """Return whether the database accepts connections: it may have been restarting when the time was up."""
    try:
        psycopg.connect(database_url).close()
    except psycopg.OperationalError:
        return False
    return True


def _in_step(records: Records, stack: Stack) -> bool:
    """Return whether each ticket agrees with its follow-up: lost webhooks are made up for within a minute."""
    followups, tickets = gathering.followups(records, stack), gathering.tickets(stack)
    return not any(learned.out_of_step(followups, tickets))


def _looked_at(workspace: SandboxWorkspace, records: Records, stack: Stack) -> list[str]:
    """Have each channel polled whose state is unknown or that is owed what it refused; return their ids."""
    state = workspace.state()
    unknown = known_rooms.unknown(records.rows(gathering.ROOMS), state["channels"], bot=state["bot"])
    shut = {str(one["id"]) for one in state["channels"] if one["is_archived"]}  # refuse it for as long as people want
    refused = {str(one["channel"]) for one in records.rows(REFUSED) if not (one["archived"] and one["channel"] in shut)}
    ids = [*(str(room["channel"]) for room, _ in unknown), *sorted(refused)]
    if ids:
        stack.manage("shell", "-c", LOOK.format(ids=ids), check=False)
    return ids


def _read_public(
    workspace: SandboxWorkspace, records: Records, stack: Stack, asked: Counter[tuple[object, object]]
) -> bool:
    """Have public channels with leavers read, three times each; return whether any had them.

    The event that says so may have been lost.
    """
    there = {one["id"]: one for one in workspace.state()["channels"] if not one["is_archived"]}
    known = [(one["channel"], one["chat_id"]) for one in records.rows(IN_PUBLIC) if one["channel"] in there]
    left = {one for one in known if one[1] not in there[one[0]]["members"] and asked[one] < READ_AT_MOST}
    asked.update(left)
    if left:
        stack.manage("shell", "-c", READ_PUBLIC, check=False)
    return bool(left)


def _opened_once(account: SandboxAccount) -> bool:
    """Return whether no page is open on two services any more: a poll ends one within a minute or two."""
    return max(invariants.open_keys(account.state()["incidents"].values()).values(), default=0) < 2


def _unknown_groups(workspace: SandboxWorkspace, records: Records) -> list[str]:
    return invariants.unknown_groups(workspace.state()["groups"], records.rows(gathering.GROUPS))


def _idle(workspace: SandboxWorkspace, account: SandboxAccount) -> bool:
    """Return whether Firekind was told everything; what waits to be resent is sent now."""
    try:
        return not workspace.wait_idle(hurry=True) and not account.wait_idle(hurry=True)
    except StackError:
        return False
