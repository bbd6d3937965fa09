"""Poll the pager for open incidents that no webhook reported, so that a rule can declare them.

A webhook may never arrive: PagerDuty disables a subscription after failures, or the installation cannot be reached from
outside. One list request a minute, and none while no rule is enabled.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from incidents.claiming.shared_clock import clock
from workflows import ports
from workflows.alerts import intake, matching, storms
from workflows.effects import restoring
from workflows.models import Alert, DeclareRule, Page
from workflows.oncall.pager_events import TRIGGERED, PagerEvent, PagerIncident, Who, latest
from workflows.pager_port import OpenIncident
from workflows.paging import apply_page_event
from workflows.ports import VendorError

log = logging.getLogger(__name__)

GRACE: Final = timedelta(seconds=90)  # for the webhook to arrive, and for a page of ours to be recorded
LATELY: Final = timedelta(hours=24)
AT_ONCE: Final = 200


def look(*, at: datetime) -> int:
    """Take in what has been open for a while and is unknown here; return how many were placed in an incident."""
    pager, rules = ports.pager(), storms.rules()
    if pager is None or not rules:
        return 0
    now = clock.at(at)
    since = max(now - LATELY, min(rule.created_at for rule in rules))
    try:
        listed = pager.open_incidents(since=since)
    except VendorError as error:
        log.warning("could not list what is open in the pager: %s", error)
        return 0
    placed = 0
    for one, alert in list(_unheard(listed, rules, at=at))[:AT_ONCE]:
        log.warning("no webhook told of %s, which is open in the pager", one.id)
        first, later = _news(one) if alert is None or alert.ruled_at is None else _changed(one, alert)
        placed += apply_page_event.hear(first, at=at, later=later) == apply_page_event.Heard.ALERT
    return placed


def _unheard(
    listed: Sequence[OpenIncident], rules: Sequence[DeclareRule], *, at: datetime
) -> Iterator[tuple[OpenIncident, Alert | None]]:
    """Yield unknown incidents opened since their rule was made, but not in the time that a restore lost.

    The lost database declared incidents for those, and people respond to them there.
    """
    ids = [one.id for one in listed]
    alerts = {one.pager_id: one for one in Alert.objects.filter(pager_id__in=ids)}
    pages = {*Page.objects.filter(pager_id__in=ids).values_list("pager_id", flat=True)}
    lost = restoring.lost_since(at=at)
    back = restoring.put_back_at(lost)
    for one in sorted(listed, key=lambda one: one.opened_at):
        rule = matching.first(rules, one)
        is_lost = lost is not None and back is not None and lost - restoring.BEHIND <= one.opened_at <= back
        is_older = rule is not None and one.opened_at < rule.created_at
        is_known = one.id in pages or _is_known(alerts.get(one.id), one)
        if not is_known and one.opened_at <= clock.at(at) - GRACE and not is_lost and not is_older:
            yield one, alerts.get(one.id)


def _is_known(alert: Alert | None, one: OpenIncident) -> bool:
    """Return whether rules have already seen it with its current priority."""
    if alert is None:
        return False
    return alert.incident_id is not None or (alert.ruled_at is not None and alert.priority == one.priority)


def _news(one: OpenIncident) -> tuple[PagerEvent, list[PagerEvent]]:
    """Return the news that it was opened, and of its state since."""
    page = _as_told(one)
    first = PagerEvent(f"listed {one.id}", TRIGGERED, one.opened_at, page, "", "")
    if one.status == TRIGGERED:
        return first, []
    return first, [PagerEvent(f"listed {one.id}", one.status, latest(one.at), page, "", "", by=_who(one))]


def _changed(one: OpenIncident, alert: Alert) -> tuple[PagerEvent, list[PagerEvent]]:
    """Return the news of its new priority, dated after everything known about it."""
    at = max(latest(one.at), alert.status_at + timedelta(microseconds=1))
    page = replace(_as_told(one), status=one.status)
    return PagerEvent(f"listed {one.id}", intake.PRIORITY, at, page, "", "", by=_who(one)), []


def _who(one: OpenIncident) -> Who | None:
    return Who(one.by_id, one.by) if one.by_id else None


def _as_told(one: OpenIncident) -> PagerIncident:
    return PagerIncident(
        one.id,
        key=one.key,
        title=one.title,
        url=one.url,
        number=one.number,
        priority=one.priority,
        service_id=one.service_id,
        service=one.service,
        opened_at=one.opened_at,
    )
