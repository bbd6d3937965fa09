"""The API's description matches its paths, their methods and their answers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.utils import timezone

from incidents import lifecycle
from integrations.api import openapi, urls
from integrations.api.tests.conftest import Case, Send

DOCUMENT = openapi.document("http://testserver")
OPERATIONS = [
    (path, method, one[method])
    for path, one in DOCUMENT["paths"].items()
    for method in ("get", "post")
    if method in one
]
TYPES: dict[str, Any] = {
    "string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)
}  # fmt: skip


def wrong(value: Any, schema: dict[str, Any], where: str = "it") -> list[str]:
    """Return where a value violates its schema, for the part of JSON Schema that the document uses."""
    if "$ref" in schema:
        return wrong(value, DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], where)
    if "anyOf" in schema:
        found = [wrong(value, one, where) for one in schema["anyOf"]]
        return [] if [] in found else found[-1]
    if "enum" in schema:
        return [] if value in schema["enum"] else [where]
    kinds = schema.get("type", [])
    if kinds and type(value) not in [TYPES[one] for one in ([kinds] if isinstance(kinds, str) else kinds)]:
        return [where]
    if isinstance(value, list):
        return [bad for n, one in enumerate(value) for bad in wrong(one, schema.get("items", {}), f"{where}[{n}]")]
    return _fields(value, schema, where) if isinstance(value, dict) else []


def _fields(value: dict[str, Any], schema: dict[str, Any], where: str) -> list[str]:
    known = schema.get("properties", {})
    bad = [f"{where} lacks {name}" for name in schema.get("required", []) if name not in value]
    if schema.get("additionalProperties", True) is False:
        bad += [f"{where} has {name}" for name in value if name not in known]
    return bad + [one for name in known if name in value for one in wrong(value[name], known[name], f"{where}.{name}")]


def test_it_lists_every_address_and_no_other() -> None:
    routes = [str(one.pattern) for one in urls.urlpatterns]
    written = {
        re.sub(r"<\w+:(\w+)>", r"{\1}", one).removeprefix("api/v1").rstrip("/")
        for one in routes
        if one.startswith("api/v1/incidents")
    }
    assert written == set(DOCUMENT["paths"])


def test_anybody_may_read_it(case: Case, send: Send) -> None:
    answer = send("/api/v1/openapi.json", method="GET")
    assert answer.status_code == 200
    assert answer.json() == DOCUMENT
    assert send("/api/v1/openapi.json", method="POST").status_code == 405


@pytest.mark.parametrize(("path", "method", "described"), OPERATIONS)
def test_every_method_answers_as_described(
    case: Case, send: Send, path: str, method: str, described: dict[str, Any]
) -> None:
    lifecycle.note(case.open, text="Noted.", by=case.ada, at=timezone.now())
    scopes = described["security"][0]["token"]
    secret = case.token(scopes=scopes)
    added = send(f"/api/v1/incidents/{case.open.codename}/evidence", case.token(), body=b"main;work 3\n").json()
    address = "/api/v1" + path.format(codename=case.open.codename, n=added["n"])
    answer = send(address, secret, method=method.upper(), body=b"main;rest 1\n" if method == "post" else b"")
    status = str(answer.status_code)
    assert status in {"200", "201"}
    assert status in described["responses"]
    assert wrong(answer.json(), described["responses"][status]["content"]["application/json"]["schema"]) == []


@pytest.mark.parametrize(("path", "method", "described"), OPERATIONS)
def test_every_refusal_is_described(case: Case, send: Send, path: str, method: str, described: dict[str, Any]) -> None:
    other = {"incidents:read", "evidence:write"} - set(described["security"][0]["token"])
    address = "/api/v1" + path.format(codename="no-such", n=1)
    given = ["", case.token(scopes=list(other)), case.token(scopes=described["security"][0]["token"])]
    for secret in given:
        answer = send(address, secret, method=method.upper())
        assert str(answer.status_code) in described["responses"]
        if answer.status_code >= 400:
            assert wrong(answer.json(), DOCUMENT["components"]["schemas"]["Refusal"]) == []


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_what_is_not_described_is_not_taken(case: Case, send: Send, path: str) -> None:
    described = {one.upper() for one in DOCUMENT["paths"][path]} | {"HEAD"}
    address = "/api/v1" + path.format(codename=case.open.codename, n=1)
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - described:
        assert send(address, case.token(), method=method).status_code == 405
