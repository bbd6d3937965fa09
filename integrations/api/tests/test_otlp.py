"""Profiles over OTLP: answered as the protocol requires, attached to the incident that the sender names."""

from __future__ import annotations

import contextlib
import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import (
    ExportProfilesServiceRequest,
    ExportProfilesServiceResponse,
)

from evidence.intake import digesting, storage
from evidence.models import Evidence
from integrations.api import otlp, wire
from integrations.api.tests.conftest import Case, Send

ADDRESS = "/v1development/profiles"


def pushed(**attributes: str) -> bytes:
    """Return a request with one empty profile of a resource."""
    request = ExportProfilesServiceRequest()
    request.dictionary.string_table.extend(["", "service.name", "checkout-api"])
    one = request.resource_profiles.add()
    named = one.resource.attributes.add()
    named.key_strindex, named.value.string_value_strindex = 1, 2
    for key, value in attributes.items():
        one.resource.attributes.add(key=key.replace("_", ".")).value.string_value = value
    one.scope_profiles.add().profiles.add()
    return bytes(request.SerializeToString())


def push(send: Send, token: str, body: bytes, **headers: str) -> tuple[int, bytes]:
    answer = send(ADDRESS, token, body=body, **{"content_type": otlp.KIND} | headers)
    assert answer["Content-Type"] == otlp.KIND
    return answer.status_code, answer.content


def test_a_token_for_an_incident_attaches_to_it(case: Case, send: Send) -> None:
    body = pushed()
    status, answer = push(send, case.token(incident=case.hidden), body)
    assert status == 200
    assert ExportProfilesServiceResponse.FromString(answer) == ExportProfilesServiceResponse()
    kept = Evidence.objects.get()
    assert (kept.incident, kept.title, kept.origin["via"]) == (case.hidden, "Profiles of checkout-api", "otlp")
    assert storage.store().local(kept.original).read_bytes() == body


def test_a_personal_token_needs_to_be_told_which(case: Case, send: Send) -> None:
    token, name = case.token(), case.open.codename
    assert push(send, token, pushed())[0] == 400
    assert push(send, token, pushed(), **{otlp.HEADER: name})[0] == 200
    assert push(send, token, pushed(firekind_incident=name))[0] == 200
    assert {one.incident_id for one in Evidence.objects.all()} == {case.open.pk}


def test_hidden_and_absent_answer_alike(case: Case, send: Send) -> None:
    theirs, narrow = case.token(case.eve), case.token(incident=case.open)
    answers = {
        push(send, theirs, pushed(), **{otlp.HEADER: case.hidden.codename}),
        push(send, theirs, pushed(), **{otlp.HEADER: "no-such-thing"}),
        push(send, narrow, pushed(firekind_incident=case.hidden.codename)),
    }
    assert {status for status, _ in answers} == {404}
    assert len(answers) == 1


@pytest.mark.parametrize(
    "name", ["\0", "a\0b", "\x01", "\n", "\ufffd", "\u202e", "é" * 500, "x" * 5_000, "%", "{}", "-"]
)
def test_whatever_stands_where_the_incident_is_named_there_is_none(case: Case, send: Send, name: str) -> None:
    absent = push(send, case.token(), pushed(firekind_incident="no-such-thing"))
    assert push(send, case.token(), pushed(firekind_incident=f"{name}x")) == absent


def test_gzip_is_unpacked_and_other_codings_are_not_taken(case: Case, send: Send) -> None:
    token, body = case.token(incident=case.open), pushed()
    twice = gzip.compress(body[:9]) + gzip.compress(body[9:])
    assert push(send, token, twice, **{"Content-Encoding": "gzip"})[0] == 200
    assert storage.store().local(Evidence.objects.get().original).read_bytes() == body
    assert push(send, token, body, **{"Content-Encoding": "br"})[0] == 415
    assert push(send, token, body, **{"Content-Encoding": "gzip"})[0] == 400
    assert push(send, token, gzip.compress(body)[:-9], **{"Content-Encoding": "gzip"})[0] == 400
    assert Evidence.objects.count() == 1


def test_what_unpacks_to_more_than_is_taken_is_refused_in_bounded_memory(
    case: Case, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp, "MOST", 1 << 20)
    status, answer = push(
        send, case.token(incident=case.open), gzip.compress(bytes(8 << 20)), **{"Content-Encoding": "gzip"}
    )
    assert status == 413
    assert b"MiB" in answer
    assert not Evidence.objects.exists()


def test_a_piece_that_fills_the_buffer_exactly_is_not_lost() -> None:
    body = bytes(range(256)) * 8192
    packed = gzip.compress(body)
    for size in (1, 7, 4096, len(packed)):
        pieces = iter([packed[start : start + size] for start in range(0, len(packed), size)])
        assert b"".join(otlp._gunzipped(pieces)) == body


@pytest.mark.parametrize("token", ["", "fk_nothing"])
def test_without_a_token_it_is_401(case: Case, send: Send, token: str) -> None:
    assert push(send, token, pushed())[0] == 401


def test_other_kinds_are_415_and_other_methods_405(case: Case, send: Send) -> None:
    token = case.token(incident=case.open)
    assert push(send, token, b"{}", content_type="application/json")[0] == 415
    assert send(ADDRESS, token, method="GET").status_code == 405


@pytest.mark.parametrize("body", [b"main;work 3\n", b"\x0a\x05ab", b"\x00\x00", b"\x08\x01", b"\xff" * 20])
def test_what_is_no_such_message_is_400_and_says_so(case: Case, send: Send, body: bytes) -> None:
    status, answer = push(send, case.token(incident=case.open), body)
    assert status == 400
    assert b"ExportProfilesServiceRequest" in answer
    assert not Evidence.objects.exists()


def test_an_empty_request_is_taken_and_keeps_nothing(case: Case, send: Send) -> None:
    assert push(send, case.token(incident=case.open), b"") == (200, b"")
    assert not Evidence.objects.exists()


def test_a_collector_that_pushes_without_end_is_slowed_down(
    case: Case, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp, "A_MINUTE", 2)
    token = case.token(incident=case.open)
    assert [push(send, token, pushed(host=str(n)))[0] for n in range(3)] == [200, 200, 429]


def test_what_was_pushed_is_read_and_says_its_sentence(case: Case, send: Send) -> None:
    request = ExportProfilesServiceRequest()
    table = request.dictionary
    table.string_table.extend(["", "samples", "count", "main", "price_basket", "service.name", "checkout-api"])
    table.function_table.add()
    table.location_table.add()
    table.mapping_table.add()
    for name in (3, 4):
        table.function_table.add(name_strindex=name)
        table.location_table.add().lines.add(function_index=len(table.function_table) - 1)
    table.stack_table.add()
    table.stack_table.add(location_indices=[2, 1])
    one = request.resource_profiles.add()
    one.resource.attributes.add(key="service.name").value.string_value = "checkout-api"
    profile = one.scope_profiles.add().profiles.add()
    profile.sample_type.type_strindex, profile.sample_type.unit_strindex = 1, 2
    profile.samples.add(stack_index=1, values=[61])
    body = gzip.compress(request.SerializeToString())
    assert push(send, case.token(incident=case.open), body, **{"Content-Encoding": "gzip"})[0] == 200
    digesting.digest(Evidence.objects.get().pk, at=timezone.now())
    found = Evidence.objects.get()
    assert (found.state, found.format) == ("ready", "otlp")
    assert "`price_basket`" in found.says


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=8))
def test_the_attributes_read_are_those_written(attributes: dict[str, str]) -> None:
    request = ExportProfilesServiceRequest()
    one = request.resource_profiles.add()
    for key, value in attributes.items():
        one.resource.attributes.add(key=key).value.string_value = value
    assert wire.resources(request.SerializeToString()) == [attributes]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(wire.NotProtobuf):
        assert isinstance(wire.resources(body), list)


def _field(number: int, inside: bytes) -> bytes:
    length, shown = len(inside), bytearray()
    while length >= 0x80:
        shown.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([number << 3 | wire.LENGTH, *shown, length]) + inside


TINY = b"\x18\x01"  # the smallest possible field, with a number that nothing reads
# Places for tiny fields: a body holds 32 million of them, and compresses to 64 KiB of gzip.
BOMBS: dict[str, Callable[[int], bytes]] = {
    "the message": lambda n: TINY * n,
    "resources": lambda n: b"\x0a\x00" * n,
    "dictionaries": lambda n: b"\x12\x00" * n,
    "a dictionary": lambda n: _field(wire.DICTIONARY, TINY * n) + _field(wire.RESOURCE_PROFILES, b""),
    "strings": lambda n: _field(wire.DICTIONARY, b"\x2a\x00" * n) + _field(wire.RESOURCE_PROFILES, b""),
    "resource profiles": lambda n: _field(wire.RESOURCE_PROFILES, TINY * n),
    "a resource": lambda n: _field(wire.RESOURCE_PROFILES, _field(wire.RESOURCE, TINY * n)),
    "attributes": lambda n: _field(wire.RESOURCE_PROFILES, _field(wire.RESOURCE, b"\x0a\x00" * n)),
    "an attribute": lambda n: _field(wire.RESOURCE_PROFILES, _field(wire.RESOURCE, _field(wire.ATTRIBUTES, TINY * n))),
}


@pytest.mark.parametrize("where", BOMBS)
def test_no_message_is_looked_at_for_longer_than_a_moment_or_takes_more_than_its_size(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = BOMBS[where](1 << 19)
    monkeypatch.setattr(wire, "FIELDS_AT_MOST", 10_000)
    tracemalloc.start()
    try:
        with contextlib.suppress(wire.TooManyFields):
            assert len(wire.resources(body)) <= wire.RESOURCES_AT_MOST
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(body)


def test_strings_that_are_repeated_by_their_index_take_no_more_than_they_would_once() -> None:
    request = ExportProfilesServiceRequest()
    request.dictionary.string_table.extend(f"{n:04}" + "é" * 498 for n in range(1_000))
    for _ in range(30):
        one = request.resource_profiles.add()
        for n in range(1_000):
            one.resource.attributes.add(key_strindex=n).value.string_value_strindex = n
    body = request.SerializeToString()
    tracemalloc.start()
    try:
        found = wire.resources(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found[0]) == wire.ATTRIBUTES_AT_MOST
    assert sum(map(len, found)) == wire.OF_ALL_AT_MOST
    assert peak < 100 << 20


def test_a_push_with_too_many_fields_is_refused_in_words(
    case: Case, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "FIELDS_AT_MOST", 1_000)
    status, answer = push(
        send, case.token(incident=case.open), gzip.compress(TINY * 2_000), **{"Content-Encoding": "gzip"}
    )
    assert status == 413
    assert b"smaller batches" in answer
    assert not Evidence.objects.exists()


def test_a_bomb_of_attributes_is_read_no_further_than_is_needed(tmp_path: Path) -> None:
    request = ExportProfilesServiceRequest()
    one = request.resource_profiles.add()
    for number in range(5_000):
        one.resource.attributes.add(key=str(number)).value.string_value = "x"
    assert len(wire.resources(request.SerializeToString())[0]) == wire.ATTRIBUTES_AT_MOST
