"""The Events API v2: machines report events, events become alerts, and alerts become incidents.

https://developer.pagerduty.com/docs/send-alert-event. An event joins the open alert with its key, or the open incident
on the same service whose `incident_key` it is; otherwise it opens both. On a service that groups alerts, a new alert
joins an open incident. An event is accepted before it is processed, so PagerDuty also accepts one that can page no one,
or one for a service that is disabled or in a maintenance window
(https://support.pagerduty.com/main/docs/maintenance-windows).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from integrations.pagerduty.fake.server.answers import ErrorAnswer
from integrations.pagerduty.protocol.rules import EVENT

from . import changes
from .records import SWITCHED_OFF, Alert, Incident, Integration, Json, Service
from .state import AccountState

ACTIONS: Final = ("trigger", "acknowledge", "resolve")
SEVERITIES: Final = ("critical", "error", "warning", "info")
KEY_LENGTH: Final = 255
SUMMARY_LENGTH: Final = 1024
SIZE: Final = 512 * 1024


class NotAnEvent(Exception):
    """An event that is refused, and the reason."""


def problems(event: Json) -> list[str]:
    """List what is wrong with an event."""
    found = EVENT.problems(event)
    action, payload = event.get("event_action"), event.get("payload") or {}
    if action not in ACTIONS:
        found.append(f"event_action must be one of {', '.join(ACTIONS)}")
    if action == "trigger" and not payload:
        found.append("payload is required to trigger")
    if action in ("acknowledge", "resolve") and not event.get("dedup_key"):
        found.append("dedup_key is required")
    if payload and payload.get("severity") not in SEVERITIES:
        found.append(f"payload.severity must be one of {', '.join(SEVERITIES)}")
    if len(str(event.get("dedup_key") or "")) > KEY_LENGTH or len(str(payload.get("summary", ""))) > SUMMARY_LENGTH:
        found.append("dedup_key or payload.summary is too long")
    return found


def take(state: AccountState, event: Json) -> str:
    """Process an event and return its key. Raises NotAnEvent for a routing key that no integration has."""
    service, integration = _integration(state, str(event["routing_key"]))
    event["dedup_key"] = key = str(event.get("dedup_key") or state.next_id("D").lower())
    agent = {"id": integration.id, "type": "events_api_v2_inbound_integration_reference", "summary": integration.name}
    if service.status in SWITCHED_OFF:
        return key
    incident = _known(state, service, key)
    if event["event_action"] != "trigger":
        _follow(state, incident, event, agent)
    elif incident is not None:
        changes.note_entry(state, incident, "trigger_log_entry", agent)
    else:
        _open(state, service, integration, event, agent)
    return key


def _integration(state: AccountState, key: str) -> tuple[Service, Integration]:
    for service in state.account.services.values():
        for integration in service.integrations:
            if integration.key == key:
                return service, integration
    raise NotAnEvent("Invalid routing key")


def _known(state: AccountState, service: Service, key: str) -> Incident | None:
    for incident in state.account.incidents.values():
        if incident.service == service.id and incident.is_open and _has(incident, key):
            return incident
    return None


def _has(incident: Incident, key: str) -> bool:
    return incident.key == key or any(a.key == key and a.status != "resolved" for a in incident.alerts)


def _open(state: AccountState, service: Service, integration: Integration, event: Json, agent: Json) -> None:
    payload: Json = event["payload"]
    alert = Alert(
        state.next_id("A"),
        key=str(event["dedup_key"]),
        summary=str(payload["summary"]),
        integration=integration.id,
        severity=str(payload["severity"]),
        created_at=state.now(),
        source=str(payload["source"]),
        details=payload.get("custom_details"),
    )
    urgency = "high" if payload["severity"] in ("critical", "error") else "low"
    about: Json = {"agent": agent, "urgency": urgency}
    with suppress(ErrorAnswer):
        if service.has_alerts:
            report(state, service, alert, **about)
        else:
            title, policy = alert.summary, service.policy
            changes.open_incident(state, title=title, service=service.id, policy=policy, key=alert.key, **about)


def report(state: AccountState, service: Service, alert: Alert, *, agent: Json, **about: Any) -> Incident:
    """Add an alert to the open incident its service groups it with, which notifies no one again, or open a new one.

    Raises ErrorAnswer if a new incident would notify no one.
    """
    incident = _grouped(state, service, alert)
    if incident is not None:
        changes.note_entry(state, incident, "trigger_log_entry", agent)
    else:
        incident = changes.open_incident(
            state, agent=agent, title=alert.summary, service=service.id, policy=service.policy, **about
        )
    incident.alerts.append(alert)
    return incident


def _grouped(state: AccountState, service: Service, alert: Alert) -> Incident | None:
    """Return the newest open incident that the service would group this alert into.

    https://support.pagerduty.com/main/docs/alert-grouping
    """
    found = [i for i in state.account.incidents.values() if i.service == service.id and i.is_open and i.alerts]
    together = GROUPINGS.get(service.grouping)
    fitting = [i for i in found if together is not None and together(state, service, i, alert)]
    return max(fitting, key=lambda incident: incident.number, default=None)


def _by_time(state: AccountState, service: Service, incident: Incident, alert: Alert) -> bool:
    minutes = int(service.grouping_config.get("timeout") or 0)
    return not minutes or state.now() - incident.created_at <= minutes * 60


def _by_content(state: AccountState, service: Service, incident: Incident, alert: Alert) -> bool:
    first, fields = incident.alerts[0], service.grouping_config.get("fields") or ["source"]
    return all(getattr(first, name, None) == getattr(alert, name, None) for name in fields)


GROUPINGS: Final[dict[str, Callable[[AccountState, Service, Incident, Alert], bool]]] = {
    "time": _by_time,
    "intelligent": lambda *_: True,
    "content_based": _by_content,
}


def _follow(state: AccountState, incident: Incident | None, event: Json, agent: Json) -> None:
    if incident is None:
        return
    if event["event_action"] == "acknowledge":
        if incident.status == "triggered":
            changes.acknowledge(state, incident, agent=agent)
        return
    for alert in incident.alerts:
        if alert.key == event["dedup_key"]:
            alert.status = "resolved"
    if all(alert.status == "resolved" for alert in incident.alerts):
        changes.resolve(state, incident, agent=agent)
