"""Who is on call now and next, for each schedule and each level of a policy, as last read."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from incidents.models import Person
from workflows.models import PagerTarget, PagerUser, Shift
from workflows.oncall import in_use, lookup
from workflows.oncall.lookup import Subject

SERVICES_SHOWN: Final = 10  # of one policy
Kind = PagerTarget.Kind


@dataclass(frozen=True, slots=True)
class RosterTurn:
    """A pager user who is on call; ``until`` is None if no end is known. ``person`` is the match here."""

    user: PagerUser
    until: datetime | None = None

    @property
    def person(self) -> Person | None:
        """The matching person here; None without a match, or if they may not be brought in."""
        person = self.user.person
        return person if person is not None and person.can_join else None

    @property
    def name(self) -> str:
        """Their name here, else their name in the pager."""
        return self.person.name if self.person else self.user.name

    @property
    def called(self) -> str:
        """The name, with a note if they have no match here: for texts, where no tag can be shown."""
        return self.name if self.person else f"{self.name} (not matched)"

    @property
    def names(self) -> tuple[str, str]:
        """The names to search for: the one here and the one in the pager."""
        return self.name, self.user.name


@dataclass(frozen=True, slots=True)
class RosterLine:
    """Who is on call for a schedule (level 0) or a level of a policy, and who is from ``next_at`` on, if known.

    An empty ``next`` with a time is a gap in the rota.
    """

    level: int
    now: tuple[RosterTurn, ...]
    next: tuple[RosterTurn, ...] = ()
    next_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """A schedule or an escalation policy with its lines, and the names of the services that page the policy."""

    target: PagerTarget
    lines: tuple[RosterLine, ...]
    services: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The first few of its services, enough to recognise it."""
        return self.services[:SERVICES_SHOWN]

    @property
    def more(self) -> int:
        """How many services there are beyond those shown."""
        return len(self.services) - len(self.shown)

    @property
    def names(self) -> list[str]:
        """Everything it can be searched by: its name, its services, and who is on call for it now or next."""
        turns = [turn for line in self.lines for turn in (*line.now, *line.next)]
        return [self.target.name, *self.services, *(name for turn in turns for name in turn.names)]


def whole(*, at: datetime) -> list[RosterEntry]:
    """Return every policy and schedule that is read, policies first, each by name: a few queries in all."""
    ids = set[str]().union(*in_use.subjects())
    return of(PagerTarget.objects.filter(pager_id__in=ids), at=at)


def of(targets: Iterable[PagerTarget], *, at: datetime) -> list[RosterEntry]:
    """Return these policies and schedules with who is on call for them."""
    targets = list(targets)
    rows: dict[Subject, list[Shift]] = defaultdict(list)
    for shift in Shift.objects.filter(subject__in=[target.pager_id for target in targets]):
        rows[shift.subject, shift.level].append(shift)
    users = lookup.users_of({shift.user for shifts in rows.values() for shift in shifts})
    services = services_of(targets)
    return [
        RosterEntry(
            target,
            tuple(line(rows[target.pager_id, level], level, users, at=at) for level in levels(target, rows)),
            tuple(services[target.pager_id]),
        )
        for target in targets
    ]


def services_of(targets: Iterable[PagerTarget]) -> Mapping[str, list[str]]:
    """Return the names of the services that page these policies, by the policies' pager ids."""
    policies = [one.pager_id for one in targets if one.kind == Kind.POLICY]
    rows = PagerTarget.objects.filter(kind=Kind.SERVICE, gone=False, policy_id__in=policies)
    found: dict[str, list[str]] = defaultdict(list)
    for policy, name in sorted(rows.values_list("policy_id", "name"), key=lambda one: one[1].casefold()):
        found[policy].append(name)
    return found


def named(words: str, *, among: Collection[RosterEntry]) -> list[RosterEntry]:
    """Return those with a name or id, ignoring case, or with a service of that name; else those that contain it."""
    wanted = " ".join(words.split()).casefold()
    exact = [one for one in among if wanted in {one.target.pager_id.casefold(), *_names(one)}]
    return exact or [one for one in among if any(wanted in name for name in _names(one))]


def once(entries: Sequence[RosterEntry]) -> list[RosterEntry]:
    """Drop schedules that only repeat a level of a policy in the list, which pages just that schedule."""
    said = {
        (known[0], replace(one, level=0))
        for entry in entries
        if entry.target.kind == Kind.POLICY
        for one in entry.lines
        if len(known := schedules(entry.target, one.level)) == 1
    }
    return [one for one in entries if not any((one.target.pager_id, line) in said for line in one.lines)]


def _names(entry: RosterEntry) -> list[str]:
    return [name.casefold() for name in (entry.target.name, *entry.services)]


def nearest(words: str, *, among: Collection[RosterEntry]) -> str:
    """Return the name closest to what was typed; empty if none is close."""
    names = {name.casefold(): name for one in among for name in (*one.services, one.target.name)}
    close = difflib.get_close_matches(words.casefold(), names, n=1, cutoff=0.5)
    return names[close[0]] if close else ""


def line(shifts: Sequence[Shift], level: int, users: Mapping[str, PagerUser], *, at: datetime) -> RosterLine:
    """Return who is on call at a moment, and who is from the first later moment at which that changes."""
    now = _on(shifts, at=at)
    for moment in sorted({moment for one in shifts for moment in (one.start_at, one.end_at) if moment and moment > at}):
        then = _on(shifts, at=moment)
        if then != now:
            return RosterLine(level, _turns(now, shifts, users, at=at), _turns(then, shifts, users, at=moment), moment)
    return RosterLine(level, _turns(now, shifts, users, at=at))


def levels(target: PagerTarget, rows: Collection[Subject]) -> Iterable[int]:
    """Return the levels of a target: 0 for a schedule, from 1 for a policy."""
    if target.kind == Kind.SCHEDULE:
        return (0,)
    return range(1, 1 + max([target.levels, *(level for subject, level in rows if subject == target.pager_id)]))


def schedules(target: PagerTarget, level: int) -> Sequence[str]:
    """Return the pager's ids of the schedules that put people on call for a level of a target."""
    if target.kind == Kind.SCHEDULE:
        return (target.pager_id,)
    known: list[list[str]] = target.schedules
    return known[level - 1] if level <= len(known) else ()


def _on(shifts: Iterable[Shift], *, at: datetime) -> frozenset[str]:
    return frozenset(one.user for one in shifts if _holds(one, at))


def _holds(shift: Shift, at: datetime) -> bool:
    return (shift.start_at is None or shift.start_at <= at) and (shift.end_at is None or shift.end_at > at)


def _turns(
    ids: Iterable[str], shifts: Sequence[Shift], users: Mapping[str, PagerUser], *, at: datetime
) -> tuple[RosterTurn, ...]:
    turns = [RosterTurn(users[id], _until([one for one in shifts if one.user == id], at)) for id in ids]
    return tuple(sorted(turns, key=lambda turn: (turn.name.casefold(), turn.user.pager_id)))


def _until(own: Sequence[Shift], at: datetime) -> datetime | None:
    """Return when someone goes off call; turns that follow each other without a gap count as one."""
    holding = [one for one in own if _holds(one, at)]
    while holding:
        if any(one.end_at is None for one in holding):
            return None
        at = max(one.end_at for one in holding if one.end_at is not None)
        holding = [one for one in own if _holds(one, at)]
    return at
