"""A capture as a line that people read and write: *15 s of CPU from checkout-api on declare*. Pure."""

from __future__ import annotations

import re

from incidents.policies.policy import COUNTS, MEASURES, MOMENTS, Capture

FORM = "15 s of CPU from checkout-api on declare"
LINE = re.compile(
    r"(?:capture )?(?:(?P<seconds>\d{1,5}) ?s(?:econds?)? of )?(?P<kind>[\w -]+?)"
    r" from (?P<source>[a-z0-9][a-z0-9._-]{0,39}) on (?P<on>\w+)"
    r"(?:,? (?P<repeat>\d{1,5}) times,?(?: every (?P<every_min>\d{1,5}) min(?:utes)?)?)?",
    re.IGNORECASE,
)
SOURCE = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
DIGITS = re.compile(r"\d{1,5}")
KINDS = {
    word.casefold(): kind for kind, measure in MEASURES.items() for word in (kind, measure.name, measure.all) if word
}
NAMES = {"seconds": "seconds", "repeat": "times", "every_min": "minutes"}


class UnclearCapture(ValueError):
    """A line does not say what to capture; the message says why."""


def said(capture: Capture) -> str:
    """Write a capture as a line; ``read`` parses it back."""
    what = f"{capture.seconds} s of {capture.measure.name}" if capture.seconds else capture.measure.all
    again = f", {capture.repeat} times every {capture.every_min} min" if capture.repeat > 1 else ""
    return f"{what} from {capture.source} on {capture.on}{again}"


def line(*, source: str, kind: str = "", on: str = "", seconds: str = "", repeat: str = "", every_min: str = "") -> str:
    """Build the line from the fields of a form; raise ``UnclearCapture`` if they do not make one."""
    if not source:
        raise UnclearCapture("Name the source.")
    if not SOURCE.fullmatch(source.lower()):
        raise UnclearCapture(f"{source!r} is not the name of a source: use a-z, 0-9, dots, - and _.")
    for name, value in (("seconds", seconds), ("repeat", repeat), ("every_min", every_min)):
        if value and not DIGITS.fullmatch(value):
            raise UnclearCapture(f"Use a number of {NAMES[name]}, not {value!r}.")
    if every_min and not repeat:
        raise UnclearCapture("Say how many times it is captured.")
    what = f"{seconds} s of {kind}" if seconds else kind
    again = f", {repeat} times" if repeat else ""
    return f"{what} from {source} on {on}{again}{f' every {every_min} min' if every_min else ''}"


def read(line: str) -> Capture:
    """Parse a line; raise ``UnclearCapture`` if it is not a capture."""
    found = LINE.fullmatch(" ".join(line.split()))
    if found is None:
        raise UnclearCapture(f"{line!r} does not match “{FORM}”.")
    kind = KINDS.get(found["kind"].casefold())
    if kind is None:
        raise UnclearCapture(f"{found['kind']!r} cannot be captured: use one of {', '.join(MEASURES)}.")
    on = found["on"].casefold()
    if on not in MOMENTS:
        raise UnclearCapture(f"{found['on']!r} is not a trigger: use one of {', '.join(MOMENTS)}.")
    numbers = {name: _within(name, found[name]) for name in COUNTS if found[name] is not None}
    seconds = numbers.pop("seconds", 0 if MEASURES[kind].all and not found["seconds"] else MEASURES[kind].seconds)
    if not seconds and not MEASURES[kind].all:
        raise UnclearCapture(f"Add a duration, as in “{FORM}”.")
    return Capture(found["source"].lower(), kind, on, seconds, **numbers)


def _within(name: str, digits: str) -> int:
    low, high = COUNTS[name]
    if not low <= int(digits) <= high:
        raise UnclearCapture(f"Use {low} to {high} {NAMES[name]}, not {digits}.")
    return int(digits)
