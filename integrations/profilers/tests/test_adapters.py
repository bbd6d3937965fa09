"""Each type of source is requested by its own rules, and returns a profile that can be read."""

from __future__ import annotations

import base64
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evidence import formats
from integrations.profilers import fake
from integrations.profilers.fake.profile import STACKS
from integrations.profilers.tests.conftest import Serve
from workflows.ports import Captured, VendorError

AT = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)
SERIES = '{service_name="checkout"}'


def stacks(taken: Captured, tmp_path: Any) -> dict[str, int]:
    """Return a captured profile as folded stacks."""
    path = tmp_path / taken.file_name
    with taken.body:
        path.write_bytes(taken.body.read())
    read = formats.read_file(path, unit=taken.unit)
    found: dict[str, int] = {}
    for n in range(len(read)):
        stack = ";".join(read.names[code] for code in read.frames[read.offsets[n] : read.offsets[n + 1]])
        found[stack] = found.get(stack, 0) + int(read.values[read.default_type, n])
    return found


def test_go_is_asked_for_so_many_seconds(serve: Serve, tmp_path: Any) -> None:
    go = fake.FakePprof()
    taken = serve(go, "pprof", "/debug/pprof").capture("checkout-api", "cpu", seconds=3, at=AT)
    assert (go.asked[0].path, go.asked[0].query) == ("/debug/pprof/profile", {"seconds": ["3"]})
    assert (taken.window, taken.query) == ((AT, AT + timedelta(seconds=3)), "GET /debug/pprof/profile?seconds=3")
    assert stacks(taken, tmp_path) == STACKS


def test_go_gives_what_is_in_use_at_once_or_what_grew_meanwhile(serve: Serve) -> None:
    go = fake.FakePprof()
    profiler = serve(go, "pprof", "/debug/pprof")
    profiler.capture("checkout-api", "heap", seconds=0, at=AT).body.close()
    profiler.capture("checkout-api", "heap", seconds=5, at=AT).body.close()
    assert [asked.query for asked in go.asked] == [{"gc": ["1"]}, {"seconds": ["5"]}]


def test_a_busy_go_program_is_asked_again_later(serve: Serve) -> None:
    with pytest.raises(VendorError, match="busy") as error:
        serve(fake.FakePprof(busy=True), "pprof", "/debug/pprof").capture("checkout-api", "cpu", seconds=1, at=AT)
    assert error.value.retryable


def test_a_source_may_call_a_kind_otherwise(serve: Serve) -> None:
    profiler = serve(fake.FakePprof(), "pprof", "/debug/pprof", kinds={"wall": "block"})
    profiler.capture("checkout-api", "wall", seconds=1, at=AT).body.close()


@pytest.mark.parametrize("old", [False, True])
def test_pyroscope_merges_the_window_before(old: bool, serve: Serve, tmp_path: Any) -> None:
    server = fake.FakePyroscope(old=old, tenant="team-a")
    profiler = serve(
        server, "pyroscope", query=SERIES, headers={"X-Scope-OrgID": "$TENANT"}, environ={"TENANT": "team-a"}
    )
    taken = profiler.capture("checkout-api", "cpu", seconds=60, at=AT)
    assert taken.window == (AT - timedelta(seconds=60), AT)
    assert taken.query == f"process_cpu:cpu:nanoseconds:cpu:nanoseconds{SERIES}"
    assert stacks(taken, tmp_path) == STACKS
    assert len(server.asked) == 1 + old


def test_the_older_render_call_becomes_folded_stacks(serve: Serve, tmp_path: Any) -> None:
    taken = serve(fake.FakePyroscope(), "pyroscope-render", query="checkout.cpu{}").capture(
        "checkout-api", "cpu", seconds=60, at=AT
    )
    assert taken.unit == "nanoseconds"
    assert stacks(taken, tmp_path) == STACKS


def test_parca_merges_the_window_before(serve: Serve, tmp_path: Any) -> None:
    taken = serve(fake.FakeParca(), "parca", query='{job="x"}').capture("checkout-api", "heap", seconds=60, at=AT)
    assert taken.query == 'memory:inuse_space:bytes:space:bytes{job="x"}'
    assert stacks(taken, tmp_path) == STACKS


def test_elastic_is_asked_with_the_credentials_that_the_list_names(serve: Serve, tmp_path: Any) -> None:
    said = f"Basic {base64.b64encode(b'eve:secret').decode()}"
    profiler = serve(
        fake.FakeElastic(authorization=said),
        "elastic",
        query='{"term": {"service.name": "checkout"}}',
        headers={"Authorization": "basic $ELASTIC"},
        environ={"ELASTIC": "eve:secret"},
    )
    taken = profiler.capture("checkout-api", "cpu", seconds=60, at=AT)
    assert stacks(taken, tmp_path) == {"main;serve;price": 60, "main;serve;charge": 30, "vmlinux_[k]": 10}


@pytest.mark.parametrize(
    ("one", "type", "query"),
    [
        (fake.FakePyroscope(empty=True), "pyroscope", SERIES),
        (fake.FakePyroscope(empty=True), "pyroscope-render", SERIES),
        (fake.FakeParca(empty=True), "parca", SERIES),
        (fake.FakeElastic(empty=True), "elastic", ""),
    ],
)
def test_a_window_without_samples_is_asked_about_again(one: fake.Fake, type: str, query: str, serve: Serve) -> None:
    with pytest.raises(VendorError, match="no_samples") as error:
        serve(one, type, query=query).capture("checkout-api", "cpu", seconds=60, at=AT)
    assert error.value.retryable


@pytest.mark.parametrize("type", ["pyroscope", "pyroscope-render", "parca", "elastic"])
@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b"\xff\xff\xff\xff", b'{"flamebearer": {"names": 3}}'])
def test_an_answer_of_another_kind_is_said_to_be_one(type: str, body: bytes, serve: Serve) -> None:
    one = fake.FakeParca()
    one.next = [fake.SourceReply(200, body), fake.SourceReply(200, b"")]
    with pytest.raises(VendorError):
        serve(one, type, query=SERIES if type != "elastic" else "").capture("checkout-api", "cpu", seconds=60, at=AT)


@pytest.mark.parametrize(
    ("status", "retryable", "says"),
    [
        (302, False, "Redirects are not followed"),
        (401, False, "credentials"),
        (404, False, "address and kinds"),
        (429, True, "answered 429"),
        (503, True, "answered 503: try later"),
    ],
)
def test_what_a_source_refuses_is_said_with_the_next_step(
    status: int, retryable: bool, says: str, serve: Serve
) -> None:
    go = fake.FakePprof()
    go.next = [fake.SourceReply(status, b"try later\n", {"Location": "http://127.0.0.1:1/"})]
    with pytest.raises(VendorError) as error:
        serve(go, "pprof", "/debug/pprof").capture("checkout-api", "cpu", seconds=1, at=AT)
    assert (error.value.retryable, says in error.value.says) == (retryable, True), error.value.says
    assert len(go.asked) == 1


def test_what_is_not_on_the_list_is_not_asked(serve: Serve) -> None:
    go = fake.FakePprof()
    profiler = serve(go, "pprof", "/debug/pprof")
    for source, kind in (("http://127.0.0.1/", "cpu"), ("checkout-api", "mutex")):
        with pytest.raises(VendorError, match="not_listed"):
            profiler.capture(source, kind, seconds=1, at=AT)
    assert not go.asked


def test_a_credential_that_is_not_there_is_named(serve: Serve) -> None:
    go = fake.FakePprof()
    with pytest.raises(VendorError) as error:
        serve(go, "pprof", headers={"X-Key": "$NOT_HERE"}).capture("checkout-api", "cpu", seconds=1, at=AT)
    assert "The variable NOT_HERE" in error.value.says
    assert not go.asked


def test_the_link_leads_to_the_same_window(serve: Serve) -> None:
    profiler = serve(
        fake.FakePyroscope(),
        "pyroscope",
        query=SERIES,
        link="https://grafana.test/?q={query}&from={from_ms}&to={to_ms}",
    )
    taken = profiler.capture("checkout-api", "cpu", seconds=60, at=AT)
    taken.body.close()
    begin, end = int((AT - timedelta(seconds=60)).timestamp()) * 1000, int(AT.timestamp()) * 1000
    assert taken.link == f"https://grafana.test/?q=%7Bservice_name%3D%22checkout%22%7D&from={begin}&to={end}"


def test_what_was_taken_is_a_file_that_is_gone_once_closed(serve: Serve) -> None:
    taken = serve(fake.FakePprof(), "pprof", "/debug/pprof").capture("checkout-api", "cpu", seconds=1, at=AT)
    assert taken.body.seek(0, io.SEEK_END) > 0
    taken.body.close()
