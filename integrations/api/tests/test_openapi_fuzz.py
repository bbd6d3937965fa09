"""Fuzz the API from its own description: every answer is one that the description lists, and never a 5xx."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote, urlencode

import pytest
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, resolve
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from evidence.models.token import Scope
from integrations.api import parameters
from integrations.api.tests.conftest import Case
from integrations.api.tests.test_openapi import OPERATIONS, wrong

pytestmark = pytest.mark.slow

OF_AN_UPLOAD: Final = (*parameters.LONGEST, "from", "to", "phase", "control")  # not `wait`, which would wait
# Values that break parsers, queries and clocks, in addition to those that Hypothesis generates.
ODD: Final = st.sampled_from(
    [
        *("", "0", "-1", "1e309", "NaN", "9" * 25, "null", "true", "\0", "a\0b", "%", "%00", "'", '"; --', "*", "!&|"),
        *("2026-02-30", "2026-01-01T00:00:00+99:99", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "²", "١٢"),
        *("\u202e", "a" * 5000, "(" * 500, "<->", ":*", "1,2026-01-01T00:00:00+00:00,1", "1,x,1", ",,,", "active\n"),
    ]
)
VALUE: Final = ODD | st.text(max_size=30) | st.integers().map(str) | st.datetimes().map(str)


def valid(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    """Generate values that a schema accepts."""
    if "enum" in schema:
        return st.sampled_from([str(one) for one in schema["enum"]])
    if schema.get("type") == "integer":
        return st.integers(schema.get("minimum", 0), schema.get("maximum", 2**31)).map(str)
    return st.text(max_size=20)


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    """Draw one request: an operation, parameters with any values, a body, and a caller."""
    path, method, described = draw(st.sampled_from(OPERATIONS))
    known = {one["name"]: valid(one["schema"]) for one in described.get("parameters", []) if one["in"] == "query"}
    known |= dict.fromkeys(OF_AN_UPLOAD, VALUE) if method == "post" else {}
    names = draw(st.lists(st.sampled_from([*known, "unknown"]), max_size=5))
    return {
        "path": path,
        "method": method,
        "described": described,
        "codename": draw(st.sampled_from([*["open"] * 6, "hidden", "none"]) | ODD),
        "n": draw(st.sampled_from([*["1"] * 3, "0", str(2**31), str(2**63), "9" * 40])),
        "query": [(name, draw(known.get(name, VALUE) | VALUE)) for name in names],
        "body": draw(st.binary(max_size=200)) if method == "post" else b"",
        "who": draw(st.sampled_from(["ada", "ada", "ada", "eve", "narrow", "nobody"])),
    }


def token(case: Case, who: str) -> str:
    """Return a fresh token, so that no token reaches its rate limit."""
    scopes = [Scope.EVIDENCE_WRITE.value] if who == "narrow" else [one.value for one in Scope]
    return "" if who == "nobody" else case.token(case.eve if who == "eve" else case.ada, scopes=scopes)


def address(case: Case, asked: dict[str, Any]) -> str:
    names = {"open": case.open.codename, "hidden": case.hidden.codename, "none": "quiet-quail"}
    codename = names.get(asked["codename"], asked["codename"])
    path = asked["path"].replace("{codename}", quote(codename, safe="", errors="replace")).replace("{n}", asked["n"])
    return f"/api/v1{path}"


@given(asked=questions())
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_every_answer_is_one_that_is_described(asked: dict[str, Any], case: Case) -> None:
    path = address(case, asked)
    with transaction.atomic():  # each request starts from the same data
        held(path, asked, case)
        transaction.set_rollback(True)


def held(path: str, asked: dict[str, Any], case: Case) -> None:
    """Send the request, and check the answer against the description."""
    query = urlencode(asked["query"], errors="replace")
    bearer = {"Authorization": f"Bearer {token(case, asked['who'])}"}
    answer = Client().generic(
        asked["method"].upper(),
        f"{path}?{query}",
        asked["body"],
        content_type="application/octet-stream",
        headers=bearer,
    )

    event(f"{asked['method']} {asked['path']}: {answer.status_code}")
    try:
        resolve(path)
    except Resolver404:  # not a path of the API
        assert answer.status_code == 404
        return
    described = asked["described"]["responses"]
    assert str(answer.status_code) in described, answer.content
    schema = described[str(answer.status_code)]["content"]["application/json"]["schema"]
    assert wrong(answer.json(), schema, f"{asked['method']} {asked['path']}") == []
