"""Who belongs in a user group: those on call for a rule's sources, and its permanent people. Values only.

The central rule: what is written is the union of the two, without people who cannot be members, and never an empty
group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Protocol

from workflows.planning.things import DISABLED, GROUPLESS

Subject = tuple[str, int]  # the pager's id, and the level: 0 for a schedule, from 1 for an escalation policy


class GroupShift(Protocol):
    """Someone's turn, overrides applied; no start means since always, no end means forever."""

    @property
    def subject(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def user(self) -> str: ...
    @property
    def start_at(self) -> datetime | None: ...
    @property
    def end_at(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """Someone who should be in a group; ``why_not`` says why they cannot be, empty if they can."""

    name: str
    chat_id: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Belonging:
    """Who belongs in a group at a moment, who should but cannot be in it, until when that holds, and what follows.

    ``until`` is None if nothing changes as far as the shifts are known.
    """

    members: frozenset[str]
    left_out: tuple[Candidate, ...]
    until: datetime | None = None
    then: Belonging | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """Who joins a group and who leaves it, by chat id."""

    joins: tuple[str, ...]
    leaves: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.joins or self.leaves)


def belonging(
    shifts: Iterable[GroupShift],
    *,
    sources: Collection[Subject],
    people: Mapping[str, Candidate],
    permanent: Collection[Candidate] = (),
    at: datetime,
    known_until: datetime | None = None,
) -> Belonging:
    """Compute who belongs in a group at a moment, and the next handover.

    ``people`` are those the pager names, by its ids. Shifts that end where our knowledge does (``known_until``) are not
    handovers.
    """
    of_rule = [shift for shift in shifts if (shift.subject, shift.level) in sources]

    def when(moment: datetime) -> Belonging:
        return _split([*permanent, *(_known(people, user) for user in _on_call(of_rule, moment))])

    now = when(at)
    for moment in _moments(of_rule, at=at, known_until=known_until):
        if (then := when(moment)) != now:
            return replace(now, until=moment, then=then)
    return now


def difference(before: Iterable[str], after: Iterable[str]) -> Difference:
    """Return who joins and who leaves between two sets of members."""
    was, becomes = frozenset(before), frozenset(after)
    return Difference(tuple(sorted(becomes - was)), tuple(sorted(was - becomes)))


def _on_call(shifts: Sequence[GroupShift], at: datetime) -> set[str]:
    return {one.user for one in shifts if _is_begun(one, at) and (one.end_at is None or one.end_at > at)}


def _is_begun(shift: GroupShift, at: datetime) -> bool:
    return shift.start_at is None or shift.start_at <= at


def _moments(shifts: Sequence[GroupShift], *, at: datetime, known_until: datetime | None) -> list[datetime]:
    found = {moment for one in shifts for moment in (one.start_at, one.end_at) if moment is not None and moment > at}
    return sorted(moment for moment in found if known_until is None or moment < known_until)


def _known(people: Mapping[str, Candidate], user: str) -> Candidate:
    return people.get(user) or Candidate(user, why_not="PagerDuty mentions them but does not list them")


def _split(candidates: Collection[Candidate]) -> Belonging:
    able = frozenset(one.chat_id for one in candidates if not one.why_not)
    return Belonging(able, tuple(sorted({one for one in candidates if one.why_not})))


@dataclass(frozen=True, slots=True)
class GroupDecision:
    """The state of a group: a state of ``GroupRule``, a sentence if there is something to say, and what to write."""

    state: str
    says: str = ""
    write: frozenset[str] = frozenset()


NO_GROUP: Final = {
    "": "There is no user group @{handle} in Slack. Create it there, or delete this rule.",
    DISABLED: "The user group @{handle} is disabled in Slack. Enable it there, or delete this rule.",
    GROUPLESS: "User groups need a paid Slack plan. Delete this rule, or change the plan.",
}


def verdict(
    belonging: Belonging, *, handle: str, here: Collection[str] | None, unsure: str = "", why: str = ""
) -> GroupDecision:
    """Decide what to do with a group whose members are ``here``; None means that the group does not exist.

    ``why`` is the reason that it does not exist, if known. An empty group is never written, and nothing is while it is
    unknown who belongs in it.
    """
    if here is None:
        return GroupDecision("failed", NO_GROUP[why].format(handle=handle))
    if unsure:
        return GroupDecision("waiting", unsure)
    if not belonging.members:
        return GroupDecision(
            "waiting", f"{_nobody(belonging)}, and a group is never emptied: it keeps its current members."
        )
    return GroupDecision("true", write=frozenset() if belonging.members == frozenset(here) else belonging.members)


def _nobody(belonging: Belonging) -> str:
    if not belonging.left_out:
        return "No one is on call and no one is permanent"
    who = ", ".join(f"{one.name} {one.why_not}" for one in belonging.left_out)
    return f"No one who belongs in it can be added ({who})"
