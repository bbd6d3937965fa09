"""Read tickets that changed, when a webhook says so and once a minute: a lost webhook loses nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from incidents.claiming.shared_clock import clock
from incidents.lifecycle import rules
from incidents.models import Incident
from workflows import ports
from workflows.models import Effect, Limit, Planned, Resource, Ticket, TrackerRead
from workflows.planning.actions import KINDS
from workflows.planning.observed import THERE
from workflows.planning.tickets import merging
from workflows.ports import VendorError
from workflows.tickets import news
from workflows.tracker_port import MOVED, TicketStatus, Tracker

log = logging.getLogger(__name__)

REFUSED_FOR: Final = timedelta(days=1)  # how long to retry a ticket that the tracker refuses to show
REFUSED_AMONG: Final = 300  # of the newest changes: all that follow it are listed again each minute, a thousand at most
OVERLAP: Final = timedelta(seconds=90)  # for changes that a tracker lists late, or that share a second


def look(ticket_id: int, *, at: datetime) -> bool:
    """Read one ticket that a webhook reported; return whether it was compared. Raises ``VendorError``."""
    tracker = ports.tracker()
    ticket = Ticket.objects.filter(pk=ticket_id).first()
    if tracker is None or ticket is None or _is_limited(at=at):
        return False
    before = _resource(ticket)
    if before is None or ticket.place not in {tracker.place(), tracker.place(private=True)}:
        return False
    found = _shown(tracker, ticket, before)
    return found is not None and _compared(tracker, ticket, before, found)


def look_again(*, at: datetime) -> int:
    """Read what changed in each project since the last time; return how many tickets were compared."""
    tracker = ports.tracker()
    if tracker is None or _is_limited(at=at):
        return 0
    places = {private: tracker.place(private=private) for private in (False, True)}
    return sum(_read(tracker, place, private=private, at=at) for private, place in places.items() if place)


def _read(tracker: Tracker, place: str, *, private: bool, at: datetime) -> int:
    last = TrackerRead.objects.filter(place=place).first()
    if last is None:
        return 0  # no ticket was opened there yet
    done: list[TicketStatus] = []
    refused: list[TicketStatus] = []
    try:
        found = tracker.changed_tickets(last.until - OVERLAP, private=private)
        done.extend(_caught_up(tracker, place, found, refused=refused))
    except VendorError as error:
        log.warning("could not read what changed in the issue tracker: %s", error)
        _limit(error, at=at)
    if done:
        since = max(at - REFUSED_FOR, done[-REFUSED_AMONG:][0].at)
        until = min([done[-1].at, *(one.at for one in refused if one.at > since)])
        TrackerRead.objects.filter(pk=last.pk).update(until=max(last.until, until))
    return len(done)


def _is_limited(*, at: datetime) -> bool:
    """Return whether the tracker asked us to wait: asking anyway would extend the limit."""
    return Limit.objects.filter(vendor="tracker", blocked_until__gt=clock.at(at)).exists()


def _limit(error: VendorError, *, at: datetime) -> None:
    """Block what effects would call as well, after a read hit the limit."""
    if error.retry_after is None:
        return
    until = clock.at(at) + timedelta(seconds=error.retry_after)
    for method in KINDS["ticket"].methods.values():
        Limit.objects.update_or_create(vendor="tracker", method=method, defaults={"blocked_until": until})


def _caught_up(
    tracker: Tracker, place: str, found: Sequence[TicketStatus], *, refused: list[TicketStatus]
) -> Iterator[TicketStatus]:
    """Compare tickets one after the other, up to the first that must wait for an edit of ours under way.

    A ticket that seems changed is read once more, because the list may be older than what we recorded since. A ticket
    that the tracker refuses to show is added to ``refused``, and the ones after it proceed: the refusal may be
    permanent.
    """
    ours = {one.ref: one for one in Ticket.objects.filter(place=place, ref__in=[one.ref for one in found])}
    for one in found:
        try:
            if one.ref in ours and not _is_level(tracker, ours[one.ref], one):
                return
        except VendorError as error:
            if error.retryable:
                raise
            log.warning("could not look at a ticket that was changed: %s", error)
            refused.append(one)
        yield one


def _is_level(tracker: Tracker, ticket: Ticket, found: TicketStatus) -> bool:
    before = _resource(ticket)
    if before is None or not news.moved(found, before.external["shown"]):
        return True
    now = _shown(tracker, ticket, before)
    return now is None or _compared(tracker, ticket, before, now)


def _shown(tracker: Tracker, ticket: Ticket, before: Resource) -> TicketStatus | None:
    """Read a ticket; None if it was deleted or moved elsewhere, which changes nothing here."""
    try:
        return tracker.look_at_ticket(ticket.ref, private=bool(before.spec.get("private")))
    except VendorError as error:
        if error.code != MOVED:
            raise
        return None


def _compared(tracker: Tracker, ticket: Ticket, before: Resource, found: TicketStatus) -> bool:
    """Take what changed in the ticket since both sides agreed; return False if an edit of ours must go first.

    ``before`` was read before the ticket: if anything was recorded since, what was read may be old.
    """
    changes = news.moved(found, before.external["shown"])
    if not changes or before.spec.get("withdrawn"):
        return True
    with transaction.atomic():
        incident = rules.held(Incident(pk=ticket.incident_id), by=None)
        now = _resource(ticket)
        if now is None or (now.spec, now.external) != (before.spec, before.external) or _has_pending(incident, ticket):
            return False
        merged = merging.merge(now.spec, found.fields, sent=now.spec, moved=changes, ours_is_newer=False)
        take = news.known(merged.take, tracker)
        external = now.external | {"shown": news.shown(found.fields)}
        Resource.objects.filter(pk=now.pk).update(spec={**now.spec, **take}, external=external)
        if take:
            news.take(incident, key=ticket.key, changes=take, tracker=tracker, at=found.at)
    return True


def _resource(ticket: Ticket) -> Resource | None:
    return Resource.objects.filter(incident=ticket.incident_id, key=ticket.key, state=THERE).first()


def _has_pending(incident: Incident, ticket: Ticket) -> bool:
    """Return whether an edit of ours is not in the ticket yet: its effect reads the ticket first, and decides."""
    if not Planned.objects.filter(incident=incident, revision=incident.revision).exists():
        return True
    states = [Effect.State.WAITING, Effect.State.RUNNING]
    return Effect.objects.filter(incident=incident, thing=ticket.key, state__in=states).exists()
