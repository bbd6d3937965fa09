"""What the stand-in refuses, request by request, in PagerDuty's codes."""

from __future__ import annotations

from typing import Any

import pytest

from integrations.pagerduty import fake
from integrations.pagerduty.fake.methods import METHODS
from integrations.pagerduty.fake.server.answers import WORDS
from integrations.pagerduty.protocol.rules import RULES, find

from .furnished import SENDER, incident, ref, small, status

REFUSALS: list[tuple[str, Any, tuple[int, int]]] = [
    ("GET /nothing", None, (404, 2100)),
    ("GET /users/P404", None, (404, 2100)),
    ("GET /incidents/Q404", None, (404, 2100)),
    ("POST /incidents", {}, (400, 2001)),
    ("POST /incidents", {"incident": {"type": "incident", "title": "x"}}, (400, 2001)),
    ("POST /incidents", incident(colour="red"), (400, 2001)),
    ("POST /incidents", incident(title=" "), (400, 2001)),
    ("POST /incidents", incident(urgency="loud"), (400, 2001)),
    ("POST /incidents", incident(service={"id": "PVAPI"}), (400, 2001)),
    ("POST /incidents", incident(service=ref("P404", "service")), (400, 2002)),
    ("POST /incidents", incident(priority=ref("P404", "priority")), (400, 1020)),
    ("POST /incidents", incident(escalation_policy=ref("P404", "escalation_policy")), (400, 1014)),
    ("POST /incidents", incident(assignments=[{"assignee": ref("P404")}]), (400, 1007)),
    ("POST /incidents", incident(incident_type={"name": "unheard_of"}), (400, 2001)),
    (
        "POST /incidents",
        incident(assignments=[{"assignee": ref("PUDAN")}], escalation_policy=ref("PEMAIN", "escalation_policy")),
        (400, 2001),
    ),
    ("POST /incidents", incident(key="open"), (400, 2002)),
    ("PUT /incidents/OPEN", status("sleeping"), (400, 1003)),
    ("PUT /incidents/DONE", status("resolved"), (400, 1001)),
    ("PUT /incidents/DONE", {"incident": {"type": "incident", "title": "x"}}, (400, 1001)),
    ("PUT /incidents/OPEN", {"incident": {"type": "incident", "escalation_level": 9}}, (400, 1006)),
    (
        "PUT /incidents/OPEN",
        {"incident": {"type": "incident", "title": "x", "priority": ref("P404", "priority")}},
        (400, 1020),
    ),
    ("PUT /incidents/OPEN", {"incident": {"type": "incident", "title": "x", "escalation_level": 9}}, (400, 1006)),
    ("POST /incidents/OPEN/notes", {"note": {"content": " "}}, (400, 2001)),
    ("POST /incidents/OPEN/notes", {"note": {"text": "x"}}, (400, 2001)),
    (
        "POST /incidents/OPEN/responder_requests",
        {"requester_id": "P404", "message": "x", "responder_request_targets": []},
        (404, 2013),
    ),
    ("GET /schedules/PSSHIFTS", None, (400, 3001)),
    ("GET /schedules/PSSHIFTS/users", None, (400, 3001)),
    ("GET /v3/schedules/PSPRIMARY", None, (400, 3001)),
    ("GET /schedules/PSPRIMARY/overrides", None, (400, 2003)),
    (
        "POST /schedules/PSPRIMARY/overrides",
        {"overrides": [{"start": "2020-01-01T00:00:00Z", "end": "2020-01-02T00:00:00Z", "user": ref("PUADA")}]},
        (400, 4004),
    ),
    ("DELETE /schedules/PSPRIMARY/overrides/P404", None, (404, 4004)),
    ("POST /webhook_subscriptions", {"webhook_subscription": {"type": "webhook_subscription"}}, (400, 2001)),
]


@pytest.mark.parametrize(("request_", "body", "code"), REFUSALS)
def test_is_refused_with_the_code(request_: str, body: Any, code: tuple[int, int]) -> None:
    account = small()
    account.add_schedule("Shifts", ["ada"], v3=True)
    names = {}
    for name in ("OPEN", "DONE"):
        names[name] = account.ok("POST /incidents", incident(key=name.lower()))["incident"]["id"]
    account.acts.resolve("ada", names["DONE"])
    for name, id in names.items():
        request_ = request_.replace(name, id)
    before = account.snapshot()["account"]

    assert account.code(request_, body) == code
    assert account.snapshot()["account"] == before, "what is refused changes nothing"


def test_every_error_that_a_request_may_meet_has_words() -> None:
    codes = {code for rule in RULES.values() for code in rule.errors}
    assert not codes - WORDS.keys()


def test_table_and_answers_are_about_the_same_requests() -> None:
    assert set(RULES) == set(METHODS)


def test_a_request_needs_the_key_and_a_version_it_knows() -> None:
    account = small()
    headers = account.headers()
    assert account.request("GET", "/users", headers=headers | {"Authorization": "Token token=other"}).status == 401
    assert account.request("GET", "/users", headers={}).body["error"]["code"] == 2006
    odd = headers | {"Accept": "application/vnd.pagerduty+json;version=1"}
    assert account.request("GET", "/users", headers=odd).status == 406


def test_a_write_needs_a_sender_who_is_somebody() -> None:
    account = small()
    assert account.code("POST /incidents", incident(), sender="") == (400, 2016)
    assert account.code("POST /incidents", incident(), sender="nobody@example.com") == (400, 1008)
    assert account.ok("POST /incidents", incident(), sender=SENDER.upper())


def test_unknown_parameters_are_refused() -> None:
    account = small()
    assert account.code("GET /users", None, colour="red") == (400, 2001)
    assert account.code("GET /oncalls", None, schedule_id="PSPRIMARY") == (400, 2001)


def test_words_win_over_placeholders() -> None:
    found = find("GET", "/incidents/types")
    assert found
    assert found[0].name == "GET /incidents/types"
    assert find("GET", "/incidents//notes") is None
    other = find("GET", "/incidents/Q1/notes/")
    assert other
    assert other[1] == {"id": "Q1"}


def test_asking_for_help_needs_the_ability() -> None:
    account = small()
    id = account.ok("POST /incidents", incident())["incident"]["id"]
    body = {"requester_id": "PUBOT", "message": "help", "responder_request_targets": [_target("PUDAN")]}
    account.account.abilities.remove("coordinated_responding")
    assert account.code(f"POST /incidents/{id}/responder_requests", body) == (402, 2014)


def test_pages_of_a_list() -> None:
    account = small()
    first = account.ok("GET /users", limit=2, total="true")
    assert (len(first["users"]), first["more"], first["total"]) == (2, True, 5)
    last = account.ok("GET /users", limit=2, offset=4)
    assert (len(last["users"]), last["more"], last["total"]) == (1, False, None)
    assert "total" not in account.ok("GET /v3/schedules")
    assert account.code("GET /users", None, limit=100, offset=9_901) == (400, 2001)


def test_the_log_says_what_was_asked() -> None:
    account = small()
    account.ok("GET /users")
    account.ok("POST /incidents", incident())
    account.code("POST /incidents", incident())
    assert [(c.rule, c.status, c.done) for c in account.calls.writes()] == [
        ("POST /incidents", 201, True),
        ("POST /incidents", 400, False),
    ]
    assert account.calls.count("GET /users") == 1


def _target(id: str, kind: str = "user") -> dict[str, Any]:
    return {"responder_request_target": ref(id, kind)}


def test_the_demo_account_is_whole() -> None:
    account = fake.demo()
    kept = account.account
    assert {"Major incidents", "Security", "Engineering"} <= {p.name for p in kept.policies.values()}
    assert all(policy.levels for policy in kept.policies.values())
    assert account.user("firekind").id not in {
        user for s in kept.schedules.values() for layer in s.layers for user in layer.users
    }
    assert kept.services["PVFIREKIND"].integrations[0].key == account.routing_key
