"""What must change nothing, and what must be survived: planning again, and a killed worker."""

from __future__ import annotations

from celery import Celery

from config.broker import EFFECTS
from stack.outside import until
from stack.story.stage import Stage
from stack.supervisor.running import Stack
from stack.tour import record, room
from stack.tour.after import RESPONSE, Tour

TITLE = "A certificate ends on Friday"
MEMBERS = RESPONSE | {"wei", "amelie", "kofi", "linh"}
CRASH = "after_call:post"


def nothing_to_do(tour: Tour, stack: Stack) -> None:
    """Have the worker plan the settled incident again, and check that it calls no one."""
    id = tour.records.incident(tour.stage.codename)["id"]
    planned = tour.records.rows("SELECT at FROM workflows_planned WHERE incident_id = %s", id)
    before = tour.workspace.called()
    with Celery("tour", broker=stack.env["REDIS_URL"], fixups=[]) as broker:
        broker.send_task("workflows.tasks.plan_again", [id], queue=EFFECTS)
    until(
        lambda: tour.records.rows("SELECT at FROM workflows_planned WHERE incident_id = %s", id) != planned,
        what="the incident was not planned again",
    )
    until(lambda: tour.records.settled(tour.stage.codename), what="planning again left something to do")
    calls = [call["method"] for call in tour.workspace.calls(since=before)]
    tour.checks.so("planning a settled incident again makes no call at all", not calls, instead=calls)


def killed_worker(tour: Tour, stack: Stack) -> None:
    """Kill the worker between a call and its record; check that the next one does the rest, and nothing twice."""
    stack.stop("worker")
    stack.start("worker", env={"FIREKIND_CRASH_AT": CRASH})
    before = tour.workspace.called()
    stage = Stage(tour.workspace, tour.records, tour.stage.account, tour.stage.desk, tour.stage.tell)
    stage.declares("kofi", f"/incident declare time-bomb: {TITLE}", where="platform")
    stack.wait_exit("worker", timeout_s=90)  # a busy machine takes long to start one
    tour.checks.so("the worker was killed after it had posted and before it had noted that", True)
    stack.kill9("worker")
    stack.start("worker")
    stage.watches()
    tour.workspace.wait_idle()
    found = tour.workspace.channel(stage.room)
    page = f"{tour.base_url}/incidents/{stage.codename}/"
    room.current(tour.checks, found, private=False, members=MEMBERS, topic="Time bomb · Open", page=page)
    room.nobody_wrong(tour.checks, tour.workspace, found)
    record.all_done(tour.checks, tour.records, stage.codename)
    record.calls_made_once(tour.checks, tour.workspace.calls(since=before))
