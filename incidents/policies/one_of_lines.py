"""A role that exactly one person fills, as a line: *Scribe: on call for Ops, else @ops, else ana*. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from incidents.policies.policy import OneOf
from incidents.policies.policy_file import HANDLE, ROLE_CHARS, TARGET_CHARS

FORM = "Platform leadership: on call for Platform leadership, else @platform-leadership, else ana@example.com"
ON_CALL = "on call for "
ELSE = re.compile(r",\s*else\s+", re.IGNORECASE)
LINE = re.compile(r"(?P<role>[^:].*?)\s*:\s*(?P<ways>(?:on call for\s|@).*)", re.IGNORECASE)
EMAIL = re.compile(r"[^@\s:,]+@[^@\s:,]+")


class UnclearRole(ValueError):
    """A line does not say who fills a role; the message says why."""


def said(one: OneOf) -> str:
    """Write a role as a line; ``read`` parses it back."""
    return f"{one.role}: {who(one)}"


def who(one: OneOf) -> str:
    """Say who fills a role: *on call for Ops, else @ops*."""
    ways = [
        f"{ON_CALL}{one.schedule}" if one.schedule else "",
        f"@{one.group}" if one.group else "",
        one.otherwise.removeprefix("@"),
    ]
    return ", else ".join(filter(None, ways))


def line(*, role: str, schedule: str = "", group: str = "", otherwise: str = "") -> str:
    """Build the line from the fields of a form; raise ``UnclearRole`` if they do not make one."""
    if not role:
        raise UnclearRole("Name the role.")
    if not schedule and not group:
        raise UnclearRole(f"Say who can be {role}: a schedule, a group or both.")
    wanted = OneOf(role, group.lstrip("@").lower(), schedule, otherwise.removeprefix("@"))
    made = said(wanted)
    if read(made) != wanted:
        raise UnclearRole(f"{made!r} would be read as something else. Use names without colons, @ or “, else”.")
    return made


def read(line: str) -> OneOf:
    """Parse a line; raise ``UnclearRole`` if it is not a role."""
    found = LINE.fullmatch(" ".join(line.split()))
    if found is None:
        raise UnclearRole(f"{line!r} does not match “role: @group” or “{FORM}”.")
    role, ways = found["role"], ELSE.split(found["ways"])
    if len(role) > ROLE_CHARS:
        raise UnclearRole(f"A role has at most {ROLE_CHARS} characters; this one has {len(role)}: {role[:40]}…")
    schedule = ways.pop(0)[len(ON_CALL) :].strip() if ways[0].casefold().startswith(ON_CALL) else ""
    if len(schedule) > TARGET_CHARS:
        raise UnclearRole(f"A schedule's name has at most {TARGET_CHARS} characters; this one has {len(schedule)}.")
    group = _handle(ways.pop(0)) if ways and ways[0].startswith("@") else ""
    return OneOf(role, group, schedule, _person(ways))


def _handle(word: str) -> str:
    handle = word.removeprefix("@").lower()
    if not HANDLE.fullmatch(handle):
        raise UnclearRole(f"{word!r} is not a group handle: use a-z, 0-9, dots, - and _.")
    return handle


def _person(ways: Sequence[str]) -> str:
    """Parse the person to fall back on if no one is on call and no one in the group is available."""
    if len(ways) > 1:
        raise UnclearRole(f"Nothing can follow {ways[0]!r}: give a schedule, then a group, then one person.")
    person = ways[0].strip().removeprefix("@") if ways else ""
    if person.casefold().startswith(ON_CALL) or ("@" in person and not EMAIL.fullmatch(person)):
        raise UnclearRole(f"{person!r} is not a person: give an email or a name.")
    if len(person) > TARGET_CHARS:
        raise UnclearRole(f"Use at most {TARGET_CHARS} characters for the person.")
    return person
