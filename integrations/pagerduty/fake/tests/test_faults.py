"""Faults and rate limits: what was done, and what the caller was told."""

from __future__ import annotations

import pytest

from .furnished import incident, small


@pytest.mark.parametrize(
    ("kind", "status", "dropped", "hangs", "done"),
    [
        ("ratelimited", 429, False, False, False),
        ("server_error", 500, False, False, False),
        ("error_after", 500, False, False, True),
        ("drop", 201, True, False, True),
        ("drop_before", 0, True, False, False),
        ("timeout", 201, False, True, True),
    ],
)
def test_a_fault_strikes_as_often_as_ordered(kind: str, status: int, dropped: bool, hangs: bool, done: bool) -> None:
    account = small()
    account.faults.add(kind, method="POST", path="/incidents", times=1, ms=250)
    assert account.ask("GET /incidents").ok, "other requests are spared"
    headers = account.headers("bot@example.com")
    body = b'{"incident":{"type":"incident","title":"x","service":{"id":"PVAPI","type":"service_reference"}}}'
    reply = account.request("POST", "/incidents", headers=headers, body=body)
    assert (reply.status, reply.dropped, reply.hangs, reply.latency_s) == (status, dropped, hangs, 0.25)
    assert not reply.ok
    assert bool(account.account.incidents) is done
    assert (account.calls[-1].done, account.calls[-1].fault) == (done, kind)
    assert account.ask("POST /incidents", incident(key="next")).ok


def test_chances_can_be_repeated() -> None:
    runs = []
    for _ in range(2):
        account = small(seed=7)
        account.faults.add("server_error", probability=0.5)
        runs.append([account.ask("GET /users").status for _ in range(20)])
    assert runs[0] == runs[1]
    assert set(runs[0]) == {200, 500}


def test_events_have_faults_too() -> None:
    account = small()
    account.faults.add("drop", path="/v2/enqueue", times=1)
    assert account.event().dropped
    assert len(account.account.incidents) == 1


def test_a_minute_has_so_many_requests() -> None:
    account = small()
    account.rates.enabled, account.rates.per_minute = True, 2
    replies = [account.ask("GET /users") for _ in range(3)]
    assert [r.status for r in replies] == [200, 200, 429]
    assert [r.headers["ratelimit-remaining"] for r in replies] == ["1", "0", "0"]
    assert replies[2].body["error"]["code"] == 2020
    account.clock.now += int(replies[2].headers["ratelimit-reset"])
    assert account.ask("GET /users").ok


def test_opening_incidents_is_limited_on_its_own_and_says_less() -> None:
    account = small()
    account.rates.enabled = True
    account.rates.operations["POST /incidents"] = 1
    account.ok("POST /incidents", incident(key="1"))
    reply = account.ask("POST /incidents", incident(key="2"))
    assert (reply.status, reply.headers) == (429, {})
    assert account.ask("GET /incidents").ok
