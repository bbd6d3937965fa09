"""Hear of incidents that the pager opened, not us: they declare one here by a rule, or join one as its alerts."""

from __future__ import annotations

import unicodedata
from datetime import datetime, timedelta

from django.db import connection, transaction

from incidents import timeline
from incidents.models import Incident
from workflows.models import Alert
from workflows.oncall import alert_words, storms
from workflows.oncall.news import RANK, RESOLVED, TRIGGERED, News

PRIORITY = "priority"
OPENS = frozenset({TRIGGERED, "reopened", PRIORITY})  # the kinds of news after which a rule may take it
COUNTED = frozenset({10, 100, 1_000, 10_000})
SEEN_ONE_BY_ONE = 100  # of more than so many, open pages see the next when they look again by themselves
KEPT = timedelta(days=31)  # those that concern no incident

# Written out because a storm does each a thousand times.
NOTE = """
    INSERT INTO workflows_alert (pager_id, number, title, service_id, service, priority, url, status, status_at,
                                 status_by, at)
    VALUES (%(pager_id)s, %(number)s, %(title)s, %(service_id)s, %(service)s, %(priority)s, %(url)s, %(status)s,
            %(status_at)s, %(status_by)s, %(at)s)
    ON CONFLICT (pager_id) DO UPDATE SET pager_id = excluded.pager_id
 RETURNING *
"""
JOIN = """
    UPDATE workflows_alert SET incident_id = %s, rule_id = %s, joined_at = %s, at = %s WHERE id = %s
 RETURNING 1 + (SELECT count(*) FROM workflows_alert others WHERE others.incident_id = %s)
"""


def hear(news: News, *, at: datetime) -> bool:
    """Take what the pager says of an incident that is no page of ours; tell whether one here is concerned.

    One transaction. What is heard twice or late changes nothing. What was never heard of is written down, and when it
    has just begun it joins the incident of its storm, or a rule declares one.
    """
    with transaction.atomic(savepoint=False):
        alert = _noted(news)
        moved = _follow(alert, news)
        if alert.incident is not None:
            if moved:
                _tell_if_over(alert, alert.incident, at=at)
        elif news.kind in OPENS and alert.status != RESOLVED:
            _place(alert, news, at=at)
        return alert.incident is not None


def forget(*, at: datetime) -> int:
    """Delete what concerns no incident and is a month old; return how many there were."""
    return Alert.objects.filter(incident=None, at__lt=at - KEPT).delete()[0]


def _noted(news: News) -> Alert:
    """Return the pager's incident as we know it, held for this transaction; written down when it is new."""
    page = news.page
    new = {
        "pager_id": page.id[:64],
        "number": page.number,
        "title": _line(page.title, chars=500) or f"An alert of {_line(page.service, chars=200) or 'the pager'}",
        "service_id": page.service_id[:64],
        "service": _line(page.service, chars=200),
        "priority": _line(page.priority, chars=40),
        "url": page.url if page.url.startswith("https://") and len(page.url) <= 500 else "",
        "status": _status(news) or TRIGGERED,
        "status_at": news.at,
        "status_by": _who(news),
        "at": page.opened_at or news.at,
    }
    return Alert.objects.raw(NOTE, new)[0]


def _follow(alert: Alert, news: News) -> bool:
    """Take over how it stands, unless that is older than what is known; tell whether that changed."""
    status = _status(news) or alert.status
    priority = _line(news.page.priority, chars=40) or ("" if news.kind == PRIORITY else alert.priority)
    older = (news.at, RANK[status]) < (alert.status_at, RANK[alert.status])
    if older or (status, priority) == (alert.status, alert.priority):
        return False
    if alert.incident_id is not None:
        timeline.hold(alert.incident_id)  # the last two that end must not each take the other for open
    alert.status, alert.priority, alert.status_at, alert.status_by = status, priority, news.at, _who(news)
    alert.save(update_fields=["status", "priority", "status_at", "status_by"])
    return True


def _tell_if_over(alert: Alert, incident: Incident, *, at: datetime) -> None:
    """Ask people whether it is over when the last of its alerts has ended; let pages look again."""
    timeline.nudge_readers(incident.pk)
    every = Alert.objects.filter(incident=incident)
    if alert.status == RESOLVED and incident.is_active and not every.exclude(status=RESOLVED).exists():
        alert_words.ask(incident, count=every.count(), ended_at=alert.status_at, at=at)


def _place(alert: Alert, news: News, *, at: datetime) -> None:
    """Put an alert where it belongs, and say so there: of the first, and of every tenfold of it."""
    alert.at = news.page.opened_at or news.at if news.kind == TRIGGERED else news.at
    place = storms.find(alert, at=at)
    if place is None:
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
    """Write down where an alert belongs; return how many its incident has by now. The caller holds the incident."""
    with connection.cursor() as cursor:
        given = [alert.incident_id, alert.rule_id, alert.joined_at, alert.at, alert.pk, alert.incident_id]
        cursor.execute(JOIN, given)
        row = cursor.fetchone()
    assert row is not None, "it is held"
    count: int = row[0]
    return count


def _status(news: News) -> str:
    return news.status or news.page.status


def _who(news: News) -> str:
    return _line(news.by.name, chars=200) if news.by else ""


def _line(text: str, *, chars: int) -> str:
    """Return text as one line fit to keep; PostgreSQL refuses NUL, and other control characters confuse readers."""
    kept = "".join(" " if one.isspace() else one for one in text if one.isspace() or _shown(one))
    return " ".join(kept.split())[:chars].rstrip()


def _shown(one: str) -> bool:
    return unicodedata.category(one) not in {"Cc", "Cs"}
