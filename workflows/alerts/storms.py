"""Where an alert belongs: the open incident of its storm, a new one that its rule declares, or nowhere.

A storm is what one rule took of one service, each within the rule's window of another.
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
SERVICE_CHARS = 80  # of a service's name on an incident

# The incident to which the last of a rule's alerts of a service went within the window, locked as writing an entry
# locks it, so that it cannot end in the meantime. One that ended still takes what was opened before it ended and heard
# late. One that was cancelled as nothing also keeps the rest of the storm, for as long as the window is, lest it be
# declared over and over. What a rule for a private type takes stays out of public incidents, as when the rule was
# changed meanwhile. Written out because a storm asks it a thousand times.
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
    """Where an alert belongs; ``rule`` took it, if any, and ``declared`` the incident just now."""

    incident: Incident
    rule: DeclareRule | None
    declared: bool = False


class MayBeOver(Exception):
    """An incident would be declared for an alert that may be over by now: the pager is to be asked first."""


def find(alert: Alert, *, at: datetime, asks: bool = False) -> AlertDestination | None:
    """Return where an alert belongs, declared now if need be; None when no rule takes it and no storm is near.

    In the caller's transaction, in which the incident stays locked until the alert is written. Raises ``MayBeOver``
    in place of declaring one where it ``asks``.
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
    """Return the rules that are on, in their order; none that would declare an archived type."""
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
    """Return what the storm's incident was marked a duplicate of, while people respond to that."""
    around = (alert.at - _window(rule), alert.at + _window(rule))
    storm = Alert.objects.filter(rule=rule, service_id=alert.service_id, at__range=around)
    # What a rule for a private type takes stays out of public incidents.
    closed = Q(private=True) if rule.type.policy.private else Q()
    return _led_to(storm.order_by("-at"), closed)


def _led_to(newest_first: QuerySet[Alert], only: Q = ANY) -> Incident | None:
    """Return what people respond to in place of the incident of the last of some alerts that is a duplicate's."""
    last = newest_first.filter(incident__status=Status.DUPLICATE).select_related("incident").first()
    if last is None or last.incident is None:
        return None
    # That may be a duplicate itself by now, and so on: of all of them people respond to one at most.
    return _locked(Incident.objects.filter(only, pk__in=ending.originals(last.incident), active=True))


def _window(rule: DeclareRule) -> timedelta:
    return timedelta(minutes=rule.window_min)


def _locked(incidents: QuerySet[Incident]) -> Incident | None:
    return incidents.select_for_update(of=("self",), no_key=True).first()


def _beside(alert: Alert) -> Incident | None:
    """Return the open incident of a storm of the same service, for an alert that no rule takes: it may be related."""
    ruled = Alert.objects.filter(service_id=alert.service_id, rule__isnull=False).order_by("-at")
    active = _last_near(ruled.filter(incident__active=True), alert)
    if active is not None:
        return _locked(Incident.objects.filter(alerts=active, active=True))
    double = _last_near(ruled.filter(incident__status=Status.DUPLICATE), alert)
    return _led_to(ruled.filter(pk=double.pk)) if double is not None else None


def _last_near(newest_first: QuerySet[Alert], alert: Alert) -> Alert | None:
    """Return the last of some alerts that rules took, where this one is within that rule's window of it."""
    last = newest_first.select_related("rule").first()
    is_near = last is not None and last.rule is not None and abs(alert.at - last.at) <= _window(last.rule)
    return last if is_near else None


def _declared(rule: DeclareRule, alert: Alert, *, at: datetime) -> Incident:
    services = [alert.service[:SERVICE_CHARS]]
    return lifecycle.declare(alert.title, by=None, at=at, source=Source.SYSTEM, type=rule.type, services=services)
