"""The Celery tasks: a few lines each. Messages are hints that carry an id; losing one loses nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from celery import shared_task
from django.utils import timezone

from audit import log_ids
from incidents import hints, lifecycle
from incidents.claiming import apart
from incidents.claiming.glance import acts_on
from incidents.claiming.keyed_executor import Lane
from incidents.claiming.recent import Pause
from incidents.drills import replays
from incidents.lifecycle import misses
from incidents.models import Incident
from incidents.outages import hint_sender, spare_connections
from incidents.outages.hint_sender import HintTask
from incidents.second_manager import notices
from workflows import ports
from workflows.alerts import intake, poll_alerts
from workflows.channels import membership, room_looks
from workflows.effects import effect_queue, workspaces
from workflows.effects.failing import announcements, recovering
from workflows.oncall import refresh
from workflows.paging import poll_pages, poll_unheard
from workflows.performing import perform
from workflows.planning.actions import EVIDENCE, KINDS
from workflows.planning.plan import Plan
from workflows.ports import VendorError
from workflows.reconcile import missed, weekly
from workflows.reconcile import reconcile as reconciling
from workflows.reconcile import sweep as sweeping
from workflows.tickets import looks
from workflows.usergroups import sync, workspace_cache

log = logging.getLogger(__name__)

PAUSE_S = 15
PATIENCE_S = 5  # for the first read of a workspace, without which no one can be brought in
# Incidents that one worker handles at once, per port: messages and sweeps only say which incident it is.
LANES: Final = {"chat": 24, "pager": 16, "tracker": 6}
TICKETS_AT_ONCE: Final = 2
CAPTURES_AT_ONCE = 12  # incidents that one evidence worker captures for; each mostly waits for its source
FRESH_S = 30  # a hint that waited longer than this is left to the sweep


@shared_task
def reconcile(incident_id: int) -> None:
    """Plan an incident if it has newer facts than its plan, and perform what is ready."""
    _plan(incident_id, reconciling.catch_up)


@shared_task
def plan_again(incident_id: int) -> None:
    """Plan an incident whose own facts are the same: others that it depends on, such as who is on call, changed."""
    _plan(incident_id, reconciling.reconcile)


def _plan(incident_id: int, planned: Callable[..., Plan | None]) -> None:
    if not _reads.begun and workspace_cache.never_read():
        refresh_directory()
    _reads.begun = True
    with log_ids.of(incident=incident_id):
        try:
            plan = planned(incident_id, at=timezone.now())
        except Incident.DoesNotExist:  # the database was restored, and the broker remembers
            log.info("a hint is about an incident that is not there")
            return
    if plan is not None and any(KINDS[action.kind].queue == EVIDENCE for action in plan.actions):
        _send(measure, incident_id)
    drain(incident_id)


@shared_task
def drain(incident_id: int) -> None:
    """Start what is ready of an incident that is already planned, in one thread per port."""
    for port in perform.asked(incident_id):
        _lanes[port].ask(incident_id)


def _perform(port: str, incident_id: int) -> None:
    if "member" in perform.drain(incident_id, port=port):
        _grouping.ask("groups")  # members were already invited


@shared_task
def measure(incident_id: int) -> None:
    """Start an incident's ready long-running effects, in one thread per port."""
    for port in perform.asked(incident_id, queue=EVIDENCE):
        _measuring[port].ask(incident_id)


def _measure(port: str, incident_id: int) -> None:
    perform.drain(incident_id, queue=EVIDENCE, port=port)
    _send(drain, incident_id)  # effects that waited for it


_lanes: Final = {port: Lane(partial(_perform, port), at_once=most, name=f"{port} lane") for port, most in LANES.items()}
_measuring: Final = {
    port: Lane(partial(_measure, port), at_once=CAPTURES_AT_ONCE, name=f"{port} evidence") for port in perform.IN_FLIGHT
}


# What a sweep does besides effects, by the name of what is waiting.
CARRIED: Final[Mapping[str, Callable[..., int]]] = {
    "overdue": sweeping.fall_due,
    "replays": replays.advance,
    "access requests": lifecycle.carry,
    "notices": notices.carry,
}


@shared_task
@acts_on(
    **sweeping.LOOKS,
    effects=lambda now: effect_queue.ready(now, effect_queue.HASTY),
)
def sweep() -> None:
    """Do what no message triggered because it was lost or late; the worker does it itself.

    Nothing here calls a vendor, which may not respond for a long time: vendors have looks of their own.
    """
    at = timezone.now()
    waiting = sweeping.waiting(at=at)
    unplanned = sweeping.unplanned(at=at) if waiting & {"moved", "plan again"} else []
    for incident_id in unplanned:
        hint_sender.found(reconcile, incident_id, fresh_s=FRESH_S)
    for incident_id in sweeping.due(at=at, kinds=effect_queue.HASTY):
        if incident_id not in unplanned:
            hint_sender.found(drain, incident_id, fresh_s=FRESH_S)
    apart.each([name for name in CARRIED if name in waiting], lambda name: CARRIED[name](at=at), what="the sweep")


@shared_task
@acts_on(workspace=workspace_cache.known_old)
def follow_workspace() -> None:
    """Read a workspace that is new or reported a change, without waiting for the regular look."""
    if workspace_cache.is_known_old():
        refresh_directory()


@shared_task
@acts_on(misses=lambda now: misses.to_tell(now.shared))
def tell_of_misses() -> None:
    """Tell managers about attempts to break glass on incidents that do not exist."""
    missed.tell_managers(at=timezone.now())


@shared_task
@acts_on(captures=lambda now: effect_queue.ready(now, effect_queue.SLOW))
def sweep_captures() -> None:
    """Start the captures that are due, in an evidence worker."""
    for incident_id in sweeping.due(at=timezone.now(), kinds=effect_queue.SLOW):
        measure(incident_id)


@shared_task
def watch_members() -> None:
    """Read who is in channels, and the channels' state: neither relies on events alone.

    People who left lose access even if the event was lost, and steps that wait for a channel continue. A newly
    connected workspace is identified first: channels of the previous one would seem to be gone in it.
    """
    chat = ports.chat()
    if chat is None or not workspaces.follow(chat, at=timezone.now()):
        return
    membership.poll(at=timezone.now())
    membership.poll_older(at=timezone.now())
    membership.poll_public(at=timezone.now())
    room_looks.look_again(at=timezone.now())


@shared_task
def look_at_pages() -> None:
    """Poll the pager for open pages, alerts of active incidents, and open incidents that no webhook reported."""
    poll_pages.look_again(at=timezone.now())
    poll_alerts.look_again(at=timezone.now())
    poll_unheard.look(at=timezone.now())


@shared_task
def look_at_tickets() -> None:
    """Ask the issue tracker which tickets have changed, in case a webhook was lost."""
    looks.look_again(at=timezone.now())


@shared_task
def look_at_ticket(ticket_id: int) -> None:
    """Look at a ticket that a webhook reported, after a short delay: trackers send many at once."""
    _looking.ask(ticket_id)


def _look_at(ticket_id: int) -> None:
    try:
        looks.look(ticket_id, at=timezone.now())
    except VendorError as error:
        log.warning("could not look at a ticket: %s", error)


_looking: Final = Lane(_look_at, at_once=TICKETS_AT_ONCE, name="tickets")


@shared_task
def recover() -> None:
    """Retry what failed because of a vendor as a whole, once it works again."""
    recovering.retry(at=timezone.now())


@shared_task
def try_announcements() -> None:
    """Retry what the announcement channel is owed, once we may post in it again."""
    announcements.retry(at=timezone.now())


@shared_task
def forget_alerts() -> None:
    """Delete month-old pager events about incidents that are not ours."""
    intake.forget(at=timezone.now())


@shared_task
def remind() -> None:
    """Remind owners of overdue follow-ups, once a week."""
    weekly.remind(at=timezone.now())


@shared_task
def audit() -> None:
    """Plan every active incident from scratch and send a hint for those where something differs."""
    for incident_id in sweeping.unsettled():
        hint_again(incident_id)


@shared_task
def refresh_directory() -> None:
    """Read the workspace's groups and people if that is due; a vendor that is down is asked again later."""
    at, chat = timezone.now(), ports.chat()
    if chat is None or (_reads.pause is not None and _reads.pause.lasts(at=at)):
        return
    if not (workspaces.follow(chat, at=at) and workspace_cache.is_old(at=at)):
        return
    spare_connections.give_back()
    if not _reading.acquire(timeout=PATIENCE_S if workspace_cache.never_read() else 0):
        return  # a large workspace takes longer than the interval between looks
    try:
        if not workspace_cache.is_old(at=at):
            return  # someone else has just read it
        changed = workspace_cache.refresh(at=at)
    except VendorError as error:
        log.warning("could not read the workspace: %s", error)
        _reads.pause = Pause(at, at + timedelta(seconds=error.retry_after or PAUSE_S))
        return
    finally:
        _reading.release()
    if changed:
        audit()


@shared_task
@acts_on(pager=refresh.may_be_due)
def refresh_on_call() -> None:
    """Read what is due from the pager; if on-call has changed, or more people are known, look at every incident."""
    if refresh.keep(at=timezone.now()):
        audit()
        _sync_groups()


@shared_task
@acts_on(groups=sync.worth_a_look)
def keep_groups() -> None:
    """Keep user groups in line with on-call; one query while no group is due."""
    if ports.chat() is not None and sync.due(at=timezone.now()):
        _sync_groups()


def _keep_groups(_: str) -> None:
    keep_groups()


# Apart from the lanes of incidents: groups may be silent while everything else is answered.
_grouping: Final = Lane(_keep_groups, at_once=1, name="groups")


def _sync_groups() -> None:
    if any(one.joined or one.left for one in sync.sync(at=timezone.now())):
        audit()


@dataclass(slots=True)
class _WorkspaceReads:
    """Whether this process ever read the workspace, and how long it leaves one that could not be read alone."""

    begun: bool = False
    pause: Pause | None = None


_reads = _WorkspaceReads()
_reading = threading.Lock()


def hint(incident_id: int) -> None:
    """Ask a worker to reconcile an incident soon. If the broker is down, the sweep finds it instead."""
    _send(reconcile, incident_id)


def hint_again(incident_id: int) -> None:
    """Ask a worker to plan an incident again soon. If the broker is down, this process does, or the audit finds it."""
    _send(plan_again, incident_id)


def _send(task: HintTask, incident_id: int) -> None:
    hint_sender.send(task, incident_id, fresh_s=FRESH_S)


hints.listeners.append(hint)
hints.again.append(hint_again)
