"""The description and the doors agree about every parameter, at each edge and beyond it.

A value that fits the schema is accepted; any other is refused with 400 and the parameter's name, and nothing is stored.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from django.test import Client

from evidence.models import Evidence
from evidence.models.token import Scope
from incidents.models import Event
from integrations.api import doors
from integrations.api.tests.conftest import Case, Send
from integrations.api.tests.test_openapi import DOCUMENT, OPERATIONS, wrong

Schema = dict[str, Any]
NUMERAL: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)
RFC_3339: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
# Malformed numbers, impossible dates, times out of range, and text that breaks parsers.
ODD: Final = (
    *(
        "",
        " ",
        "0",
        "-1",
        "1",
        "+5",
        " 5",
        "5 ",
        "1e3",
        "5,0",
        "0x5",
        "\u0665",
        "²",
        "NaN",
        "null",
        "true",
        "5.5",
        "9" * 30,
    ),
    *("2026-03-14", "20260314", "2026-W11-6", "2026-02-30", "0001-01-01", "1969-12-31", "9001-01-01", "9999-12-31"),
    *("10000-01-01", "-2026-03-14", "2026-3-14", "2026-03-14 ", "today"),
    *("2026-03-14T10:00:00Z", "2026-03-14T10:00:00", "2026-03-14T10:00:00+05:45", "2026-03-14T24:30:00Z"),
    *("2026-03-14T10:00:00+99:99", "2016-12-31T23:59:60Z", "2026-03-14T10:00:60Z", "2026-03-14T10:00:00.5-00:00"),
    *("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00"),
    *("8999-12-31T23:59:59Z", "253402300799", "2147483648", "1e400"),
    *("\0", "a\0b", "\x1b[31m", "\u202eabc", "\U0001f469\u200d\U0001f4bb", "می‌خواهم", "%", "';--", "!&|", "active\n"),
)
# Other forms of ISO 8601 are accepted too, although `date-time` allows only that of RFC 3339.
WIDER: Final = frozenset({"from", "to"})
OPAQUE: Final = ("/incidents", "after")  # accepts only cursors that the API issued
ASKED: Final = [
    (path, method, one)
    for path, method, described in OPERATIONS
    for one in described.get("parameters", [])
    if one["in"] == "query" and (path, one["name"]) != OPAQUE
]


def takes(schema: Schema, value: str) -> bool:
    """Return whether a schema accepts a value as written in a URL."""
    if "anyOf" in schema:
        return any(takes(one, value) for one in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    if schema["type"] in {"integer", "number"}:
        return _is_number(schema, value)
    if schema.get("format") and not _is_a_time(schema["format"], value):
        return False
    fits = len(value) <= schema.get("maxLength", len(value))
    return fits and re.search(schema.get("pattern", ""), value) is not None


def _is_number(schema: Schema, value: str) -> bool:
    if not NUMERAL.fullmatch(value) or (schema["type"] == "integer" and "." in value):
        return False
    number = float(value)
    return bool(schema.get("minimum", number) <= number <= schema.get("maximum", number))


def _is_a_time(form: str, value: str) -> bool:
    try:
        if form == "date":
            return date.fromisoformat(value).isoformat() == value
        leap = re.sub(r"(T23:59):60(\.\d+)?Z", r"\1:59Z", value)
        return RFC_3339.fullmatch(leap) is not None and datetime.fromisoformat(leap).utcoffset() is not None
    except ValueError:
        return False


def edges(schema: Schema) -> Iterator[str]:
    """Yield values on both sides of each edge of a schema."""
    for one in schema.get("anyOf", []):
        yield from edges(one)
    for one in schema.get("enum", []):
        yield from (one, one.upper(), f"{one}x")
    for bound in ("minimum", "maximum"):
        if bound in schema:
            yield from (str(schema[bound] + by) for by in (-1, 0, 1))
    if "maxLength" in schema:
        yield from ("x" * (schema["maxLength"] + by) for by in (0, 1))


@pytest.mark.parametrize(
    ("path", "method", "described"), ASKED, ids=[f"{method} {path} {one['name']}" for path, method, one in ASKED]
)
def test_what_a_schema_takes_is_taken_and_all_else_is_refused(
    case: Case, path: str, method: str, described: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "_waiting", threading.BoundedSemaphore(0))  # no worker here, so each would wait 30 s
    name, schema, bearer = described["name"], described["schema"], _bearer(case)
    address = "/api/v1" + path.format(codename=case.open.codename, n=1)
    differs = []
    for value in dict.fromkeys([*edges(schema), *ODD]):
        before = Evidence.objects.count()
        answer = Client().generic(method.upper(), f"{address}?{urlencode({name: value})}", b"a;b 1\n", headers=bearer)
        is_taken = answer.status_code in {200, 201}
        if takes(schema, value) and not is_taken:
            differs.append((value, answer.status_code, "though the schema takes it"))
        if not takes(schema, value) and is_taken and name not in WIDER:
            differs.append((value, answer.status_code, "though the schema does not"))
        if not is_taken:
            assert answer.status_code == 400, (name, value)
            assert wrong(answer.json(), DOCUMENT["components"]["schemas"]["Refusal"]) == []
            assert answer.json()["parameter"] == name
            assert Evidence.objects.count() == before, (name, value)
    assert not differs


def _bearer(case: Case) -> dict[str, str]:
    return {"Authorization": f"Bearer {case.token(scopes=[one.value for one in Scope])}"}


def test_a_cursor_is_what_was_given_out(case: Case) -> None:
    bearer = _bearer(case)
    given = f"1.{case.open.declared_at.isoformat()}.{case.open.codename}"
    for value in dict.fromkeys([given, *ODD, f"7{given[1:]}", f"{given}x" * 9]):
        answer = Client().get(f"/api/v1/incidents?{urlencode({'after': value})}", headers=bearer)
        assert answer.status_code == (200 if value in {"", given} else 400), value


MANY: Final = "&".join(f"q{n}=1" for n in range(1_001))
TABLE: Final[dict[str, tuple[str, str, dict[str, str], bytes, int]]] = {
    "a parameter it does not have": ("GET", "?staus=open", {}, b"", 400),
    "one it has, in another case": ("GET", "?Status=open", {}, b"", 400),
    "one without a name": ("GET", "?=open", {}, b"", 400),
    "one twice": ("GET", "?status=open&status=resolved", {}, b"", 400),
    "a token in the address": ("GET", "?token=fk_x", {}, b"", 400),
    "more of them than are read": ("GET", f"?{MANY}", {}, b"", 400),
    "a name without end": ("GET", f"?{'x' * 5000}=1", {}, b"", 400),
    "a name that is no text": ("GET", "?%ff%00%ed%a0%80=1", {}, b"", 400),
    "an empty one": ("GET", "?", {}, b"", 200),
    "another kind of answer": ("GET", "", {"Accept": "text/html"}, b"", 200),
    "only if it changed": ("GET", "", {"If-None-Match": "*", "If-Modified-Since": "Fri, 27 Nov 2099 00:00:00 GMT"},
                           b"", 200),
    "a part of it": ("GET", "", {"Range": "bytes=0-1"}, b"", 200),
    "what it takes": ("OPTIONS", "", {}, b"", 405),
    "the way back": ("TRACE", "", {}, b"", 405),
    "a word of its own": ("LIST", "", {}, b"", 405),
    "to be another method": ("POST", "", {"X-HTTP-Method-Override": "GET"}, b"", 405),
}  # fmt: skip


@pytest.mark.parametrize("path", ["incidents", "incidents/{}", "incidents/{}/events", "incidents/{}/evidence"])
def test_whatever_else_is_asked_is_answered_in_the_words_of_the_api(case: Case, path: str) -> None:
    bearer, address = _bearer(case), f"/api/v1/{path.format(case.open.codename)}"
    for what, (method, query, headers, body, status) in TABLE.items():
        if "method" in what and path.endswith("evidence"):
            continue
        if "status" in query and path != "incidents":
            continue  # elsewhere it is just an unknown parameter
        answer = Client().generic(method, f"{address}{query}", body, headers={**bearer, **headers})
        assert answer.status_code == status, (what, answer.content[:200])
        assert answer["Content-Type"] == "application/json", what
        if status >= 400:
            assert wrong(answer.json(), DOCUMENT["components"]["schemas"]["Refusal"], what) == []
            assert len(answer.content) < 500, what
        if status == 405:
            assert "GET" in answer["Allow"]
        if status == 400:
            assert answer.json()["parameter"] is not None


def test_a_file_is_what_the_body_holds_and_nothing_is_kept_of_what_is_none(case: Case, send: Send) -> None:
    address, secret = f"/api/v1/incidents/{case.open.codename}/evidence", case.token()
    described = DOCUMENT["paths"]["/incidents/{codename}/evidence"]["post"]["responses"]
    before = Event.objects.count()
    for body, more, error in (
        (b"", {}, "bad_body"),
        (b"--x", {"content_type": "multipart/form-data; boundary=x"}, "bad_body"),
        (b"\x0b\x02\x80a;b 1\n\x03", {"Content-Encoding": "br"}, "bad_body"),
        (b"x" * ((1 << 20) + 1), {}, "too_large"),
    ):
        answer = send(address, secret, body=body, **more)
        assert str(answer.status_code) in described, answer.content
        assert wrong(answer.json(), DOCUMENT["components"]["schemas"]["Refusal"]) == []
        assert (answer.json()["error"], "parameter" in answer.json()) == (error, False)
    assert (Evidence.objects.count(), Event.objects.count()) == (0, before)
    assert send(address, secret, body=b"x" * (1 << 20)).status_code == 201
    odd = send(address, secret, body=b"a;b 1\n", content_type="text/html; charset=?", **{"Content-Encoding": "gzip"})
    assert odd.status_code == 201
    assert Evidence.objects.count() == 2


def test_the_description_answers_other_methods_as_the_rest_does(send: Send) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        answer = send("/api/v1/openapi.json", method=method)
        assert (answer.status_code, answer.json()["error"], answer["Allow"]) == (405, "not_allowed", "GET")
    assert send("/api/v1/openapi.json", method="HEAD").status_code == 200
