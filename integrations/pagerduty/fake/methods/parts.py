"""The parts of an incident: notes, requests for help, status updates, alerts and its log; also the incident types."""

from __future__ import annotations

from typing import Final

from integrations.pagerduty.fake import changes
from integrations.pagerduty.fake.records import Incident, Json, LogEntry
from integrations.pagerduty.fake.server import shapes
from integrations.pagerduty.fake.server.answers import ErrorAnswer
from integrations.pagerduty.fake.server.api_request import ApiRequest, found
from integrations.pagerduty.fake.state import AccountState
from integrations.pagerduty.fake.times import iso

NOTES: Final = 2000
RESPONDING: Final = "coordinated_responding"


def _incident(state: AccountState, asked: ApiRequest) -> Incident:
    return found(state.account.incidents, asked.at["id"])


def _notes(state: AccountState, asked: ApiRequest) -> Json:
    return {"notes": [shapes.of(state).note(note) for note in _incident(state, asked).notes]}


def _add_note(state: AccountState, asked: ApiRequest) -> Json:
    incident, text = _incident(state, asked), str(asked.body["note"]["content"])
    if not text.strip():
        raise ErrorAnswer(2001, "Content cannot be empty.")
    if len(incident.notes) >= NOTES:
        raise ErrorAnswer(2001, f"An incident has at most {NOTES} notes")
    return {"note": shapes.of(state).note(changes.annotate(state, incident, asked.user.id, text))}


def _ask_for_help(state: AccountState, asked: ApiRequest) -> Json:
    if RESPONDING not in state.account.abilities:
        raise ErrorAnswer(2014, f"The account lacks the ability {RESPONDING}")
    incident = _incident(state, asked)
    requester = found(state.account.users, asked.body["requester_id"], code=2013)
    targets = [one["responder_request_target"] for one in asked.body["responder_request_targets"]]
    asks = [pair for target in targets for pair in _people(state, target)]
    message = str(asked.body["message"])
    made = [changes.ask(state, incident, requester.id, user, message, policy=policy) for user, policy in asks]
    if not made:
        raise ErrorAnswer(2001, "Responder request targets cannot be empty.")
    return {"responder_request": shapes.of(state).request(incident, made)}


def _people(state: AccountState, target: Json) -> list[tuple[str, str]]:
    if str(target["type"]).startswith("escalation_policy"):
        policy = found(state.account.policies, target["id"], code=1014)
        return [(user, policy.id) for user in changes.first_level(state, policy)[1]]
    return [(found(state.account.users, target["id"], code=2013).id, "")]


def _publish(state: AccountState, asked: ApiRequest) -> Json:
    incident = _incident(state, asked)
    update = changes.publish(state, incident, asked.user.id, str(asked.body["message"]))
    sender = shapes.of(state).user_ref(asked.user.id)
    return {
        "status_update": {
            "id": update.id, "message": update.text, "created_at": iso(update.at), "sender": sender,
            "subject": asked.body.get("subject"), "html_message": asked.body.get("html_message"),
        }
    }  # fmt: skip


def _alerts(state: AccountState, asked: ApiRequest) -> Json:
    incident, key, statuses = _incident(state, asked), asked.one("alert_key"), asked.all("statuses")
    some = [a for a in incident.alerts if key in ("", a.key) and (not statuses or a.status in statuses)]
    shape = shapes.of(state)
    return asked.page("alerts", some, lambda alert: shape.alert(incident, alert))


def _log(state: AccountState, asked: ApiRequest) -> Json:
    shape, incident = shapes.of(state), _incident(state, asked)

    def write(entry: LogEntry) -> Json:
        said = {"subject": entry.subject, "details": entry.details} if entry.subject else {}
        about = {"agent": entry.agent, "channel": {"type": entry.channel, **said}, "created_at": iso(entry.at)}
        seen = {"incident": shape.incident_ref(incident), "assignees": [shape.user_ref(id) for id in entry.users]}
        return {"id": entry.id, "type": entry.type, "summary": entry.type.replace("_", " "), **about, **seen}

    return asked.page("log_entries", reversed(incident.log), write)


def _types(state: AccountState, asked: ApiRequest) -> Json:
    types = [
        {"id": f"PY{n}", "type": "incident_type", "name": name, "display_name": shown, "enabled": True, "parent": None}
        for n, (name, shown) in enumerate(state.account.types.items(), 1)
    ]
    return {"incident_types": types}


METHODS: Final = {
    "GET /incidents/{id}/notes": _notes,
    "POST /incidents/{id}/notes": _add_note,
    "POST /incidents/{id}/responder_requests": _ask_for_help,
    "POST /incidents/{id}/status_updates": _publish,
    "GET /incidents/{id}/alerts": _alerts,
    "GET /incidents/{id}/log_entries": _log,
    "GET /incidents/types": _types,
}
