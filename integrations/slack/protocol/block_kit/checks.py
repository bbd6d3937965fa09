"""The building blocks of checks. A check looks at one value and records what Slack would reject."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Surface = Literal["message", "modal", "home"]


@dataclass(slots=True)
class Scan:
    """One pass over a message or view: the problems so far, and the ids seen."""

    surface: Surface
    problems: list[str] = field(default_factory=list)
    action_ids: set[str] = field(default_factory=set)
    focused: int = 0

    def note(self, problem: str, pointer: str) -> None:
        """Record a problem in Slack's format."""
        self.problems.append(f"{problem} [json-pointer:{pointer}]")


Check = Callable[[Any, str, Scan], None]


def string(most: int = 0, *, least: int = 1) -> Check:
    """Accept text of `least` to `most` characters (0: no upper limit)."""

    def check(value: Any, at: str, scan: Scan) -> None:
        if not isinstance(value, str):
            scan.note("must be a string", at)
        elif len(value) < least:
            scan.note(f"must be more than {least - 1} characters", at)
        elif most and len(value) > most:
            scan.note(f"must be less than {most + 1} characters", at)

    return check


def boolean(value: Any, at: str, scan: Scan) -> None:
    """Accept true or false."""
    if not isinstance(value, bool):
        scan.note("must be a boolean", at)


def focus(value: Any, at: str, scan: Scan) -> None:
    """Accept `focus_on_load`, which one element of a view may claim."""
    boolean(value, at, scan)
    scan.focused += value is True
    if scan.focused > 1:
        scan.note("only one element may have focus_on_load", at)


def whole(least: int = 0, most: int = 0) -> Check:
    """Accept a whole number within bounds."""

    def check(value: Any, at: str, scan: Scan) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            scan.note("must be an integer", at)
        elif value < least or (most and value > most):
            scan.note(f"must be between {least} and {most}", at)

    return check


def anything(value: Any, at: str, scan: Scan) -> None:
    """Accept any value."""


def one_of(*allowed: str) -> Check:
    """Accept one of some words."""

    def check(value: Any, at: str, scan: Scan) -> None:
        if value not in allowed:
            scan.note(f"must be one of: {', '.join(allowed)}", at)

    return check


def several(item: Check, *, most: int, least: int = 1) -> Check:
    """Accept a list of `least` to `most` items."""

    def check(value: Any, at: str, scan: Scan) -> None:
        if not isinstance(value, list):
            scan.note("must be an array", at)
            return
        if len(value) < least:
            scan.note(f"no fewer than {least} items allowed", at)
        if len(value) > most:
            scan.note(f"no more than {most} items allowed", at)
        for index, part in enumerate(value):
            item(part, f"{at}/{index}", scan)

    return check


def record(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Accept an object with these keys and no others."""
    known = {**required, **(optional or {})}

    def check(value: Any, at: str, scan: Scan) -> None:
        if not isinstance(value, dict):
            scan.note("must be an object", at)
            return
        for key in required.keys() - {key for key, part in value.items() if part is not None}:
            scan.note(f"missing required field: {key}", at)
        for key in value.keys() - known.keys() - {"type"}:
            scan.note(f"invalid additional property: {key}", at)
        for key, part in value.items():
            if key in known and part is not None:
                known[key](part, f"{at}/{key}", scan)

    return check


def typed(table: Mapping[str, Check], what: str) -> Check:
    """Accept an object whose `type` is in the table, checked by that entry."""

    def check(value: Any, at: str, scan: Scan) -> None:
        if not isinstance(value, dict):
            scan.note("must be an object", at)
            return
        chosen = table.get(str(value.get("type")))
        if chosen is None:
            scan.note(f"unsupported type for {what}: {value.get('type')}", f"{at}/type")
        else:
            chosen(value, at, scan)

    return check


def all_of(*checks: Check) -> Check:
    """Accept what every check accepts."""

    def check(value: Any, at: str, scan: Scan) -> None:
        for each in checks:
            each(value, at, scan)

    return check


def exactly_one(*keys: str) -> Check:
    """Accept an object that has one of these keys and not two."""

    def check(value: Any, at: str, scan: Scan) -> None:
        if isinstance(value, dict) and sum(value.get(key) is not None for key in keys) != 1:
            scan.note(f"exactly one of these is needed: {', '.join(keys)}", at)

    return check


def plain(most: int) -> Check:
    """Accept a plain_text object."""
    return typed({"plain_text": record({"text": string(most)}, {"emoji": boolean})}, "plain text")


def rich(most: int) -> Check:
    """Accept a plain_text or mrkdwn object."""
    table = {
        "plain_text": record({"text": string(most)}, {"emoji": boolean}),
        "mrkdwn": record({"text": string(most)}, {"verbatim": boolean}),
    }
    return typed(table, "text")
