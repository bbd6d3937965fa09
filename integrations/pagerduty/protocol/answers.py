"""What is read of each answer of PagerDuty, and its type: one compact table.

The wire refuses an answer in which something needed is missing, or anything is of another type: a proxy may have
answered. What is not in the table is never read.
"""

from __future__ import annotations

from typing import Final

from integrations.answer_shape import AnswerShape, shape, within

_INCIDENT: Final = """
    id! status=triggered|acknowledged|resolved! incident_number# title incident_key html_url
    created_at@ last_status_change_at@
    last_status_change_by.id last_status_change_by.type last_status_change_by.summary
    assignments[].at@ assignments[].assignee.id assignments[].assignee.type assignments[].assignee.summary
    service.id service.summary priority.summary alert_counts.all#
"""
_ALERT: Final = "alert_key status summary created_at@"
_SERVICE: Final = """
    id! name summary status html_url escalation_policy.id integrations[].id integrations[].integration_key
"""
_POLICY: Final = """
    id! name summary html_url escalation_rules[].targets[].id escalation_rules[].targets[].type
"""
_TURN: Final = "user.id! start@ end@"
_SHIFTS: Final = "computed_shift_assignments[]"


_ALL: Final = {
    "GET /incidents": within("incidents[]", _INCIDENT),
    "GET /incidents/{id}": within("incident", _INCIDENT),
    "POST /incidents": within("incident", _INCIDENT),
    "PUT /incidents/{id}": within("incident", _INCIDENT),
    "POST /incidents/{id}/notes": "note.id!",
    "GET /incidents/{id}/alerts": within("alerts[]", _ALERT),
    "GET /users": within("users[]", "id! name summary email role html_url notification_rules[].urgency"),
    "GET /services": within("services[]", _SERVICE),
    "GET /services/{id}": within("service", _SERVICE),
    "GET /escalation_policies": within("escalation_policies[]", _POLICY),
    "GET /schedules": within("schedules[]", "id! name summary html_url"),
    "GET /v3/schedules": within("schedules[]", "id! name summary html_url"),
    "GET /oncalls": within("oncalls[]", _TURN, "escalation_level#! escalation_policy.id! schedule.id schedule.type"),
    "GET /schedules/{id}/overrides": within("overrides[]", _TURN),
    "GET /schedules/{id}": within("schedule.final_schedule.rendered_schedule_entries[]", "user.id start@ end@"),
    "GET /v3/schedules/{id}": within(
        f"schedule.final_schedule.{_SHIFTS}", "member.user_id start_time@ end_time@ source.type"
    ),
}

ANSWERS: Final[dict[str, AnswerShape]] = {name: shape(text) for name, text in _ALL.items()}
