"""Sample incidents as written in fixtures/samples.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from config.env import ROOT

FILE = ROOT / "fixtures" / "samples.yaml"
UNITS = {"m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True, slots=True)
class SampleStep:
    """One entry: the time since the declaration, who, which verb, its words, and the verb's other arguments."""

    after: timedelta
    by: str
    verb: str
    words: str
    more: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SampleIncident:
    """One incident: how long ago it was declared, its declarer and type, and what followed."""

    title: str
    summary: str
    type: str
    by: str
    ago: timedelta
    services: tuple[str, ...]
    steps: tuple[SampleStep, ...]


def read(path: Path = FILE) -> list[SampleIncident]:
    """Read all of them, oldest first."""
    with path.open(encoding="utf-8") as file:
        found = [_incident(one) for one in yaml.safe_load(file)["incidents"]]
    return sorted(found, key=lambda one: one.ago, reverse=True)


def _incident(body: Mapping[str, Any]) -> SampleIncident:
    steps = tuple(_step(*one) for one in body.get("steps", ()))
    services = tuple(body.get("services", ()))
    return SampleIncident(
        body["title"], body["summary"], body["type"], body["by"], _length(body["ago"]), services, steps
    )


def _step(minutes: int, by: str, verb: str, words: str = "", more: Mapping[str, Any] | None = None) -> SampleStep:
    return SampleStep(timedelta(minutes=minutes), by, verb, words, more or {})


def _length(text: str) -> timedelta:
    """Read ``9d 2h`` or ``40m``."""
    return sum((timedelta(**{UNITS[one[-1]]: int(one[:-1])}) for one in text.split()), timedelta())
