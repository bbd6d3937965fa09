"""Incidents by REST: what the API returns to which caller; a hidden incident answers exactly as a missing one."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from audit.models import Entry
from evidence.intake import tokens
from incidents import lifecycle, search
from incidents.models import Incident, Person
from integrations.api.tests.conftest import Case, Send

BASE = "/api/v1/incidents"


@pytest.fixture
def read(case: Case, send: Send) -> Send:
    """Send requests with a token that may read, Ada's by default."""
    secrets: dict[int, str] = {}

    def asked(path: str = "", *, by: Person | None = None, **how: Any) -> Any:
        who = by or case.ada
        if who.pk not in secrets:
            secrets[who.pk] = case.token(who, scopes=["incidents:read"])
        return send(f"{BASE}{path}", secrets[who.pk], method=how.pop("method", "GET"), **how)

    return asked


def listed(answer: Any) -> list[str]:
    return [one["codename"] for one in answer.json()["incidents"]]


def test_a_list_holds_what_its_person_may_see(case: Case, read: Send) -> None:
    assert set(listed(read())) == {case.open.codename, case.hidden.codename}
    assert listed(read(by=case.eve)) == [case.open.codename]
    assert listed(read("?q=keys", by=case.eve)) == []
    said = read(by=case.eve).json()["incidents"][0]
    assert (said["type"], said["status"], said["private"]) == ("major", "open", False)
    assert said["url"] == f"http://testserver/incidents/{case.open.codename}/"


def test_it_comes_page_by_page(case: Case, read: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search.search_pages, "PAGE", 1)
    first = read().json()
    second = read(f"?after={first['next'].replace('+', '%2B')}").json()
    assert {first["incidents"][0]["codename"], second["incidents"][0]["codename"]} == {
        case.open.codename,
        case.hidden.codename,
    }
    assert second["next"] is None


@pytest.mark.parametrize("asked", ["status=closed", "me=everything", "after=tomorrow"])
def test_what_is_not_understood_is_named_and_not_left_out(case: Case, read: Send, asked: str) -> None:
    answer = read(f"?{asked}")
    assert answer.status_code == 400
    assert answer.json()["parameter"] == asked.split("=", maxsplit=1)[0]


def test_filters_are_those_of_the_page(case: Case, read: Send) -> None:
    assert listed(read("?type=security")) == [case.hidden.codename]
    assert listed(read("?status=ended")) == []
    assert listed(read("?status=open&me=in")) == listed(read())


def test_one_incident_and_its_timeline(case: Case, read: Send) -> None:
    lifecycle.note(case.open, text="It is the cache.", by=case.ada, at=timezone.now())
    said = read(f"/{case.open.codename}").json()
    assert (said["codename"], said["channel"], said["duplicate_of"]) == (case.open.codename, None, None)
    events = read(f"/{case.open.codename}/events").json()
    assert events["next"] is None
    assert [one["n"] for one in events["events"]] == list(range(1, len(events["events"]) + 1))
    assert (events["events"][-1]["text"], events["events"][-1]["by"]) == ("It is the cache.", "Ada")


def test_a_timeline_comes_page_by_page(case: Case, read: Send) -> None:
    for n in range(3):
        lifecycle.note(case.open, text=f"note {n}", by=case.ada, at=timezone.now())
    numbers: list[int] = []
    after: int | None = 0
    while after is not None:
        page = read(f"/{case.open.codename}/events?after={after}&limit=2").json()
        numbers += [one["n"] for one in page["events"]]
        after = page["next"]
    assert numbers == list(range(1, 5))
    for wrong in ("after=-1", "limit=many", "after=99999999999999"):
        assert read(f"/{case.open.codename}/events?{wrong}").status_code == 400


@pytest.mark.parametrize("part", ["", "/events", "/events?after=1"])
def test_hidden_is_absent(case: Case, read: Send, part: str) -> None:
    hidden = read(f"/{case.hidden.codename}{part}", by=case.eve)
    absent = read(f"/no-such-name{part}", by=case.eve)
    assert hidden.status_code == absent.status_code == 404
    assert hidden.content == absent.content
    assert dict(hidden.headers) == dict(absent.headers)
    assert read(f"/{case.hidden.codename}{part}").status_code == 200


def test_a_duplicate_does_not_name_what_its_reader_may_not_see(case: Case, read: Send) -> None:
    Incident.objects.filter(pk=case.open.pk).update(duplicate_of=case.hidden)
    assert read(f"/{case.open.codename}").json()["duplicate_of"] == case.hidden.codename
    assert read(f"/{case.open.codename}", by=case.eve).json()["duplicate_of"] is None


def test_reading_a_private_incident_is_noted_once(case: Case, read: Send) -> None:
    read(f"/{case.open.codename}")
    assert not Entry.objects.filter(kind="read").exists()
    read(f"/{case.hidden.codename}")
    read(f"/{case.hidden.codename}/events")
    assert Entry.objects.get(kind="read").about == case.hidden.codename


@pytest.mark.parametrize("path", ["", "/no-such", "/no-such/events"])
def test_a_token_for_evidence_reads_no_incident_and_learns_of_none(case: Case, send: Send, path: str) -> None:
    for address in (f"{BASE}{path}", f"{BASE}{path.replace('no-such', case.open.codename)}"):
        answer = send(address, case.token(), method="GET")
        assert answer.status_code == 403
        assert answer.json()["scope"] == "incidents:read"
        assert 'error="insufficient_scope"' in answer["WWW-Authenticate"]


def test_a_token_for_reading_adds_no_evidence(case: Case, send: Send) -> None:
    secret = case.token(scopes=["incidents:read"])
    for codename in (case.open.codename, "no-such"):
        assert send(f"{BASE}/{codename}/evidence", secret, body=b"a 1").status_code == 403
        assert send(f"{BASE}/{codename}/evidence/1", secret, method="GET").status_code == 403
    pushed = send("/v1development/profiles", secret, content_type="application/x-protobuf")
    assert pushed.status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nothing_is_changed_by_it(case: Case, read: Send, method: str) -> None:
    for path in ("", f"/{case.open.codename}", f"/{case.open.codename}/events"):
        answer = read(path, method=method)
        assert (answer.status_code, answer["Allow"]) == (405, "GET")


def test_an_ended_token_reads_nothing(case: Case, send: Send) -> None:
    made = tokens.issue(case.ada, at=timezone.now(), scopes=["incidents:read"])
    assert send(BASE, made.secret, method="GET").status_code == 200
    tokens.revoke(made.token.pk, by=case.ada, at=timezone.now())
    assert send(BASE, made.secret, method="GET").status_code == 401
    assert send(BASE, method="GET").status_code == 401


@pytest.mark.parametrize(
    "path", ["/not a slug", "/a.b", "/%E2%9C%93", "/amber-otter/other", "/amber-otter/evidence/x", "//"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_address_that_nothing_has_is_refused_as_programs_read_it(read: Send, path: str, method: str) -> None:
    answer = read(path, method=method)
    assert answer.status_code == 404
    assert answer.json()["error"] == "not_found"
    assert answer.json()["says"].startswith("There is nothing at this address.")
    assert "/api/v1/openapi.json" in answer.json()["says"]
