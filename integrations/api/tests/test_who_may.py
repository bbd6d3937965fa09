"""Permissions: each scope at each path and incident, whatever happened to the owner, and never by the URL alone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

import pytest
from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIRequest
from django.test import Client
from django.utils import timezone

from evidence.intake import tokens
from evidence.models import Evidence, Token
from evidence.models.token import Scope
from incidents.models import Participant, Person
from incidents.models.people import Role
from integrations.api import otlp
from integrations.api.tests.conftest import Case

FOLDED: Final = b"main;work 3\n"
ADDRESSES: Final = {
    "list": ("GET", "/api/v1/incidents", Scope.INCIDENTS_READ),
    "one": ("GET", "/api/v1/incidents/{}", Scope.INCIDENTS_READ),
    "events": ("GET", "/api/v1/incidents/{}/events", Scope.INCIDENTS_READ),
    "evidence": ("GET", "/api/v1/incidents/{}/evidence", Scope.EVIDENCE_WRITE),
    "a piece": ("GET", "/api/v1/incidents/{}/evidence/1", Scope.EVIDENCE_WRITE),
    "a file": ("POST", "/api/v1/incidents/{}/evidence", Scope.EVIDENCE_WRITE),
    "otlp": ("POST", "/v1development/profiles", Scope.EVIDENCE_WRITE),
}
SCOPES: Final = ([Scope.INCIDENTS_READ], [Scope.EVIDENCE_WRITE], [*Scope])
BECAME: Final[dict[str, dict[str, Any]]] = {
    "here": {},
    "a manager": {"role": Role.MANAGER},
    "an auditor": {"role": Role.AUDITOR},
    "a guest": {"is_guest": True},
    "of elsewhere": {"is_external": True},
    "a bot": {"is_bot": True},
    "gone": {"deactivated": True},
}


def ask(case: Case, name: str, codename: str, secret: str, **more: str) -> Any:
    method, address, _ = ADDRESSES[name]
    headers = {"Authorization": f"Bearer {secret}", **more}
    body, kind = (b"", "") if method == "GET" else (FOLDED, "text/plain")
    if name == "otlp":
        headers |= {otlp.HEADER: codename}
        body, kind = b"\x0a\x00", otlp.KIND
    return Client(enforce_csrf_checks=True).generic(
        method, address.format(codename), body, content_type=kind or "text/plain", headers=headers
    )


@pytest.mark.parametrize("became", BECAME)
def test_each_scope_opens_its_addresses_to_whoever_may_see(case: Case, became: str) -> None:
    """Ada takes part in both incidents; Eve sees the public one, and neither a role nor a URL opens more to her."""
    for incident in (case.open, case.hidden):
        assert ask(case, "a file", incident.codename, case.token(case.ada)).status_code == 201
    fields = BECAME[became]
    secrets = {tuple(scopes): case.token(case.eve, scopes=[one.value for one in scopes]) for scopes in SCOPES}
    Person.objects.filter(pk=case.eve.pk).update(**fields)
    kept = Evidence.objects.count()
    for scopes, secret in secrets.items():
        for name, (_, _, needs) in ADDRESSES.items():
            open_, hidden, none = (
                ask(case, name, one, secret) for one in (case.open.codename, case.hidden.codename, "no-such-name")
            )
            statuses = (open_.status_code, hidden.status_code, none.status_code)
            if became == "gone":
                assert set(statuses) == {401}, (name, scopes)
            elif needs not in scopes:
                assert set(statuses) == {403}, (name, scopes)
            else:
                assert statuses[1] == statuses[2] == (200 if name == "list" else 404), (name, statuses)
                assert hidden.content == none.content
                sees = became not in {"a guest", "of elsewhere"}
                assert (statuses[0] in {200, 201}) == (sees or name == "list"), (name, statuses)
            assert case.hidden.codename.encode() not in open_.content + hidden.content
            assert b"keys" not in open_.content + hidden.content
    if became == "gone":
        assert Evidence.objects.count() == kept


ENDS: Final[dict[str, Callable[[Case, Token], object]]] = {
    "the token is revoked": lambda case, token: tokens.revoke(token.pk, by=case.ada, at=timezone.now()),
    "it expires": lambda case, token: Token.objects.filter(pk=token.pk).update(expires_at=timezone.now()),
    "they are let go": lambda case, _: Person.objects.filter(pk=case.ada.pk).update(deactivated=True),
    "they left it": lambda case, _: Participant.objects.filter(incident=case.hidden, person=case.ada).update(
        left_at=timezone.now()
    ),
}


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("name", ["a file", "otlp"])
def test_what_ends_while_a_body_arrives_keeps_nothing_of_it(
    case: Case, name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tokens.issue(case.ada, at=timezone.now())
    arrives = WSGIRequest.read

    def slowly(request: WSGIRequest, *size: int) -> Any:
        ENDS[how](case, made.token)
        return arrives(request, *size)

    monkeypatch.setattr(WSGIRequest, "read", slowly)
    answer = ask(case, name, case.hidden.codename, made.secret)
    if how == "it expires":  # it was still valid when sent
        assert answer.status_code in {200, 201}
    else:
        assert answer.status_code == (404 if how == "they left it" else 401)
        assert not Evidence.objects.exists()


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_token_in_the_address_or_elsewhere_is_none_and_is_not_logged(
    case: Case, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = case.token(scopes=[one.value for one in Scope])
    method, address, _ = ADDRESSES[name]
    path = address.format(case.open.codename)
    client = Client()
    client.cookies["token"] = secret
    for query, headers in (
        (f"token={secret}", {}),
        (f"access_token={secret}", {}),
        ("", {"X-Api-Key": secret}),
        ("", {"Authorization": f"Token {secret}"}),
        ("", {"Authorization": f"Basic {secret}"}),
        ("", {"Authorization": secret}),
        ("", {"Authorization": f"Bearer {secret}x"}),
        ("", {"Authorization": f"Bearer {secret}, Bearer {secret}"}),
    ):
        answer = client.generic(method, f"{path}?{query}", b"", headers=headers)
        assert answer.status_code == 401, (query[:9], headers.keys())
        assert secret.encode() not in answer.content
    assert Token.objects.get().last_used_at is None
    assert secret not in caplog.text


def test_use_is_noted_when_it_is_refused_too_and_an_account_that_is_off_opens_nothing(case: Case) -> None:
    made = tokens.issue(case.eve, at=timezone.now(), scopes=[Scope.INCIDENTS_READ.value])
    assert ask(case, "one", case.hidden.codename, made.secret).status_code == 404
    made.token.refresh_from_db()
    assert made.token.last_used_at is not None
    account = User.objects.create_user("eve")
    Person.objects.filter(pk=case.eve.pk).update(user=account)
    assert ask(case, "list", "", made.secret).status_code == 200
    User.objects.filter(pk=account.pk).update(is_active=False)
    assert ask(case, "list", "", made.secret).status_code == 401
