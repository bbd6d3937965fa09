"""Incidents: list, open, read, change."""

from __future__ import annotations

from typing import Any, Final

from integrations.pagerduty.fake import changes
from integrations.pagerduty.fake.records import DAY_S, SWITCHED_OFF, Incident, Json, Service
from integrations.pagerduty.fake.server import shapes
from integrations.pagerduty.fake.server.answers import ErrorAnswer
from integrations.pagerduty.fake.server.api_request import ApiRequest, found
from integrations.pagerduty.fake.state import AccountState

MONTH_S: Final = 30 * DAY_S
LONGEST_S: Final = 184 * DAY_S
KEY_TAKEN: Final = "Open incident with matching dedup key already exists on this service"


def _list(state: AccountState, asked: ApiRequest) -> Json:
    incidents = sorted(state.account.incidents.values(), key=lambda i: i.number)
    if asked.one("sort_by").endswith(":desc"):
        incidents.reverse()
    if asked.one("date_range") != "all":
        since, until = asked.window(since=state.now() - MONTH_S, until=state.now(), longest_s=LONGEST_S)
        incidents = [i for i in incidents if since <= i.created_at <= until]
    return asked.page("incidents", [i for i in incidents if _wanted(state, i, asked)], shapes.of(state).incident)


def _wanted(state: AccountState, incident: Incident, asked: ApiRequest) -> bool:
    asks: dict[str, set[str]] = {
        "statuses": {incident.status},
        "service_ids": {incident.service},
        "urgencies": {incident.urgency},
        "user_ids": set(incident.assignees),
        "team_ids": set(state.account.services[incident.service].teams),
    }
    key = asked.one("incident_key")
    return (not key or key in {incident.key, *(alert.key for alert in incident.alerts)}) and all(
        not asked.all(name) or values & set(asked.all(name)) for name, values in asks.items()
    )


def _get(state: AccountState, asked: ApiRequest) -> Json:
    return {"incident": shapes.of(state).incident(found(state.account.incidents, asked.at["id"]))}


def _create(state: AccountState, asked: ApiRequest) -> Json:
    about: Json = asked.body["incident"]
    service = _service(state, about["service"]["id"])
    policy, people = _assigned(state, about)
    key = about.get("incident_key") or None
    if not str(about["title"]).strip():
        raise ErrorAnswer(2001, "Title cannot be empty.")
    if key and taken(state, service.id, key):
        raise ErrorAnswer(2002, KEY_TAKEN)
    incident = changes.open_incident(
        state,
        agent=shapes.of(state).user_ref(asked.user.id),
        requester=asked.user.id,
        assignees=people,
        title=str(about["title"]),
        service=service.id,
        policy=policy or service.policy,
        key=key or state.next_id("K").lower(),
        urgency=_urgency(about),
        priority=_priority(state, about),
        type=_type(state, about),
        details=str((about.get("body") or {}).get("details") or ""),
        bridge=about.get("conference_bridge") or {},
    )
    return {"incident": shapes.of(state).incident(incident)}


def _service(state: AccountState, id: str) -> Service:
    """Return a service. A deleted one is refused with the code of a key that is taken, but with other words.

    A disabled service or one in a maintenance window is refused the same way: no incident is created on it, but the
    code is not documented. https://github.com/PagerDuty/pagerduty-api-python-client/issues/61
    https://support.pagerduty.com/docs/why-incidents-fail-to-trigger
    """
    if id not in state.account.services:
        raise ErrorAnswer(2002, "Service not found")
    service = state.account.services[id]
    if service.status in SWITCHED_OFF:
        raise ErrorAnswer(2001, f"Service is {service.status}")
    return service


def taken(state: AccountState, service: str, key: str) -> bool:
    """Return whether an open incident of a service, or an open alert of one, has this key."""
    return any(
        incident.key == key or any(a.key == key and a.status != "resolved" for a in incident.alerts)
        for incident in state.account.incidents.values()
        if incident.service == service and incident.is_open
    )


def _assigned(state: AccountState, about: Json) -> tuple[str, list[str] | None]:
    policy, assignments = about.get("escalation_policy"), about.get("assignments")
    if policy and assignments:
        raise ErrorAnswer(2001, "Only one of escalation_policy and assignments is allowed")
    people = [_assignee(state, one["assignee"]) for one in assignments or ()]
    if policy:
        found(state.account.policies, policy["id"], code=1014)
    return (policy or {}).get("id", ""), people or None


def _assignee(state: AccountState, ref: Json) -> str:
    user = found(state.account.users, ref["id"], code=1007)
    if user.is_stakeholder:
        raise ErrorAnswer(2001, "A stakeholder cannot be assigned")  # PagerDuty does not document the code
    return user.id


def _urgency(about: Json) -> str:
    urgency = str(about.get("urgency") or "high")
    if urgency not in ("high", "low"):
        raise ErrorAnswer(2001, "Urgency must be high or low")
    return urgency


def _priority(state: AccountState, about: Json) -> str:
    ref = about.get("priority")
    return found(state.account.priorities, ref["id"], code=1020).id if ref else ""


def _type(state: AccountState, about: Json) -> str:
    name = str((about.get("incident_type") or {}).get("name") or "incident_default")
    if name not in state.account.types:
        raise ErrorAnswer(2001, f"Incident type {name} does not exist")
    return name


def _change(state: AccountState, asked: ApiRequest) -> Json:
    incident = found(state.account.incidents, asked.at["id"])
    about: Json = asked.body["incident"]
    agent = shapes.of(state).user_ref(asked.user.id)
    for check in (_assigned, _priority, _type):
        check(state, about)
    _urgency(about)
    if incident.merged_into:
        raise ErrorAnswer(1019)
    if "status" in about:
        _set_status(state, incident, str(about["status"]), agent, asked.user.id)
    elif not incident.is_open:
        raise ErrorAnswer(1001)
    _hand_over(state, incident, about, agent)
    _set_fields(state, incident, about, agent)
    return {"incident": shapes.of(state).incident(incident)}


def _set_status(state: AccountState, incident: Incident, status: str, agent: Json, user: str) -> None:
    if status not in ("triggered", "acknowledged", "resolved"):
        raise ErrorAnswer(1003)
    if status == "resolved":
        if not incident.is_open:
            raise ErrorAnswer(1001)
        changes.resolve(state, incident, agent=agent)
        return
    if not incident.is_open:
        changes.reopen(state, incident, agent=agent)
    if status == "triggered" and incident.status == "acknowledged":
        changes.unacknowledge(state, incident, agent=agent)
    if status == "acknowledged":
        if user in incident.acknowledgers:
            raise ErrorAnswer(1002)
        changes.acknowledge(state, incident, agent=agent, user=user)


def _set_fields(state: AccountState, incident: Incident, about: Json, agent: Json) -> None:
    if about.get("title"):
        incident.title = str(about["title"])
    if about.get("urgency"):
        incident.urgency = _urgency(about)
    if "priority" in about:
        changes.set_priority(state, incident, _priority(state, about), agent=agent)
    if about.get("incident_type"):
        changes.set_type(state, incident, _type(state, about), agent=agent)


def _hand_over(state: AccountState, incident: Incident, about: Json, agent: Json) -> None:
    policy, people = _assigned(state, about)
    if policy:
        changes.delegate(state, incident, policy, agent=agent)
    elif people:
        changes.reassign(state, incident, people, agent=agent)
    if about.get("escalation_level"):
        changes.escalate(state, incident, agent=agent, level=_level(about["escalation_level"]))


def _level(given: Any) -> int:
    if not isinstance(given, int) or given < 1:
        raise ErrorAnswer(2001, "Escalation level must be a number from 1")
    return given


METHODS: Final = {
    "GET /incidents": _list,
    "POST /incidents": _create,
    "GET /incidents/{id}": _get,
    "PUT /incidents/{id}": _change,
}
