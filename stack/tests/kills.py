"""Kill workers at every failpoint of their work, without waiting for time-outs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing

import psycopg
from celery import Celery

from config.messages import CONFIGURATION
from stack.outside import Records, until
from stack.supervisor.running import Stack
from workflows.effects import failpoints
from workflows.planning.actions import EVIDENCE, KINDS

PATIENCE_S = 180  # a busy machine
SLOW = [name for name, kind in KINDS.items() if kind.queue == EVIDENCE]
# Expire the claims of killed workers, and their sent requests, and leave those of living ones alone.
LAPSE = """
    UPDATE workflows_effect SET leased_until = now() - interval '1 second', tried_at = NULL
     WHERE state = 'running' AND (kind = ANY(%s)) = %s
"""
LAPSE_READING = """
    UPDATE evidence_evidence SET leased_until = now() - interval '1 second'
     WHERE state = 'reading' AND leased_until IS NOT NULL
"""

# A request either got a response or died with its worker: none is still under way, and has to be waited for.
NONE_ON_THEIR_WAY = """
    UPDATE workflows_effect SET tried_at = NULL, due_at = least(due_at, now())
     WHERE state <> 'running' AND (unsure AND tried_at IS NOT NULL OR state = 'waiting' AND due_at > now())
"""


def places(*kinds: str) -> set[str]:
    """Return every failpoint around these kinds of effects."""
    return {f"{point}:{kind}" for kind in kinds for point in failpoints.POINTS}


def killed_everywhere(
    stack: Stack,
    codename: str,
    *kinds: str,
    process: str = "worker",
    after_each: Callable[[], None] = lambda: None,
) -> None:
    """Have a process die at each failpoint around these kinds of effects of an incident, and then continue to the end.

    It dies at them in the order in which it reaches them, and each restart takes up what the last one left.
    """
    left = places(*kinds)
    while left:
        died_at = killed(stack, codename, *left, process=process)
        if not died_at:
            # Killed by another thread between its record and the failpoint: it was reached, because no one passes it
            # alive.
            assert {place.partition(":")[0] for place in left} == {failpoints.AFTER_RECORD}, left
            stack.kill9(process)
            break
        left -= died_at
        after_each()
    started(stack, process)


def killed(stack: Stack, codename: str, *dies_at: str, process: str = "worker") -> set[str]:
    """Have a process die at whichever of these failpoints it reaches first; return at which it did.

    Several if threads reached them together, and none if nothing more happens to the incident.
    """
    started(stack, process, dies_at=dies_at)
    one = stack.processes[process]
    with closing(Records(stack.database_url)) as records:
        until(
            lambda: one.exit_code is not None or records.settled(codename),
            what=f"{process} to die at one of {sorted(dies_at)}",
            timeout_s=PATIENCE_S,
        )
    if one.alive:
        return set()
    assert one.exit_code == -9, one.output
    return {place for place in dies_at if one.has_said(f"{failpoints.DIES}{place}")}


def hurried(stack: Stack, records: Records, codename: str) -> bool:
    """Skip back-off and late requests, and return whether nothing is owed to an incident."""
    with psycopg.connect(stack.database_url) as operator:
        operator.execute(NONE_ON_THEIR_WAY)
    return records.settled(codename)


def started(stack: Stack, process: str = "worker", *, dies_at: Iterable[str] = ()) -> None:
    """Start a process unless it runs, and have it find at once what is due, including the last one's claims."""
    if not stack.processes[process].alive:
        with psycopg.connect(stack.database_url) as database:
            database.execute(LAPSE, [SLOW, process == "evidence"])
            if process == "evidence":
                database.execute(LAPSE_READING)
        if places := ",".join(sorted(dies_at)):
            # It may die before it reports readiness, because it looks for work as soon as it can.
            stack.processes[process].start(env={"FIREKIND_CRASH_AT": places})
        else:
            stack.start(process)
    hint(stack)


def hint(stack: Stack) -> None:
    """Have the sweeps run now, and the tracker asked what changed, which is otherwise asked once a minute."""
    with Celery("tests", fixups=[], set_as_current=False) as app:
        app.conf.update({**CONFIGURATION, "broker_url": stack.env["REDIS_URL"]})
        for name in ("workflows.tasks.sweep", "evidence.tasks.sweep", "workflows.tasks.look_at_tickets"):
            app.send_task(name)
