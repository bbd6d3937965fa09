"""Decide where an alert belongs: in the open incident of its storm, in a new one that its rule declares, or nowhere.

A storm is the alerts that one rule took from one service, each within the rule's window of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.db.models import Q, QuerySet

from incidents import lifecycle
from incidents.lifecycle import ending
from incidents.models import Incident, Source, Status
from workflows.alerts import matching
from workflows.models import Alert, DeclareRule

ANY: Final = Q()
SERVICE_CHARS = 80  # how much of a service's name an incident's title shows

# The incident that the rule's last alert from this service joined within the window. It is locked as writing an entry
# locks it, so that it cannot end meanwhile. An ended incident still takes alerts that were opened before it ended and
# arrived late. An incident that was cancelled as no incident also keeps the rest of its storm for the length of the
# window; otherwise it would be declared over and over. What a rule for a private type takes stays out of public
# incidents, for example after the rule was changed. Written as SQL because a storm runs it a thousand times.
STORM = """
    SELECT incident.id
      FROM workflows_alert alert
      JOIN incidents_incident incident ON incident.id = alert.incident_id
     WHERE alert.rule_id = %(rule)s AND alert.service_id = %(service)s AND alert.at BETWEEN %(since)s AND %(until)s
       AND (incident.active OR incident.ended_at >= %(at)s
            OR incident.status = 'cancelled' AND incident.ended_at >= %(since)s)
       AND (incident.private OR NOT EXISTS (
            SELECT FROM workflows_declarerule rule
              JOIN incidents_incidenttype type ON type.id = rule.type_id
              JOIN incidents_policyversion policy ON policy.id = type.current_id
             WHERE rule.id = %(rule)s AND (policy.body ->> 'private')::boolean))
  ORDER BY alert.at DESC
     LIMIT 1
       FOR NO KEY UPDATE OF incident
"""


@dataclass(frozen=True, slots=True)
class AlertDestination:
    """Where an alert belongs. ``rule`` took it, if any; ``declared`` says that the incident is new."""

    incident: Incident
    rule: DeclareRule | None
    declared: bool = False


class MayBeOver(Exception):
    """The alert that would declare an incident may be over by now; ask the pager first."""


def find(alert: Alert, *, at: datetime, asks: bool = False) -> AlertDestination | None:
    """Return where an alert belongs, declaring an incident if needed; None if no rule takes it and no storm is near.

    Runs in the caller's transaction, in which the incident stays locked until the alert is written. With ``asks``,
    raises ``MayBeOver`` instead of declaring an incident.
    """
    rule = matching.first(rules(), alert)
    if rule is None:
        beside = _beside(alert)
        return AlertDestination(beside, None) if beside else None
    _hold(rule, alert.service_id)
    joined = _joined(rule, alert) or _original(rule, alert)
    if joined is None and asks:
        raise MayBeOver
    return (
        AlertDestination(joined, rule)
        if joined
        else AlertDestination(_declared(rule, alert, at=at), rule, declared=True)
    )


def rules() -> list[DeclareRule]:
    """Return the enabled rules in their order, without those that would declare an archived type."""
    return list(DeclareRule.objects.filter(active=True, type__archived_at=None))


def _hold(rule: DeclareRule, service_id: str) -> None:
    """Let one transaction at a time look for a storm and declare it, until it commits."""
    with connection.cursor() as cursor:
        key = f"{rule.pk}:{service_id}"
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('workflows.alerts.storms'), hashtext(%s))", [key])


def _joined(rule: DeclareRule, alert: Alert) -> Incident | None:
    """Return the incident of the storm that an alert is part of."""
    since, until = alert.at - _window(rule), alert.at + _window(rule)
    given = {"rule": rule.pk, "service": alert.service_id, "at": alert.at, "since": since, "until": until}
    return next(iter(Incident.objects.raw(STORM, given)), None)


def _original(rule: DeclareRule, alert: Alert) -> Incident | None:
    """Return the incident that the storm's incident is a duplicate of, if it is active."""
    around = (alert.at - _window(rule), alert.at + _window(rule))
    storm = Alert.objects.filter(rule=rule, service_id=alert.service_id, at__range=around)
    # What a rule for a private type takes stays out of public incidents.
    closed = Q(private=True) if rule.type.policy.private else Q()
    return _led_to(storm.order_by("-at"), closed)


def _led_to(newest_first: QuerySet[Alert], only: Q = ANY) -> Incident | None:
    """Follow the duplicate of the last alert that belongs to one; return the active incident it leads to."""
    last = newest_first.filter(incident__status=Status.DUPLICATE).select_related("incident").first()
    if last is None or last.incident is None:
        return None
    # That one may be a duplicate too, and so on; at most one incident of the chain is active.
    return _locked(Incident.objects.filter(only, pk__in=ending.originals(last.incident), active=True))


def _window(rule: DeclareRule) -> timedelta:
    return timedelta(minutes=rule.window_min)


def _locked(incidents: QuerySet[Incident]) -> Incident | None:
    return incidents.select_for_update(of=("self",), no_key=True).first()


def _beside(alert: Alert) -> Incident | None:
    """Return the open incident of a storm of the same service, for an alert that no rule takes; it may be related."""
    ruled = Alert.objects.filter(service_id=alert.service_id, rule__isnull=False).order_by("-at")
    active = _last_near(ruled.filter(incident__active=True), alert)
    if active is not None:
        return _locked(Incident.objects.filter(alerts=active, active=True))
    double = _last_near(ruled.filter(incident__status=Status.DUPLICATE), alert)
    return _led_to(ruled.filter(pk=double.pk)) if double is not None else None


def _last_near(newest_first: QuerySet[Alert], alert: Alert) -> Alert | None:
    """Return the last of these alerts if this one is within the window of the rule that took it."""
    last = newest_first.select_related("rule").first()
    is_near = last is not None and last.rule is not None and abs(alert.at - last.at) <= _window(last.rule)
    return last if is_near else None


def _declared(rule: DeclareRule, alert: Alert, *, at: datetime) -> Incident:
    services = [alert.service[:SERVICE_CHARS]]
    return lifecycle.declare(alert.title, by=None, at=at, source=Source.SYSTEM, type=rule.type, services=services)
