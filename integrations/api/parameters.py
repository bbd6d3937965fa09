"""Query parameters of an upload, validated before anything is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from django.http import QueryDict

from evidence.models.evidence import Phase
from incidents import lifecycle, search

LONGEST: Final = {"title": 200, "unit": 40, "variant": 80, "source": 200, "file_name": 120}
WAIT_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class UploadParameters:
    """What is said of a file: its window of time, phase, variant, unit, source; how long to wait for its sentence.

    ``is_control`` marks the variant that others are measured against.
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
    """Read the parameters; raise ``BadInput`` that names the one which cannot be used."""
    texts = {name: _text(given, name, most) for name, most in LONGEST.items()}
    begin, end = _moment(given, "from"), _moment(given, "to")
    if begin and end and end < begin:
        raise lifecycle.BadInput("to", "The window ends before it starts.")
    phase = given.get("phase", "")
    if phase and phase not in Phase.values:
        raise lifecycle.BadInput("phase", f"A phase is one of {', '.join(Phase.values)}, or empty.")
    return UploadParameters(
        **texts, phase=phase, is_control=given.get("control") == "1", window=(begin, end), wait_s=_wait(given)
    )


def _text(given: QueryDict, name: str, most: int) -> str:
    said = " ".join(given.get(name, "").split())
    if any(not one.isprintable() for one in said):
        raise lifecycle.BadInput(name, "Control characters are not allowed.")
    if len(said) > most:
        raise lifecycle.BadInput(name, f"At most {most} characters; this has {len(said)}.")
    return said


def _moment(given: QueryDict, name: str) -> datetime | None:
    """Read a time: ISO 8601 with its zone, or seconds since 1970."""
    said = given.get(name, "").strip().replace(" ", "+")  # a plus of a zone that was not escaped
    if not said:
        return None
    try:
        if _is_number(said):
            return datetime.fromtimestamp(float(said), tz=UTC)
        return search.moment(said)
    except (ValueError, OverflowError, OSError):
        says = "Use a time like 2026-11-21T10:00:00Z, or seconds since 1970."
        raise lifecycle.BadInput(name, says) from None


def _wait(given: QueryDict) -> float:
    said = given.get("wait", "0").strip() or "0"
    if not _is_number(said):
        raise lifecycle.BadInput("wait", f"Use a number of seconds, at most {WAIT_S:g}.")
    return min(float(said), WAIT_S)


def _is_number(said: str) -> bool:
    whole, _, rest = said.partition(".")
    return said.isascii() and whole.isdecimal() and (rest == "" or rest.isdecimal()) and len(said) < 20
