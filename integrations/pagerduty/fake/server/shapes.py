"""Write the account's records as JSON, as PagerDuty does in answers and webhooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from integrations.pagerduty.fake.records import (
    Account,
    Alert,
    Incident,
    Json,
    Note,
    Policy,
    Responder,
    Service,
    Subscription,
    User,
)
from integrations.pagerduty.fake.times import iso, iso_or_none

if TYPE_CHECKING:
    from integrations.pagerduty.fake.state import AccountState

_PLACES: Final = {
    "user": "users",
    "team": "teams",
    "schedule": "schedules",
    "escalation_policy": "escalation_policies",
    "service": "services",
    "incident": "incidents",
    "priority": "priorities",
}
REDACTED: Final = "-- redacted --"


def of(state: AccountState) -> Shapes:
    """Return the shapes of an account in its current state."""
    return Shapes(state.account, state.base_url, state.now())


@dataclass(frozen=True, slots=True)
class Shapes:
    """Writes the records of one account."""

    account: Account
    base_url: str
    at: float

    def reference(self, kind: str, id: str, summary: str, *, type: str = "") -> Json:
        """Write a reference to a thing."""
        place = f"{_PLACES.get(kind, kind)}/{id}"
        return {
            "id": id,
            "type": type or f"{kind}_reference",
            "summary": summary,
            "self": f"{self.base_url}/{place}",
            "html_url": f"{self.base_url}/{place}",
        }

    def user_ref(self, id: str) -> Json:
        """Write a reference to a person."""
        return self.reference("user", id, self.account.users[id].name)

    def team_refs(self, ids: list[str]) -> list[Json]:
        """Write references to teams."""
        return [self.reference("team", id, self.account.teams[id].name) for id in ids]

    def policy_ref(self, id: str) -> Json:
        """Write a reference to an escalation policy."""
        return self.reference("escalation_policy", id, self.account.policies[id].name)

    def service_ref(self, id: str) -> Json:
        """Write a reference to a service."""
        return self.reference("service", id, self.account.services[id].name)

    def schedule_ref(self, id: str) -> Json:
        """Write a reference to a schedule, of either version."""
        schedule = self.account.schedules[id]
        found = self.reference("schedule", id, schedule.name)
        return (
            {**found, "type": "schedule_v3_reference", "self": f"{self.base_url}/v3/schedules/{id}"}
            if (schedule.v3)
            else found
        )

    def incident_ref(self, incident: Incident) -> Json:
        """Write a reference to an incident."""
        return self.reference("incident", incident.id, incident.title)

    def priority_ref(self, id: str) -> Json | None:
        """Write a reference to a priority, if there is one."""
        return self.reference("priority", id, self.account.priorities[id].name) if id else None

    def user(self, user: User, *, rules: bool = False) -> Json:
        """Write a person; with ``rules``, their notification rules in full instead of references to them."""
        return {
            **self.reference("user", user.id, user.name, type="user"),
            "name": user.name,
            "email": user.email,
            "time_zone": user.time_zone,
            "job_title": user.title,
            "role": user.role,
            "teams": self.team_refs(user.teams),
            "contact_methods": [self.reference("email_contact_method", f"{user.id}M", "Default")],
            "notification_rules": [self._rule(user, urgency, whole=rules) for urgency in user.notified_of],
            "invitation_sent": False,
        }

    def _rule(self, user: User, urgency: str, *, whole: bool) -> Json:
        kind, id, says = "assignment_notification_rule", f"{user.id}{urgency[0].upper()}", "0 minutes: channel Default"
        if not whole:
            return self.reference(kind, id, says)
        method = self.reference("email_contact_method", f"{user.id}M", "Default")
        about = {"start_delay_in_minutes": 0, "contact_method": method, "urgency": urgency}
        return {**self.reference(kind, id, says, type=kind), **about}

    def policy(self, policy: Policy) -> Json:
        """Write an escalation policy with its levels."""
        using = [s.id for s in self.account.services.values() if s.policy == policy.id]
        rules = [
            {
                "id": f"{policy.id}L{n}",
                "escalation_delay_in_minutes": level.delay_min,
                "targets": [self._target(id) for id in level.targets],
            }
            for n, level in enumerate(policy.levels, 1)
        ]
        return {
            **self.reference("escalation_policy", policy.id, policy.name, type="escalation_policy"),
            "name": policy.name,
            "description": policy.description,
            "num_loops": policy.loops,
            "on_call_handoff_notifications": "if_has_services",
            "escalation_rules": rules,
            "services": [self.service_ref(id) for id in using],
            "teams": self.team_refs(policy.teams),
        }

    def _target(self, id: str) -> Json:
        return self.schedule_ref(id) if id in self.account.schedules else self.user_ref(id)

    def service(self, service: Service, *, whole: bool) -> Json:
        """Write a service, with its integrations in full if asked."""
        return {
            **self.reference("service", service.id, service.name, type="service"),
            "name": service.name,
            "description": service.description,
            "status": service.status,
            "alert_creation": "create_alerts_and_incidents" if service.has_alerts else "create_incidents",
            "acknowledgement_timeout": service.acknowledgement_timeout,
            "auto_resolve_timeout": service.auto_resolve_timeout,
            "alert_grouping_parameters": {"type": service.grouping or None, "config": service.grouping_config or None},
            "escalation_policy": self.policy_ref(service.policy),
            "teams": self.team_refs(service.teams),
            "integrations": [self.integration(service, n, whole=whole) for n in range(len(service.integrations))],
        }

    def integration(self, service: Service, n: int, *, whole: bool = True) -> Json:
        """Write an integration of a service; only the full form contains its key."""
        found = service.integrations[n]
        place = f"{self.base_url}/services/{service.id}/integrations/{found.id}"
        brief = {"id": found.id, "type": f"{found.type}_reference", "summary": found.name, "self": place}
        if not whole:
            return {**brief, "html_url": place}
        about = {"name": found.name, "integration_key": found.key, "service": self.service_ref(service.id)}
        return {**brief, "type": found.type, "html_url": place, **about}

    def incident(self, incident: Incident) -> Json:
        """Write an incident as in answers to requests."""
        counts = {state: len([a for a in incident.alerts if a.status == state]) for state in ("triggered", "resolved")}
        return {
            **self._common(incident),
            "summary": f"[#{incident.number}] {incident.title}",
            "incident_number": incident.number,
            "description": incident.title,
            "updated_at": iso(incident.changed_at),
            "resolved_at": iso_or_none(incident.resolved_at),
            "alert_counts": {**counts, "all": len(incident.alerts)},
            "assignments": [
                {"at": iso(at), "assignee": self.user_ref(user)} for user, at in incident.assignees.items()
            ],
            "acknowledgements": [
                {"at": iso(at), "acknowledger": self.user_ref(user)} for user, at in incident.acknowledgers.items()
            ],
            "last_status_change_at": iso(incident.changed_at),
            "last_status_change_by": incident.changed_by,
            "body": {"type": "incident_body", "details": incident.details},
            "pending_actions": [],
            "responder_requests": self.requests(incident),
            "is_mergeable": incident.is_open,
        }

    def incident_told(self, incident: Incident) -> Json:
        """Write an incident as in webhooks."""
        return {
            **self._common(incident),
            "number": incident.number,
            "reopened_at": iso_or_none(incident.reopened_at),
            "assignees": [self.user_ref(user) for user in incident.assignees],
        }

    def _common(self, incident: Incident) -> Json:
        return {
            **self.reference("incident", incident.id, incident.title, type="incident"),
            "title": incident.title,
            "status": incident.status,
            # An incident with alerts has the alert's key: https://support.pagerduty.com/main/docs/alerts
            "incident_key": incident.key,
            "created_at": iso(incident.created_at),
            "urgency": incident.urgency,
            "service": self.service_ref(incident.service),
            "escalation_policy": self.policy_ref(incident.policy),
            "teams": self.team_refs(self.account.services[incident.service].teams),
            "priority": self.priority_ref(incident.priority),
            "conference_bridge": incident.bridge or None,
            "resolve_reason": self._reason(incident),
            "incident_type": {"name": incident.type},
        }

    def note(self, note: Note) -> Json:
        """Write a note as in answers to requests."""
        about = {"id": note.id, "content": note.text, "created_at": iso(note.at), "user": self.user_ref(note.user)}
        return {**about, "channel": {"summary": "The PagerDuty website or APIs", "type": "web"}}

    def about(self, incident: Incident, type: str, **fields: Any) -> Json:
        """Write the data of a webhook about a part of an incident: a note, an update or a responder."""
        return {"incident": self.incident_ref(incident), **fields, "type": type}

    def responder_told(self, incident: Incident, responder: Responder) -> Json:
        """Write a responder as in webhooks."""
        policy = self.policy_ref(responder.policy) if responder.policy else None
        fields = {"user": self.user_ref(responder.user), "escalation_policy": policy}
        return self.about(incident, "incident_responder", **fields, message=responder.message, state=responder.state)

    def requests(self, incident: Incident) -> list[Json]:
        """Write the requests for help of an incident."""
        return [self.request(incident, [responder]) for responder in incident.responders]

    def request(self, incident: Incident, responders: list[Responder]) -> Json:
        """Write one request for help: each target with the people it asked."""
        first = responders[0]
        targets: dict[str, Json] = {}
        for responder in responders:
            ref = self.policy_ref(responder.policy) if responder.policy else self.user_ref(responder.user)
            target = targets.setdefault(ref["id"], {**ref, "incident_responders": []})
            target["incident_responders"].append(self._responder(incident, responder))
        return {
            "incident": self.incident_ref(incident),
            "requester": self.user_ref(first.requester),
            "requested_at": iso(first.at),
            "message": first.message,
            "responder_request_targets": [{"responder_request_target": target} for target in targets.values()],
        }

    def _responder(self, incident: Incident, responder: Responder) -> Json:
        return {
            "state": responder.state,
            "user": self.user_ref(responder.user),
            "incident": self.incident_ref(incident),
            "updated_at": iso(responder.updated_at or responder.at),
            "message": responder.message,
            "requester": self.user_ref(responder.requester),
        }

    def _reason(self, incident: Incident) -> Json | None:
        if not incident.resolve_reason:
            return None
        into = self.account.incidents.get(incident.merged_into)
        return {"type": incident.resolve_reason} | ({"incident": self.incident_ref(into)} if into else {})

    def alert(self, incident: Incident, alert: Alert) -> Json:
        """Write an alert."""
        return {
            **self.reference("alert", alert.id, alert.summary, type="alert"),
            "created_at": iso(alert.created_at),
            "status": alert.status,
            "alert_key": alert.key,
            "severity": alert.severity,
            "service": self.service_ref(incident.service),
            "incident": self.incident_ref(incident),
            "suppressed": False,
            "integration": {"id": alert.integration, "type": "events_api_v2_inbound_integration_reference"},
            "body": {"type": "alert_body", "details": alert.details},
        }

    def subscription(self, found: Subscription, *, secret: bool = False) -> Json:
        """Write a subscription; its secret is included only when it is created."""
        headers = [{"name": name, "value": REDACTED} for name in found.custom_headers]
        method = {
            "id": f"{found.id}D",
            "type": "http_delivery_method",
            "url": found.url,
            "custom_headers": headers,
            "secret": found.secret if secret else None,
            "temporarily_disabled": found.disabled_until > self.at,
        }
        filter: Json = {"type": found.filter_type}
        return {
            "id": found.id,
            "type": "webhook_subscription",
            "active": found.active,
            "description": found.description,
            "events": list(found.events),
            "filter": filter | ({"id": found.filter_id} if found.filter_id else {}),
            "delivery_method": method,
        }
