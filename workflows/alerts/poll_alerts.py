"""Poll the pager for the alerts of active incidents, in case a webhook was lost.

Without it, no one would be asked whether the incident is over. Open alerts are polled every minute. Ended ones, which
someone may have reopened, take turns.
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

EVERY: Final = timedelta(seconds=55)  # a little less than a minute, so that no alert is skipped every other time
AT_ONCE: Final = 60  # calls a minute, of the 960 that PagerDuty grants a key; pages have a budget of their own
ENDED_AT_ONCE: Final = 10  # few of them are ever reopened
SHOWN_WITHIN: Final = timedelta(seconds=10)


def look_again(*, at: datetime) -> int:
    """Poll alerts that we have not heard of for a minute; return how many had changed."""
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
    """Return the polled state as news newer than all that was known when we asked, even within the same second.

    The pager may send a change before its API shows it, so anything heard just now is left to the next poll.
    """
    if clock.at(at) - alert.status_at < SHOWN_WITHIN:
        return news
    return replace(news, at=max(news.at, alert.status_at + timedelta(microseconds=1)))


def as_news(id: str, found: PageStatus | None) -> PagerEvent | None:
    """Return the polled state of an alert as news; None if the pager does not say."""
    if found is None or found.at is None:
        return None
    by = Who(found.by_id, found.by) if found.by_id else None
    return PagerEvent(f"look {id}", found.status, latest(found.at), PagerIncident(id), "", "", by=by, into=found.into)


def open_ones(*, at: datetime) -> QuerySet[Alert]:
    """Return alerts that we believe are open and have not polled lately, oldest poll first."""
    return _not_lately(at=at).exclude(status=RESOLVED)


def ended(*, at: datetime) -> QuerySet[Alert]:
    """Return alerts that we believe have ended and have not polled lately, oldest poll first."""
    return _not_lately(at=at).filter(status=RESOLVED)


def _take(alerts: QuerySet[Alert], *, at_once: int, at: datetime) -> list[Alert]:
    return leases.take_turns(alerts, at_once=at_once, looked_at=clock.at(at))


def _not_lately(*, at: datetime) -> QuerySet[Alert]:
    of_active = Alert.objects.filter(incident__in=Incident.objects.filter(active=True))
    return not_looked_at(of_active, known_since="joined_at", at=clock.at(at), within=EVERY)
