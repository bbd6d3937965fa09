"""Send spans to an OpenTelemetry collector by OTLP over HTTP, from a background thread.

The messages are those of opentelemetry-proto, which reading profiles needs anyway; no SDK is involved.
"""

from __future__ import annotations

import atexit
import logging
import threading
import urllib.request
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1 import trace_pb2

from audit import straight
from audit.tracing import CLIENT, INTERNAL, SERVER, CommandSpan

log = logging.getLogger(__name__)
PATH: Final = "/v1/traces"
EVERY_S: Final = 2.0
SETTING: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
OPENER: Final = urllib.request.build_opener(straight.Straight)  # the headers may hold a key
PATIENCE_S: Final = 5.0
KEPT: Final = 4096  # waiting spans; if no collector responds, the oldest are dropped
KINDS: Final = {
    INTERNAL: trace_pb2.Span.SPAN_KIND_INTERNAL,
    SERVER: trace_pb2.Span.SPAN_KIND_SERVER,
    CLIENT: trace_pb2.Span.SPAN_KIND_CLIENT,
}


class SpanExport:
    """Collects spans, and sends them every two seconds; its thread starts with the first span, after any fork."""

    def __init__(self, endpoint: str, *, headers: Mapping[str, str], service: str) -> None:
        self._address = endpoint.rstrip("/") + PATH
        self._headers = {"Content-Type": "application/x-protobuf", **headers}
        self._service = service
        self._waiting: deque[CommandSpan] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._fails = False

    def take(self, span: CommandSpan) -> None:
        """Keep a span for the next batch."""
        self._waiting.append(span)
        if self._thread is None:
            self._begin()

    def flush(self) -> None:
        """Send what waits; what is not accepted is dropped, and logged once."""
        with self._lock:
            spans = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if not spans:
                return
            try:
                self._send(request(spans, service=self._service))
                self._fails = False
            except (OSError, HTTPException) as error:
                if not self._fails:
                    why = straight.why(error, setting=SETTING)
                    log.warning("traces cannot be sent (%s) and are dropped", why)
                self._fails = True

    def _send(self, message: ExportTraceServiceRequest) -> None:
        asked = urllib.request.Request(self._address, message.SerializeToString(), self._headers)  # noqa: S310 (the operator's own address)
        try:
            with OPENER.open(asked, timeout=PATIENCE_S) as answer:
                answer.read()
        except HTTPError as refused:
            refused.close()  # it holds the connection
            raise

    def _begin(self) -> None:
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="spans", daemon=True)
                with suppress(RuntimeError):  # no thread can be had: the next span tries again
                    thread.start()
                    self._thread = thread
                    atexit.register(self.flush)

    def _run(self) -> None:
        ended = threading.Event()
        while not ended.wait(EVERY_S):
            self.flush()


def request(spans: Sequence[CommandSpan], *, service: str) -> ExportTraceServiceRequest:
    """Return spans as an OTLP request. Pure."""
    made = ExportTraceServiceRequest()
    resource = made.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = service
    scope = resource.scope_spans.add()
    scope.scope.name = "firekind"
    for one in spans:
        _fill(scope.spans.add(), one)
    return made


def _fill(made: Any, one: CommandSpan) -> None:
    made.trace_id, made.span_id = bytes.fromhex(one.trace), bytes.fromhex(one.id)
    made.parent_span_id = bytes.fromhex(one.parent)
    made.name, made.kind = one.name, KINDS[one.kind]
    made.start_time_unix_nano, made.end_time_unix_nano = one.began_ns, one.ended_ns
    for key, value in one.attributes.items():
        kept = made.attributes.add(key=f"firekind.{key}").value
        if isinstance(value, int):
            kept.int_value = value
        else:
            kept.string_value = value
    if one.failed:
        made.status.code, made.status.message = trace_pb2.Status.STATUS_CODE_ERROR, one.failed
