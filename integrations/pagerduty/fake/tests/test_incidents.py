"""The life of incidents: keys, notifications, and the effect of each status."""

from __future__ import annotations

from typing import Any

import pytest

from integrations.pagerduty import fake

from .furnished import HOUR, NINE, Strict, incident, ref, small, status


@pytest.fixture
def account() -> Strict:
    return small()


def opened(account: Strict, **about: Any) -> dict[str, Any]:
    found: dict[str, Any] = account.ok("POST /incidents", incident(**about))["incident"]
    return found


def test_an_incident_rings_who_is_on_call_at_the_first_level(account: Strict) -> None:
    found = opened(account)
    assert (found["status"], found["incident_key"], found["incident_number"]) == ("triggered", "k", 1)
    assert [a["assignee"]["id"] for a in found["assignments"]] == ["PUADA"]
    assert [(r.user, r.why) for r in account.rang] == [("PUADA", "assigned")]
    assert account.told() == ["triggered"]


def test_a_key_is_taken_while_an_incident_is_open_and_free_afterwards(account: Strict) -> None:
    first = opened(account)
    reply = account.ask("POST /incidents", incident())
    assert reply.body["error"]["errors"] == ["Open incident with matching dedup key already exists on this service"]
    account.ok(f"PUT /incidents/{first['id']}", status("resolved"))
    second = opened(account)
    assert second["id"] != first["id"]
    assert len(account.pages(user="PUADA")) == 2, "a late retry rings again"


def test_a_key_is_free_on_another_service(account: Strict) -> None:
    opened(account)
    assert opened(account, service=ref("PVWEB", "service"))["assignments"][0]["assignee"]["id"] == "PUDAN"


def test_an_incident_assigned_to_its_sender_rings_nobody(account: Strict) -> None:
    found = opened(account, assignments=[{"assignee": ref("PUBOT")}])
    assert found["status"] == "acknowledged"
    assert account.rang == []
    assert account.told() == ["triggered", "acknowledged"]


def test_an_incident_nobody_could_be_rung_for_is_not_opened(account: Strict) -> None:
    account.schedule("Primary").layers.clear()
    account.policy("Main").levels.pop()
    assert account.code("POST /incidents", incident()) == (400, 1015)
    assert account.account.incidents == {}


def test_a_level_without_anybody_is_passed_over(account: Strict) -> None:
    account.schedule("Primary").layers.clear()
    assert opened(account)["assignments"][0]["assignee"]["id"] == "PUCAT"


def test_statuses_by_request(account: Strict) -> None:
    path = f"PUT /incidents/{opened(account)['id']}"
    account.told()
    assert account.ok(path, status("acknowledged"))["incident"]["acknowledgements"][0]["acknowledger"]["id"] == "PUBOT"
    assert account.code(path, status("acknowledged")) == (400, 1002)
    assert account.ok(path, status("triggered"))["incident"]["status"] == "triggered"
    assert account.ok(path, status("resolved"))["incident"]["assignments"] == []
    assert account.code(path, status("resolved")) == (400, 1001)
    assert account.ok(path, status("acknowledged"))["incident"]["status"] == "acknowledged", "it was opened again"
    assert account.told() == ["acknowledged", "unacknowledged", "resolved", "reopened", "acknowledged"]


def test_fields_by_request(account: Strict) -> None:
    path = f"PUT /incidents/{opened(account)['id']}"
    account.told()
    fields = {"type": "incident", "title": "Worse", "priority": ref("PPP1", "priority"), "urgency": "low"}
    found = account.ok(path, {"incident": {**fields, "incident_type": {"name": "major_incident"}}})["incident"]
    assert (found["title"], found["priority"]["summary"], found["urgency"]) == ("Worse", "P1", "low")
    assert found["incident_type"] == {"name": "major_incident"}
    assert account.ok(path, {"incident": {"type": "incident", "priority": None}})["incident"]["priority"] is None
    assert account.told() == ["priority_updated", "incident_type.changed", "priority_updated"]


def test_handing_over_by_request_rings_those_it_goes_to(account: Strict) -> None:
    path = f"PUT /incidents/{opened(account)['id']}"
    account.told()
    account.ok(path, {"incident": {"type": "incident", "assignments": [{"assignee": ref("PUDAN")}]}})
    account.ok(path, {"incident": {"type": "incident", "escalation_policy": ref("PEOTHER", "escalation_policy")}})
    assert [(r.user, r.why) for r in account.rang[1:]] == [("PUDAN", "reassigned"), ("PUDAN", "reassigned")]
    assert account.told() == ["reassigned", "delegated"]


def test_found_by_key_whatever_its_status_when_asked_for_all_dates(account: Strict) -> None:
    opened(account)
    account.acts.resolve("ada", 1)
    account.clock.now += 40 * 24 * HOUR
    asked = {"incident_key": "k", "service_ids": ["PVAPI"]}
    assert account.ok("GET /incidents", **asked)["incidents"] == [], "the default window is a month"
    found = account.ok("GET /incidents", **asked, date_range="all", statuses=["triggered", "acknowledged", "resolved"])
    assert [i["status"] for i in found["incidents"]] == ["resolved"]
    assert account.code("GET /incidents", None, since="2025-01-01T00:00:00Z") == (400, 2005)


def test_asking_for_help_twice_asks_twice(account: Strict) -> None:
    id = opened(account)["id"]
    target = {"responder_request_target": ref("PEOTHER", "escalation_policy")}
    body = {"requester_id": "PUBOT", "message": "Please join", "responder_request_targets": [target]}
    account.ok(f"POST /incidents/{id}/responder_requests", body)
    request = account.ok(f"POST /incidents/{id}/responder_requests", body)["responder_request"]
    assert request["responder_request_targets"][0]["responder_request_target"]["incident_responders"][0]["state"] == (
        "pending"
    )
    assert [r.user for r in account.pages(incident=id) if r.why == "responder"] == ["PUDAN", "PUDAN"]


def test_nobody_acknowledging_takes_it_up_a_level_when_time_passes(account: Strict) -> None:
    opened(account)
    assert account.tick(NINE + 9 * 60) == []
    assert [i.level for i in account.acts.pass_time(10)] == [2]
    assert [(r.user, r.why) for r in account.rang] == [("PUADA", "assigned"), ("PUCAT", "escalated")]
    assert account.tick(NINE + HOUR) == [], "there is no level above and no loop"


def test_what_was_given_to_someone_by_name_goes_up_no_level_until_its_policy_is_used_again(account: Strict) -> None:
    opened(account)
    account.acts.reassign("ada", 1, "dan")
    assert account.acts.pass_time(600) == []
    account.acts.acknowledge("dan", 1)
    account.acts.unacknowledge("dan", 1)
    assert account.acts.pass_time(600) == []
    account.acts.escalate("ada", 1, level=1)
    assert [i.level for i in account.acts.pass_time(10)] == [2]


def test_an_acknowledged_incident_stays_where_it_is(account: Strict) -> None:
    opened(account)
    account.acts.acknowledge("ada", 1)
    assert account.acts.pass_time(600) == []


def test_an_acknowledgement_runs_out_where_the_service_lets_it_and_it_rings_again(account: Strict) -> None:
    account.service("PVAPI").acknowledgement_timeout = 30 * 60
    opened(account)
    account.acts.acknowledge("ada", 1)
    assert account.tick(NINE + 29 * 60) == []
    assert [(i.status, i.level, i.acknowledgers) for i in account.acts.pass_time(30)] == [("triggered", 1, {})]
    assert account.told()[-2:] == ["acknowledged", "unacknowledged"]
    assert [(r.user, r.why) for r in account.rang] == [("PUADA", "assigned"), ("PUADA", "unacknowledged")]
    assert [i.level for i in account.acts.pass_time(10)] == [2], "nobody acknowledged it again"


def test_what_is_open_too_long_is_resolved_by_its_service_even_if_acknowledged(account: Strict) -> None:
    account.service("PVAPI").auto_resolve_timeout = 4 * 60 * 60
    opened(account)
    account.acts.acknowledge("ada", 1)
    assert account.acts.pass_time(239) == []
    assert [(i.status, i.changed_by["id"]) for i in account.acts.pass_time(1)] == [("resolved", "PVAPI")]
    account.acts.reopen("ada", 1)
    assert "resolved" not in {i.status for i in account.acts.pass_time(239)}, "it is open anew"


def test_a_policy_that_loops_starts_over(account: Strict) -> None:
    account.policy("Main").loops = 1
    opened(account)
    for _ in range(3):
        account.acts.pass_time(10)
    assert [r.user for r in account.rang] == ["PUADA", "PUCAT", "PUADA", "PUCAT"]


def test_what_pages_would_not_allow(account: Strict) -> None:
    opened(account)
    account.acts.acknowledge("ada", 1)
    account.acts.resolve("ada", 1)
    for act in (account.acts.acknowledge, account.acts.resolve, account.acts.unacknowledge):
        with pytest.raises(fake.NotPossible):
            act("ada", 1)
    with pytest.raises(fake.NotPossible):
        account.acts.reply("ada", 1)
    with pytest.raises(fake.NotPossible):
        account.acts.escalate("ada", 2)


def test_a_storm_is_many_incidents(account: Strict) -> None:
    made = account.acts.storm(40, "web", "Errors on host {n}")
    assert len({i.id for i in made}) == 40
    assert account.told() == ["triggered"] * 40


def test_kept_and_put_back(account: Strict) -> None:
    opened(account)
    account.acts.note("ada", 1, "looking")
    account.acts.add_responder("ada", 1, "dan")
    other = small()
    other.restore(account.snapshot())
    assert other.account == account.account
    with pytest.raises(ValueError, match="version"):
        other.restore({"version": 0})
