"""Query parameters of an upload, validated before anything is stored."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.http import QueryDict

from incidents import lifecycle, search

LONGEST: Final = {"title": 200, "unit": 40, "variant": 80, "source": 200, "file_name": 120}
WAIT_S: Final = 30.0
NUMBER: Final = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
LEAP: Final = re.compile(r"(.{10}T[0-9]{2}:[0-9]{2}):60(?:\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
# A time that every page can show in any time zone.
FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(8999, 12, 31, 23, 59, 59, tzinfo=UTC)
LATEST_S: Final = int(LATEST.timestamp())


@dataclass(frozen=True, slots=True)
class UploadParameters:
    """What an upload states about its file: time window, phase, variant, unit and source; and how long to wait.

    ``is_control`` marks the variant that others are compared with.
    """

    title: str = ""
    unit: str = ""
    variant: str = ""
    source: str = ""
    file_name: str = ""
    phase: str = ""
    is_control: bool = False
    window: tuple[datetime | None, datetime | None] = (None, None)
    wait_s: float = 0.0


def read(given: QueryDict) -> UploadParameters:
    """Parse the parameters. Raises ``BadInput`` naming the parameter that cannot be used."""
    texts = {name: _text(given, name) for name in LONGEST}
    begin, end = _moment(given, "from"), _moment(given, "to")
    if begin and end and end < begin:
        raise lifecycle.BadInput("to", "The window ends before it starts.")
    return UploadParameters(
        **texts,
        phase=given.get("phase", ""),
        is_control=given.get("control") == "1",
        window=(begin, end),
        wait_s=_wait(given),
    )


def _text(given: QueryDict, name: str) -> str:
    said = " ".join(given.get(name, "").split())
    if any(unicodedata.category(one) == "Cc" for one in said):
        raise lifecycle.BadInput(name, "Control characters are not allowed.")
    return said


def _moment(given: QueryDict, name: str) -> datetime | None:
    """Parse a time: ISO 8601 with its zone, or seconds since 1970."""
    said = given.get(name, "").strip().replace(" ", "+")  # the zone's plus sign may not have been escaped
    if not said:
        return None
    try:
        return _of_number(float(said)) if NUMBER.fullmatch(said) else _of_text(said)
    except (ValueError, OverflowError):
        says = f"Use a time like 2026-11-21T10:00:00Z, or seconds since 1970, before the year {LATEST.year + 1}."
        raise lifecycle.BadInput(name, says) from None


def _of_number(seconds: float) -> datetime:
    if seconds > LATEST_S:
        raise OverflowError
    return datetime.fromtimestamp(seconds, tz=UTC)


def _of_text(said: str) -> datetime:
    """Parse a time as people write it; the leap second 23:59:60 counts as the first second of the next day."""
    leap = LEAP.fullmatch(said)
    at = search.moment(f"{leap[1]}:59{leap[2]}" if leap else said)
    if not FIRST.year <= int(said[:4]) <= LATEST.year or (leap and (at.hour, at.minute) != (23, 59)):
        raise ValueError(said)
    return at + timedelta(seconds=1) if leap else at


def _wait(given: QueryDict) -> float:
    said = given.get("wait", "") or "0"
    if not NUMBER.fullmatch(said):
        raise lifecycle.BadInput("wait", f"Use a number of seconds, at most {WAIT_S:g}.")
    return min(float(said), WAIT_S)
