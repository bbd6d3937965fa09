"""Evidence by REST: who may send, what is accepted, and that a hidden incident answers exactly as a missing one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from evidence.intake import digesting, receiving, tokens
from evidence.models import Evidence, Token
from incidents import lifecycle
from incidents.models import Person
from integrations.api.tests.conftest import Case, Send

FOLDED = b"main;work 3\nmain;rest 1\n"


def at(case: Case, asked: str = "") -> str:
    return f"/api/v1/incidents/{case.open.codename}/evidence{asked}"


def test_a_file_becomes_evidence_of_the_tokens_person(case: Case, send: Send) -> None:
    about = "?title=CPU%20on%20web-1&unit=samples&phase=during&variant=new&control=1&source=perf"
    window = "&from=2026-11-21T10:00:00Z&to=1795255230"
    answer = send(at(case, about + window), case.token(), body=FOLDED)
    assert answer.status_code == 201, answer.content
    said = answer.json()
    assert (said["n"], said["state"], said["says"], said["guards"]) == (1, "reading", "", [])
    assert said["url"] == answer["Location"] == f"http://testserver/incidents/{case.open.codename}/evidence/1/"
    kept = Evidence.objects.get()
    assert (kept.title, kept.added_by, kept.unit, kept.phase) == ("CPU on web-1", case.ada, "samples", "during")
    assert (kept.variant, kept.is_control, kept.origin["source"], kept.origin["via"]) == ("new", True, "perf", "api")
    assert kept.size == len(FOLDED)
    assert (kept.window_from, kept.window_to) != (None, None)


@pytest.mark.parametrize(
    ("unit", "body", "counted"),
    [
        ("ms", FOLDED, "nanoseconds"),
        ("ms", b"ThreadId(1)-main; app::run:src/main.rs:3 99\n", "nanoseconds"),
        ("seconds", b"Dear all\n", "seconds"),  # not a profile: only what the parameters state is known
        ("", FOLDED, "samples"),
    ],
)
def test_the_unit_is_that_of_the_numbers_that_are_shown(
    case: Case, send: Send, unit: str, body: bytes, counted: str
) -> None:
    secret = case.token()
    n = send(at(case, f"?unit={unit}"), secret, body=body).json()["n"]
    digesting.digest(Evidence.objects.get(n=n).pk, at=timezone.now())
    assert send(at(case, f"/{n}"), secret, method="GET").json()["unit"] == counted


def test_the_words_of_the_form_that_curl_claims_are_never_read_as_a_form(case: Case, send: Send) -> None:
    assert send(at(case), case.token(), body=b"a=1&b=2;c 3\n").status_code == 201
    assert Evidence.objects.get().size == 12


@pytest.mark.parametrize("given", ["", "Basic YTpi", "Bearer", "Bearer fk_short", f"Bearer fk_{'A' * 43}"])
def test_without_a_token_that_works_nothing_is_said(case: Case, send: Send, given: str) -> None:
    answers = [
        send(path, body=FOLDED, Authorization=given) for path in (at(case), "/api/v1/incidents/no-such/evidence")
    ]
    assert {one.status_code for one in answers} == {401}
    assert answers[0].content == answers[1].content
    assert "Bearer" in answers[0]["WWW-Authenticate"]


def test_a_token_ends_when_it_expires_or_is_revoked_or_its_person_leaves(case: Case, send: Send) -> None:
    old = tokens.issue(case.ada, at=timezone.now() - timedelta(hours=13), incident=case.open)
    assert send(at(case), old.secret, body=FOLDED).status_code == 401
    made = tokens.issue(case.ada, at=timezone.now())
    assert send(at(case), made.secret, body=FOLDED).status_code == 201
    assert not tokens.revoke(made.token.pk, by=case.eve, at=timezone.now()), "it is not Eve's"
    assert tokens.revoke(made.token.pk, by=case.ada, at=timezone.now())
    assert send(at(case), made.secret, body=FOLDED).status_code == 401
    left = case.token()
    Person.objects.filter(pk=case.ada.pk).update(deactivated=True)
    assert send(at(case), left, body=FOLDED).status_code == 401


def test_hidden_absent_and_another_incident_answer_alike(case: Case, send: Send) -> None:
    hidden = f"/api/v1/incidents/{case.hidden.codename}/evidence"
    theirs, narrow = case.token(case.eve), case.token(incident=case.open)
    assert send(hidden, case.token(), body=FOLDED).status_code == 201
    answers = [
        send(hidden, theirs, body=FOLDED),
        send("/api/v1/incidents/no-such-thing/evidence", theirs, body=FOLDED),
        send(hidden, narrow, body=FOLDED),
        send(hidden, theirs, method="GET"),
        send(f"{hidden}/1", theirs, method="GET"),
        send(at(case, "/7"), theirs, method="GET"),
        send(hidden, theirs, body=FOLDED + b"?", **{"Content-Length": "99999999"}),
    ]
    assert {one.status_code for one in answers} == {404}
    assert len({one.content for one in answers}) == 1


def test_whoever_is_shut_out_meanwhile_can_no_longer_send(case: Case, send: Send) -> None:
    token = case.token(case.eve, incident=case.open)
    assert send(at(case), token, body=FOLDED).status_code == 201
    security = case.hidden.type
    lifecycle.retype(case.open, to=security, by=case.ada, at=timezone.now())
    assert send(at(case), token, body=FOLDED).status_code == 404


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("?from=yesterday", "from"),
        ("?to=2026-11-21T10:00:00", "to"),
        ("?from=2026-11-21T10:00:00Z&to=2026-11-21T09:00:00Z", "to"),
        ("?phase=later", "phase"),
        ("?wait=soon", "wait"),
        (f"?title={'x' * 201}", "title"),
        ("?unit=a%00b", "unit"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named_and_nothing_is_kept(
    case: Case, send: Send, asked: str, named: str
) -> None:
    answer = send(at(case, asked), case.token(), body=FOLDED)
    assert (answer.status_code, answer.json()["parameter"]) == (400, named)
    assert not Evidence.objects.exists()


def test_an_empty_body_and_a_form_are_refused_with_words(case: Case, send: Send) -> None:
    empty = send(at(case), case.token())
    assert (empty.status_code, empty.json()["says"]) == (400, "The file is empty.")
    form = send(at(case), case.token(), body=b"--x", content_type="multipart/form-data; boundary=x")
    assert form.status_code == 400
    assert "--data-binary" in form.json()["says"]
    assert not Evidence.objects.exists()


def test_more_than_is_taken_is_refused(case: Case, send: Send) -> None:
    answer = send(at(case), case.token(), body=b"x" * (1 << 20) + b"y")
    assert answer.status_code == 413
    assert "1 MiB" in answer.json()["says"]
    assert not Evidence.objects.exists()


def test_other_methods_are_not_taken(case: Case, send: Send) -> None:
    for method in ("PUT", "DELETE", "PATCH"):
        assert send(at(case), case.token(), method=method).status_code == 405
    assert send(at(case, "/1"), case.token(), method="POST").status_code == 405


def test_a_list_holds_what_the_token_may_read(case: Case, send: Send) -> None:
    narrow = case.token(incident=case.open)
    assert send(at(case, "?title=first"), case.token(), body=FOLDED).status_code == 201
    assert send(at(case, "?title=second"), narrow, body=FOLDED).status_code == 201

    def titles(token: str) -> list[str]:
        listed: dict[str, Any] = send(at(case), token, method="GET").json()
        return [one["title"] for one in listed["evidence"]]

    assert titles(case.token()) == ["second", "first"]
    assert titles(narrow) == ["second"], "a token on a host reads back only what came from there"
    assert send(at(case, "/2"), narrow, method="GET").json()["title"] == "second"
    assert send(at(case, "/1"), narrow, method="GET").status_code == 404


def test_no_secret_is_kept_and_use_is_noted(case: Case, send: Send, caplog: pytest.LogCaptureFixture) -> None:
    secret = case.token()
    send(at(case), secret, body=FOLDED)
    token = Token.objects.get()
    assert secret not in str(vars(token))
    assert secret.endswith(token.hint)
    assert token.last_used_at is not None
    assert secret not in caplog.text


def test_waiting_ends_with_the_sentence(case: Case, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_: float) -> None:
        Evidence.objects.update(state="ready", says="75 % of samples pass through work")

    monkeypatch.setattr("integrations.api.doors.time.sleep", read)
    said = send(at(case, "?wait=30"), case.token(), body=FOLDED).json()
    assert (said["state"], said["says"]) == ("ready", "75 % of samples pass through work")


def test_a_large_file_is_stored_piece_by_piece(case: Case, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    largest = 0
    bounded = receiving._bounded

    def watched(body: Any, limit: int) -> Iterator[bytes]:
        nonlocal largest
        for chunk in bounded(body, limit):
            largest = max(largest, len(chunk))
            yield chunk

    monkeypatch.setattr(receiving, "_bounded", watched)
    assert send(at(case), case.token(), body=b"x" * (1 << 20)).status_code == 201
    assert 0 < largest <= receiving.CHUNK
