"""The rules of each PagerDuty request we make, as one compact table.

The stand-in account refuses requests that are not in it, and a test checks every request of the adapter against it.
Sources: the reference (https://developer.pagerduty.com/api-reference), the error codes
(https://developer.pagerduty.com/docs/errors) and the v3 schedules
(https://developer.pagerduty.com/docs/schedules-v2-to-v3-upgrade). PagerDuty itself ignores unknown fields.
"""

from __future__ import annotations

from typing import Final

from integrations.pagerduty.protocol.request_rule import RequestRule, read, shape, write

__all__ = ["COMMON_ERRORS", "CONVERGED", "EVENT", "RULES", "RequestRule", "find"]

COMMON_ERRORS: Final = frozenset({1008, 2000, 2001, 2006, 2010, 2016, 2020, 2100})
"""Codes every request may be answered with."""

CONVERGED: Final = frozenset({1001, 1002, 1019})
"""Codes that say an incident is already as it was asked to be: resolved, acknowledged, merged."""

_PAGE = "limit offset total"
_TIMES = "since until"
_INCIDENT = """
    incident! incident.type! incident.priority@ incident.urgency incident.escalation_policy@
    incident.assignments[] incident.assignments[].assignee@! incident.incident_type incident.incident_type.name!
    incident.conference_bridge incident.conference_bridge.conference_number incident.conference_bridge.conference_url
"""
_SUBSCRIPTION = """
    webhook_subscription! webhook_subscription.type! webhook_subscription.description webhook_subscription.active
    webhook_subscription.events[]! webhook_subscription.filter! webhook_subscription.filter.type!
    webhook_subscription.filter.id webhook_subscription.delivery_method! webhook_subscription.delivery_method.type!
    webhook_subscription.delivery_method.url! webhook_subscription.delivery_method.custom_headers[]
    webhook_subscription.delivery_method.custom_headers[].name!
    webhook_subscription.delivery_method.custom_headers[].value!
"""

_ALL: Final = (
    # Who and what there is
    read("/abilities"),
    read("/priorities", _PAGE),
    read("/users", f"{_PAGE} query team_ids[] include[]"),
    read("/users/{id}", "include[]"),
    read("/teams", f"{_PAGE} query"),
    read("/services", f"{_PAGE} query team_ids[] time_zone sort_by include[] name"),
    read("/services/{id}", "include[]"),
    read("/services/{id}/integrations/{integration_id}", "include[]"),
    read("/escalation_policies", f"{_PAGE} query user_ids[] team_ids[] include[] sort_by"),
    read("/escalation_policies/{id}", "include[]"),
    # Who is on call
    read("/schedules", f"{_PAGE} {_TIMES} query include[] time_zone"),
    read("/schedules/{id}", f"{_TIMES} time_zone overflow include[] include_next_oncall_for_user", errors="3001 2004"),
    read("/schedules/{id}/users", _TIMES, errors="3001 2004"),
    read("/schedules/{id}/overrides", f"{_TIMES} editable overflow", errors="3001 2003 2004"),
    write(
        "POST /schedules/{id}/overrides",
        "overrides[]! overrides[].start! overrides[].end! overrides[].user@! overrides[].time_zone",
        status=201,
        errors="3001 4004",
    ),
    write("DELETE /schedules/{id}/overrides/{override_id}", status=204, errors="4004"),
    read("/v3/schedules", f"{_PAGE} query"),
    read("/v3/schedules/{id}", f"{_TIMES} time_zone include[]", errors="3001 2004"),
    read(
        "/oncalls",
        f"{_PAGE} {_TIMES} earliest time_zone include[] schedule_ids[] escalation_policy_ids[] user_ids[]",
        errors="2004 2005",
    ),
    # Incidents
    read(
        "/incidents",
        f"{_PAGE} {_TIMES} date_range incident_key statuses[] service_ids[] team_ids[] user_ids[] urgencies[]"
        " time_zone sort_by include[]",
        errors="2004 2005",
    ),
    write(
        "POST /incidents",
        f"{_INCIDENT} incident.title! incident.service@! incident.incident_key incident.body incident.body.type!"
        " incident.body.details",
        status=201,
        sender=True,
        errors="1003 1007 1014 1015 1020 2002",
    ),
    read("/incidents/{id}", "include[]"),
    write(
        "PUT /incidents/{id}",
        f"{_INCIDENT} incident.title incident.status incident.resolution incident.escalation_level",
        sender=True,
        errors="1001 1002 1003 1006 1007 1014 1015 1019 1020 2015",
    ),
    read("/incidents/{id}/notes"),
    write("POST /incidents/{id}/notes", "note! note.content!", sender=True),
    write(
        "POST /incidents/{id}/responder_requests",
        "requester_id! message! responder_request_targets[]! responder_request_targets[].responder_request_target@!",
        sender=True,
        errors="1014 2013 2014",
    ),
    write(
        "POST /incidents/{id}/status_updates",
        "message! subject html_message content_type",
        sender=True,
    ),
    read("/incidents/{id}/alerts", f"{_PAGE} alert_key statuses[] sort_by include[]"),
    read("/incidents/{id}/log_entries", f"{_PAGE} {_TIMES} time_zone is_overview include[]"),
    read("/incidents/types", "filter"),
    # Webhooks
    read("/webhook_subscriptions", f"{_PAGE} filter_type filter_id"),
    write("POST /webhook_subscriptions", _SUBSCRIPTION),
    read("/webhook_subscriptions/{id}"),
    write(
        "PUT /webhook_subscriptions/{id}",
        """
        webhook_subscription! webhook_subscription.type webhook_subscription.description webhook_subscription.active
        webhook_subscription.events[] webhook_subscription.filter webhook_subscription.filter.type!
        webhook_subscription.filter.id webhook_subscription.delivery_method*
        """,
    ),
    write("DELETE /webhook_subscriptions/{id}", status=204),
    write("POST /webhook_subscriptions/{id}/enable"),
)

RULES: Final[dict[str, RequestRule]] = {rule.name: rule for rule in _ALL}
"""Every request, by method and path."""

EVENT: Final = shape(
    """
    routing_key! event_action! dedup_key client client_url links[] links[].href! links[].text images*
    payload payload.summary! payload.source! payload.severity! payload.timestamp payload.component payload.group
    payload.class payload.custom_details*
    """
)
"""An event of the Events API, second version: POST /v2/enqueue, answered with 202."""


def find(method: str, path: str) -> tuple[RequestRule, dict[str, str]] | None:
    """Return the rule of a request and the values of its placeholders; literal segments win over placeholders."""
    found = [(rule, at) for rule in _ALL if rule.method == method and (at := rule.fits(path)) is not None]
    return min(found, key=lambda pair: len(pair[1])) if found else None
