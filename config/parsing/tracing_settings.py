"""Where traces are sent: OpenTelemetry's own setting names, as far as they are used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from config.parsing.values import SettingError, require, url

NAMES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SERVICE_NAME")


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """A collector that accepts OTLP over HTTP, and the headers it needs."""

    endpoint: str
    headers: Mapping[str, str] = field(repr=False)
    service: str


def read(given: Mapping[str, str]) -> TracingSettings | None:
    """Return the collector, or None if none is set. Raises SettingError."""
    if "OTEL_EXPORTER_OTLP_ENDPOINT" not in given:
        if "OTEL_EXPORTER_OTLP_HEADERS" in given:
            require(given, "OTEL_EXPORTER_OTLP_ENDPOINT", because="OTEL_EXPORTER_OTLP_HEADERS is")
        return None
    endpoint = url(given, "OTEL_EXPORTER_OTLP_ENDPOINT", schemes=("https", "http"))
    pairs = [one.partition("=") for one in given.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",") if one.strip()]
    for name, sign, _ in pairs:
        if not sign or not re.fullmatch(r"[A-Za-z0-9-]+", name.strip()):
            raise SettingError("OTEL_EXPORTER_OTLP_HEADERS must be name=value, with commas between them.")
    headers = {name.strip(): unquote(value.strip()) for name, _, value in pairs}
    return TracingSettings(endpoint, headers, given.get("OTEL_SERVICE_NAME", "firekind"))
