"""What happens to an incident, no matter who does it: the account changes, people are paged, webhooks are queued.

`agent` is a reference to the actor, as in webhooks; `user` is their id if the actor is a person.
"""

from __future__ import annotations

from typing import Any

from integrations.pagerduty.fake import rendering
from integrations.pagerduty.fake.records import Incident, Json, Level, LogEntry, Note, Policy, Responder
from integrations.pagerduty.fake.server import shapes
from integrations.pagerduty.fake.server.answers import ErrorAnswer

from .state import AccountState, unique


def open_incident(
    state: AccountState, *, agent: Json, requester: str = "", assignees: list[str] | None = None, **about: Any
) -> Incident:
    """Open an incident, assign it, notify its assignees, and queue the webhooks.

    An incident assigned to the person who requested it is acknowledged at once and notifies no one.

    Raises ErrorAnswer(1015) if no one is on call.
    """
    numbers = (i.number for i in state.account.incidents.values())
    incident = Incident(
        unique("Q")[:14], max(numbers, default=0) + 1, created_at=state.now(), changed_at=state.now(),
        changed_by=agent, **about,
    )  # fmt: skip
    level, people = (1, assignees) if assignees else first_level(state, state.account.policies[incident.policy])
    state.account.incidents[incident.id] = incident
    _stay_open(state, incident)
    _assign(state, incident, people, level)
    note_entry(state, incident, "trigger_log_entry", agent)
    incident.log[-1].subject, incident.log[-1].details = incident.title, incident.details
    if requester in people:
        state.emit("incident.triggered", incident, agent)
        acknowledge(state, incident, agent=agent, user=requester)
    else:
        _ring(state, incident, "assigned")
        state.emit("incident.triggered", incident, agent)
    return incident


def first_level(state: AccountState, policy: Policy, *, above: int = 0) -> tuple[int, list[str]]:
    """Return the first level above one that has someone on call, and those people's ids. Raises ErrorAnswer(1015)."""
    for n, level in enumerate(policy.levels, 1):
        people = on_level(state, level)
        if n > above and people:
            return n, people
    raise ErrorAnswer(1015)


def on_level(state: AccountState, level: Level) -> list[str]:
    """List the ids of the people on call on a level now."""
    people: list[str] = []
    for target in level.targets:
        schedule = state.account.schedules.get(target)
        people += rendering.now_on(schedule, state.now()) if schedule else [target]
    return list(dict.fromkeys(people))


def acknowledge(state: AccountState, incident: Incident, *, agent: Json, user: str = "") -> None:
    """Acknowledge an open incident, for as long as its service's time-out; `user` is recorded with it."""
    incident.status = "acknowledged"
    lasts_s = state.account.services[incident.service].acknowledgement_timeout
    incident.waits_until = None if lasts_s is None else state.now() + lasts_s
    if user:
        incident.acknowledgers[user] = state.now()
    _changed(state, incident, "incident.acknowledged", agent)


def unacknowledge(state: AccountState, incident: Incident, *, agent: Json) -> None:
    """Undo an acknowledgement, which notifies people again."""
    incident.status, incident.acknowledgers = "triggered", {}
    _changed(state, incident, "incident.unacknowledged", agent)
    _wait(state, incident)
    _ring(state, incident, "unacknowledged")


def resolve(state: AccountState, incident: Incident, *, agent: Json, reason: str = "") -> None:
    """Resolve an incident and its alerts."""
    incident.status, incident.resolved_at, incident.waits_until = "resolved", state.now(), None
    incident.open_until = None
    incident.resolve_reason = reason
    incident.assignees = {}
    for alert in incident.alerts:
        alert.status = "resolved"
    _changed(state, incident, "incident.resolved", agent)


def merge(state: AccountState, incident: Incident, into: Incident, *, agent: Json) -> None:
    """Merge an incident into another, which takes over its alerts; the merge is the reason it is resolved."""
    into.alerts, incident.alerts = [*into.alerts, *incident.alerts], []
    incident.merged_into = into.id
    resolve(state, incident, agent=agent, reason="merge_resolve_reason")


def reopen(state: AccountState, incident: Incident, *, agent: Json) -> None:
    """Reopen a resolved incident; it starts again at the first level."""
    incident.status, incident.resolved_at, incident.acknowledgers = "triggered", None, {}
    incident.reopened_at, incident.resolve_reason = state.now(), ""
    _stay_open(state, incident)
    level, people = first_level(state, state.account.policies[incident.policy])
    _assign(state, incident, people, level)
    _changed(state, incident, "incident.reopened", agent)
    _ring(state, incident, "reopened")


def escalate(state: AccountState, incident: Incident, *, agent: Json, level: int | None = None) -> None:
    """Escalate to the next level, or to a given one. Raises ErrorAnswer(1006) if no one is on call there."""
    policy = state.account.policies[incident.policy]
    above = incident.level if level is None else level - 1
    try:
        found, people = first_level(state, policy, above=above)
    except ErrorAnswer:
        raise ErrorAnswer(1006) from None
    if level is not None and found != level:
        raise ErrorAnswer(1006)
    _back_to_triggered(incident)
    _assign(state, incident, people, found)
    _changed(state, incident, "incident.escalated", agent)
    _ring(state, incident, "escalated")


def reassign(state: AccountState, incident: Incident, people: list[str], *, agent: Json) -> None:
    """Reassign an incident to other people. It leaves its policy, so no one else is notified if they do not answer.

    https://support.pagerduty.com/docs/reassigning-and-delegating-incidents
    """
    new = [user for user in people if user not in incident.assignees]
    _back_to_triggered(incident)
    _assign(state, incident, people, incident.level, by_name=True)
    _changed(state, incident, "incident.reassigned", agent)
    _ring(state, incident, "reassigned", only=new)


def delegate(state: AccountState, incident: Incident, policy: str, *, agent: Json) -> None:
    """Delegate an incident to another escalation policy. Raises ErrorAnswer(1015)."""
    level, people = first_level(state, state.account.policies[policy])
    incident.policy = policy
    _back_to_triggered(incident)
    _assign(state, incident, people, level)
    _changed(state, incident, "incident.delegated", agent)
    _ring(state, incident, "reassigned")


def set_priority(state: AccountState, incident: Incident, priority: str, *, agent: Json) -> None:
    """Set or remove the priority."""
    if incident.priority != priority:
        incident.priority = priority
        _changed(state, incident, "incident.priority_updated", agent)


def set_type(state: AccountState, incident: Incident, type: str, *, agent: Json) -> None:
    """Change the incident's type."""
    if incident.type != type:
        incident.type = type
        _changed(state, incident, "incident.incident_type.changed", agent)


def move(state: AccountState, incident: Incident, service: str, *, agent: Json) -> None:
    """Move the incident to another service; it keeps its escalation policy and its assignees."""
    if incident.service != service:
        incident.service = service
        _changed(state, incident, "incident.service_updated", agent)


def annotate(state: AccountState, incident: Incident, user: str, text: str) -> Note:
    """Add a note."""
    note = Note(state.next_id(), user, text, state.now())
    incident.notes.append(note)
    shape = shapes.of(state)
    data = shape.about(incident, "incident_note", id=note.id, content=text, trimmed=False)
    state.emit("incident.annotated", incident, shape.user_ref(user), data)
    note_entry(state, incident, "annotate_log_entry", shape.user_ref(user))
    return note


def publish(state: AccountState, incident: Incident, user: str, text: str) -> Note:
    """Publish a status update."""
    update = Note(state.next_id(), user, text, state.now())
    incident.updates.append(update)
    shape = shapes.of(state)
    data = shape.about(incident, "incident_status_update", id=update.id, message=text, trimmed=False)
    state.emit("incident.status_update_published", incident, shape.user_ref(user), data)
    return update


def ask(
    state: AccountState, incident: Incident, requester: str, user: str, message: str, *, policy: str = ""
) -> Responder:
    """Ask a person to help. As in PagerDuty, asking again notifies them again."""
    responder = Responder(state.next_id(), user, requester, message, state.now(), policy=policy)
    incident.responders.append(responder)
    state.ring(incident, user, "responder")
    shape = shapes.of(state)
    state.emit(
        "incident.responder.added", incident, shape.user_ref(requester), shape.responder_told(incident, responder)
    )
    note_entry(state, incident, "responder_request_log_entry", shape.user_ref(requester), users=[user])
    return responder


def reply(state: AccountState, incident: Incident, responder: Responder, answer: str) -> None:
    """Record the answer to a request for help: accepted or declined."""
    responder.state, responder.updated_at = answer, state.now()
    shape = shapes.of(state)
    told = shape.responder_told(incident, responder)
    state.emit("incident.responder.replied", incident, shape.user_ref(responder.user), told)


def tick(state: AccountState) -> list[Incident]:
    """Apply the time-outs, and return the incidents that changed.

    Unacknowledged ones escalate, ones acknowledged too long notify again, and ones open too long are resolved.
    """
    known = state.account.incidents.values()
    ends = [i for i in known if i.open_until is not None and i.open_until <= state.now()]
    for incident in ends:
        resolve(state, incident, agent=shapes.of(state).service_ref(incident.service))
    late = [i for i in known if i.waits_until is not None and i.waits_until <= state.now()]
    agent = {"id": state.account.subdomain, "type": "account_reference", "summary": state.account.name}
    return ends + [incident for incident in late if _fall_due(state, incident, agent)]


def _fall_due(state: AccountState, incident: Incident, agent: Json) -> bool:
    if incident.status == "acknowledged":
        unacknowledge(state, incident, agent=agent)
        return True
    return _go_up(state, incident, agent)


def _go_up(state: AccountState, incident: Incident, agent: Json) -> bool:
    try:
        escalate(state, incident, agent=agent)
    except ErrorAnswer:
        incident.waits_until = None
        if incident.loops >= state.account.policies[incident.policy].loops:
            return False
        incident.loops += 1
        escalate(state, incident, agent=agent, level=1)
    return True


def note_entry(
    state: AccountState, incident: Incident, type: str, agent: Json, *, users: list[str] | None = None
) -> None:
    """Add an entry to the incident's log."""
    incident.log.append(LogEntry(state.next_id("R"), type, state.now(), agent, "api", users or []))


def _changed(state: AccountState, incident: Incident, event_type: str, agent: Json) -> None:
    incident.changed_at, incident.changed_by = state.now(), agent
    verb = event_type.rsplit(".", 1)[-1]
    note_entry(state, incident, f"{_LOGGED.get(verb, verb)}_log_entry", agent)
    state.emit(event_type, incident, agent)


_LOGGED = {
    "acknowledged": "acknowledge", "unacknowledged": "unacknowledge", "resolved": "resolve", "reopened": "reopen",
    "escalated": "escalate", "reassigned": "assign", "delegated": "delegate", "priority_updated": "priority_change",
}  # fmt: skip


def _back_to_triggered(incident: Incident) -> None:
    incident.status, incident.acknowledgers = "triggered", {}


def _assign(state: AccountState, incident: Incident, people: list[str], level: int, *, by_name: bool = False) -> None:
    incident.level, incident.by_name = level, by_name
    incident.assignees = {user: state.now() for user in people}
    _wait(state, incident)


def _wait(state: AccountState, incident: Incident) -> None:
    if incident.by_name:
        incident.waits_until = None
        return
    levels = state.account.policies[incident.policy].levels
    delay_min = levels[min(incident.level, len(levels)) - 1].delay_min if levels else 30
    incident.waits_until = state.now() + delay_min * 60


def _stay_open(state: AccountState, incident: Incident) -> None:
    lasts_s = state.account.services[incident.service].auto_resolve_timeout
    incident.open_until = None if lasts_s is None else state.now() + lasts_s


def _ring(state: AccountState, incident: Incident, why: str, *, only: list[str] | None = None) -> None:
    for user in incident.assignees if only is None else only:
        state.ring(incident, user, why)
