"""Ask the pager how alerts of active incidents stand, for news that never came: nobody would ask whether it is over.

Open ones are looked at each minute. Ended ones that somebody may have reopened have their turn after each other.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet

from incidents.claiming import leases
from incidents.claiming.recent import not_looked_at
from incidents.claiming.shared_clock import clock
from incidents.models import Incident
from workflows import ports
from workflows.alerts import intake
from workflows.models import Alert
from workflows.oncall.pager_events import RESOLVED, PagerEvent, PagerIncident, Who, latest
from workflows.pager_port import PageStatus
from workflows.ports import VendorError

log = logging.getLogger(__name__)

EVERY: Final = timedelta(seconds=55)  # a little less than a minute, so that none is left out every other time
AT_ONCE: Final = 60  # calls a minute of the 960 that PagerDuty grants a key; pages have their own
ENDED_AT_ONCE: Final = 10  # hardly any of them was reopened
SHOWN_WITHIN: Final = timedelta(seconds=10)


def look_again(*, at: datetime) -> int:
    """Look at alerts not heard of for a minute; return how many had changed."""
    pager = ports.pager()
    if pager is None:
        return 0
    moved = 0
    for alert in _take(open_ones(at=at), at_once=AT_ONCE, at=at) + _take(ended(at=at), at_once=ENDED_AT_ONCE, at=at):
        try:
            found = pager.look(alert.pager_id)
        except VendorError as error:
            log.warning("could not check alert %s: %s", alert.pk, error)
            if error.retry_after is not None or error.retryable:
                break
            continue
        news = as_news(alert.pager_id, found)
        if news is not None and news.status != alert.status:
            moved += intake.hear(_newest(news, alert, at=at), at=at)
    return moved


def _newest(news: PagerEvent, alert: Alert, *, at: datetime) -> PagerEvent:
    """Return what was found as newer than all that was known by then, although it may have come about in its second.

    The pager may tell of a change before it shows it: what was heard just now is left to the next look.
    """
    if clock.at(at) - alert.status_at < SHOWN_WITHIN:
        return news
    return replace(news, at=max(news.at, alert.status_at + timedelta(microseconds=1)))


def as_news(id: str, found: PageStatus | None) -> PagerEvent | None:
    """Return how an alert was found to stand as news of it; None where the pager does not say."""
    if found is None or found.at is None:
        return None
    by = Who(found.by_id, found.by) if found.by_id else None
    return PagerEvent(f"look {id}", found.status, latest(found.at), PagerIncident(id), "", "", by=by, into=found.into)


def open_ones(*, at: datetime) -> QuerySet[Alert]:
    """Return alerts that are open as far as we know, not looked at lately, oldest look first."""
    return _not_lately(at=at).exclude(status=RESOLVED)


def ended(*, at: datetime) -> QuerySet[Alert]:
    """Return alerts that have ended as far as we know, not looked at lately, oldest look first."""
    return _not_lately(at=at).filter(status=RESOLVED)


def _take(alerts: QuerySet[Alert], *, at_once: int, at: datetime) -> list[Alert]:
    return leases.take_turns(alerts, at_once=at_once, looked_at=clock.at(at))


def _not_lately(*, at: datetime) -> QuerySet[Alert]:
    of_active = Alert.objects.filter(incident__in=Incident.objects.filter(active=True))
    return not_looked_at(of_active, known_since="joined_at", at=clock.at(at), within=EVERY)
