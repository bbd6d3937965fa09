"""Where traces are sent: the configured address, and what a collector receives."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from audit import tracing
from audit.tests.speaking import speaking_no_http
from audit.tracing import CommandSpan
from config import env
from config.parsing import tracing_settings
from config.process.span_export import SpanExport


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> list[CommandSpan]:
    found: list[CommandSpan] = []
    monkeypatch.setattr(tracing, "listeners", [found.append])
    return found


def test_a_collector_is_sent_spans_and_one_that_is_away_costs_nothing(spans: list[CommandSpan]) -> None:
    with pytest.raises(ValueError, match="no"), tracing.span("declared", incident=7, door="slack"):
        raise ValueError("no")
    came: list[tuple[str, str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.append((self.path, self.headers["Api-Key"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        export = SpanExport(f"http://127.0.0.1:{server.server_port}/", headers={"Api-Key": "k"}, service="here")
        export.take(spans[0])
        export.flush()
        server.shutdown()
    export.take(spans[0])
    export.flush()  # no one listens any more

    ((path, key, body),) = came
    assert (path, key) == ("/v1/traces", "k")
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    assert resource.resource.attributes[0].value.string_value == "here"
    (sent,) = resource.scope_spans[0].spans
    assert (sent.name, sent.trace_id.hex(), sent.status.message) == ("declared", spans[0].trace, "ValueError")
    assert {one.key: one.value.int_value or one.value.string_value for one in sent.attributes} == {
        "firekind.incident": 7,
        "firekind.door": "slack",
    }


def test_a_collector_that_answers_no_http_does_not_end_who_sends(spans: list[CommandSpan]) -> None:
    with tracing.span("declared"):
        pass
    with speaking_no_http() as address:
        export = SpanExport(address, headers={}, service="here")
        export._waiting.append(spans[0])
        export.flush()  # in the thread that sends, which nothing would restart


def test_settings_name_a_collector_or_nothing() -> None:
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}
    headers = {"OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x-team=us"}
    assert tracing_settings.read({}) is None
    read = tracing_settings.read(endpoint | headers)
    assert read is not None
    assert (dict(read.headers), read.service) == ({"api-key": "a b", "x-team": "us"}, "firekind")
    for wrong in (
        headers,
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector"},
        endpoint | {"OTEL_EXPORTER_OTLP_HEADERS": "x"},
    ):
        with pytest.raises(env.SettingError, match="OTEL_"):
            tracing_settings.read(wrong)
