"""Handle incidents that the pager opened: a rule declares one here, or they join one as alerts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from incidents import timeline
from incidents.audited import copies
from incidents.claiming.shared_clock import clock
from incidents.column_names import column_names
from incidents.models import Incident
from workflows.alerts import alert_words, merged, storms
from workflows.models import Alert
from workflows.oncall.pager_events import RANK, RESOLVED, TRIGGERED, PagerEvent, PagerIncident
from workflows.pager_port import MergedInto

PRIORITY = "priority"
OPENS = frozenset({TRIGGERED, "reopened", "moved", PRIORITY})  # the kinds of news that make a rule consider the alert
COUNTED = frozenset({10, 100, 1_000, 10_000})
SEEN_ONE_BY_ONE = 100  # beyond this many alerts, open pages see the next one when they poll
LATE = timedelta(minutes=2)  # older news may be about an alert that is over; the news of that may still be on its way
KEPT = timedelta(days=31)  # how long alerts without an incident are kept

# Written as SQL because a storm runs each of these a thousand times.
NOTE = f"""
    INSERT INTO workflows_alert (pager_id, number, title, service_id, service, priority, url, status, status_at,
                                 status_by, at)
    VALUES (%(pager_id)s, %(number)s, %(title)s, %(service_id)s, %(service)s, %(priority)s, %(url)s, %(status)s,
            %(status_at)s, %(status_by)s, %(at)s)
    ON CONFLICT (pager_id) DO UPDATE SET pager_id = excluded.pager_id
 RETURNING {column_names(Alert)}
"""  # noqa: S608 (put together of constants)
JOIN = """
    UPDATE workflows_alert SET incident_id = %s, rule_id = %s, joined_at = %s, at = %s, ruled_at = %s WHERE id = %s
 RETURNING 1 + (SELECT count(*) FROM workflows_alert others WHERE others.incident_id = %s)
"""


def hear(news: PagerEvent, *, at: datetime, later: Sequence[PagerEvent] = (), asks: bool = False) -> bool:
    """Apply the pager's news about an incident that is not one of our pages; return whether it concerns one here.

    One transaction. News that is repeated or late changes nothing. An unknown alert is recorded; if it has just been
    triggered, it joins the incident of its storm or a rule declares one, unless ``later`` news says that it is over.
    With ``asks``, raises ``MayBeOver`` instead of declaring an incident for old news.
    """
    with transaction.atomic(savepoint=False):
        alert = _held(news)
        was = alert.status
        moved = _follow(alert, news)
        if alert.incident is not None:
            if moved:
                merged.bring_along(alert, alert.incident, at=at)
                timeline.nudge_readers(alert.incident.pk)
            if alert.status == RESOLVED != was:
                _ask_if_over(alert, alert.incident, at=at)
        elif news.kind in OPENS:
            for one in later:
                if one.status:
                    _follow(alert, one)
            if alert.status != RESOLVED:
                _place(alert, news, at=at, asks=asks and clock.at(at) - news.at > LATE)
        return alert.incident is not None


def take_over(incident: Incident, news: PagerEvent, *, at: datetime) -> None:
    """Attach to an incident the alert that one of its pages was merged into, unless that alert belongs to an incident.

    Runs in the caller's transaction, which holds the incident.
    """
    if news.into is not None and incident.is_active and merged.is_an_alert(news.into):
        merged.join(_noted(_first_of(news, news.into)), incident, at=at)


def forget(*, at: datetime) -> int:
    """Delete alerts without an incident that are a month old; return how many there were."""
    return Alert.objects.filter(incident=None, at__lt=clock.at(at) - KEPT).delete()[0]


def _held(news: PagerEvent) -> Alert:
    """Return our row for the pager's incident, locked; also lock the one it was merged into, in the order of ids."""
    told = {news.page.id: news}
    if news.into is not None and news.into.id != news.page.id and merged.is_an_alert(news.into):
        told[news.into.id] = _first_of(news, news.into)
    return {id: _noted(told[id]) for id in sorted(told)}[news.page.id]


def _first_of(news: PagerEvent, into: MergedInto) -> PagerEvent:
    """Return what the news says about the incident that another was merged into: that it is open, and no more."""
    page = PagerIncident(into.id, title=into.title, url=into.url, number=into.number)
    return replace(news, page=page, kind=TRIGGERED, by=None, into=None)


def _noted(news: PagerEvent) -> Alert:
    """Return our row for the pager's incident, locked for this transaction; create it if it is new."""
    title = f"An alert of {_line(news.page.service, chars=200) or 'the pager'}"
    new = {"title": title, "number": None, "service_id": "", "service": "", "priority": "", "url": ""} | _said(news)
    new |= {
        "pager_id": news.page.id[:64],
        "status": _status(news) or TRIGGERED,
        "status_at": news.at,
        "status_by": _who(news),
        "at": news.page.opened_at or news.at,
    }
    return Alert.objects.raw(NOTE, new)[0]


def _said(news: PagerEvent) -> dict[str, Any]:
    """Return the fields that the news gives, trimmed to what we store; fields that it leaves out are absent."""
    page = news.page
    said = {
        "number": page.number,
        "title": _line(page.title, chars=500),
        "service_id": page.service_id[:64],
        "service": _line(page.service, chars=200),
        "priority": _line(page.priority, chars=40),
        "url": page.url if page.url.startswith("https://") and len(page.url) <= 500 else "",
    }
    return {name: value for name, value in said.items() if value}


def _follow(alert: Alert, news: PagerEvent) -> bool:
    """Apply the news unless it is older than what is known; return whether anything changed.

    Its time is stored even if nothing changed, because news about an earlier state may still arrive.
    """
    changed = {name: value for name, value in _new_in(alert, news).items() if getattr(alert, name) != value}
    if not (changed or (_status(news) and news.at > alert.status_at)):
        return False
    if alert.incident_id is not None:
        timeline.hold(alert.incident_id)  # otherwise the last two alerts to end could each see the other as still open
    written = changed | {"status_at": max(alert.status_at, news.at)}
    written |= {"status_by": _who(news)} if "status" in changed else {}
    for name, value in written.items():
        setattr(alert, name, value)
    alert.save(update_fields=list(written))
    return bool(changed)


def _new_in(alert: Alert, news: PagerEvent) -> dict[str, Any]:
    status, said = _status(news) or alert.status, _said(news)
    if (news.at, RANK[status]) < (alert.status_at, RANK[alert.status]):
        return {} if alert.service_id else said  # the first news of this alert may have left fields out
    if alert.title == copies.STANDS:
        said.pop("title", None)  # it was redacted, and the pager repeats it with every event
    none = {"priority": ""} if news.kind == PRIORITY or news.page.status else {}  # all of it was told: there is none
    into = {"merged_into": news.into.id[:64] if news.into and status == RESOLVED else ""} if _status(news) else {}
    return none | said | into | {"status": status}


def _ask_if_over(alert: Alert, incident: Incident, *, at: datetime) -> None:
    """Ask in the channel whether the incident is over when the last of its alerts has ended."""
    every = Alert.objects.filter(incident=incident)
    if not incident.is_active or every.exclude(status=RESOLVED).exists():
        return
    goes_on = merged.goes_on(incident)
    if goes_on is not merged.GoesOn.HERE:
        elsewhere = goes_on is merged.GoesOn.ELSEWHERE
        alert_words.ask(incident, count=every.count(), elsewhere=elsewhere, ended_at=alert.status_at, at=at)


def _place(alert: Alert, news: PagerEvent, *, at: datetime, asks: bool) -> None:
    """Assign an alert to its incident. Write an entry for the first one and at every power of ten."""
    alert.at = news.page.opened_at or news.at if news.kind == TRIGGERED else news.at
    place = storms.find(alert, at=at, asks=asks)
    alert.ruled_at = clock.at(at)
    if place is None:
        alert.save(update_fields=["ruled_at"])
        return
    alert.incident, alert.rule, alert.joined_at = place.incident, place.rule, at
    count = _joined(alert)
    if count == 1:
        alert_words.first(place.incident, alert, declared=place.declared, at=at)
    elif count in COUNTED:
        alert_words.count(place.incident, alert, count=count, at=at)
    elif count < SEEN_ONE_BY_ONE:
        timeline.nudge_readers(place.incident.pk)


def _joined(alert: Alert) -> int:
    """Record an alert's incident; return how many alerts it has now. The caller holds the incident."""
    with connection.cursor() as cursor:
        given = [alert.incident_id, alert.rule_id, alert.joined_at, alert.at]
        given += [alert.ruled_at, alert.pk, alert.incident_id]
        cursor.execute(JOIN, given)
        row = cursor.fetchone()
    assert row is not None, "it is held"
    count: int = row[0]
    return count


def _status(news: PagerEvent) -> str:
    return news.status or news.page.status


def _who(news: PagerEvent) -> str:
    return _line(news.by.name, chars=200) if news.by else ""


def _line(text: str, *, chars: int) -> str:
    """Return text as one storable line; PostgreSQL rejects NUL, and other control characters confuse readers."""
    kept = "".join(" " if one.isspace() else one for one in text if one.isspace() or _shown(one))
    return " ".join(kept.split())[:chars].rstrip()


def _shown(one: str) -> bool:
    return unicodedata.category(one) not in {"Cc", "Cs"}
