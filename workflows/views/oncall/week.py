"""This week and the next as a calendar: who is on call for what on which day, handovers, and gaps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from incidents.models import Person
from incidents.policies.policy import COLOURS
from incidents.views.signed_in import Request, signed_in
from workflows.models import PagerRead, PagerTarget, Shift, ShiftOverride
from workflows.oncall import freshness, in_use, lookup, roster, rota
from workflows.oncall.roster import RosterTurn
from workflows.oncall.rota import RotaDay, RotaStretch
from workflows.planning.wording.marks import joined
from workflows.views.oncall import rota_search
from workflows.views.oncall.members import member_or_404
from workflows.views.oncall.rota_filter import RotaFilter

DAYS: Final = 7
HUES: Final = tuple(one for one in COLOURS if one != "red")  # red is for gaps
Kind = PagerTarget.Kind


@dataclass(frozen=True, slots=True)
class WeekPeople:
    """The pager's people by their ids there, and the viewer."""

    turns: Mapping[str, RosterTurn]
    viewer: Person


@dataclass(frozen=True, slots=True)
class WeekName:
    """Someone who is on call, by an override or not; ``is_me`` if that is the viewer."""

    turn: RosterTurn
    is_override: bool
    is_me: bool


@dataclass(frozen=True, slots=True)
class WeekTurn:
    """One stretch of a day in words: who, and from when if they take over in it."""

    named: tuple[WeekName, ...]
    start: datetime | None
    stretch: RotaStretch


@dataclass(frozen=True, slots=True)
class WeekDay:
    """One day of a row: its date, its turns in words and its bars."""

    day: RotaDay
    turns: tuple[WeekTurn, ...]
    bars: Sequence[tuple[float, float, str]]


@dataclass(frozen=True, slots=True)
class WeekPart:
    """A schedule, or a level of an escalation policy, with who is on call in the week shown and in both weeks."""

    target: PagerTarget
    level: int
    shown: Sequence[RotaStretch]
    both: Sequence[RotaStretch]

    @property
    def name(self) -> str:
        """Its name, with the level of a policy."""
        return f"{self.target.name}, level {self.level}" if self.level else self.target.name


@dataclass(frozen=True, slots=True)
class WeekRow:
    """A part with its days, and the names of the levels that page only it.

    ``paged_by`` are the services that page it, ``names`` everything that it can be searched by.
    """

    part: WeekPart
    also: tuple[str, ...]
    days: tuple[WeekDay, ...]
    gaps: tuple[RotaStretch, ...]
    names: frozenset[str]
    paged_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WeekGap:
    """A period in which no one is on call: for what, whether it is now, and whether it continues past the week."""

    name: str
    stretch: RotaStretch
    is_now: bool
    goes_on: bool


@require_GET
@signed_in
def week(request: Request) -> HttpResponse:
    """Show seven days of every schedule and every policy level, from today or a week from now."""
    member_or_404(request.person)
    at = timezone.now()
    fresh = freshness.of(at=at)
    seek = RotaFilter.read(request, view="oncall-week")
    skip = DAYS if seek.is_next else 0
    among = _rows(request, at=at, skip=skip) if fresh.is_known else []
    rows = [_paged_by(seek.q, row) for row in among if rota_search.says(seek.q, row.names)] if seek.q else among
    is_missed = bool(seek.q and not rows)
    context = {
        "here": "oncall",
        "tab": "week",
        "is_next": seek.is_next,
        "seek": seek,
        "meant": seek.meant(name for row in among for name in row.names) if is_missed else None,
        "is_narrowed": is_missed and seek.is_narrowed(),
        "fresh": fresh,
        "said": joined(fresh.words(at=at), fresh.words_ahead(at=at)),
        "rows": rows,
        "gaps": _gaps(rows, at=at),
        "starts": _days(at, skip=skip),
        "others": _days(at, skip=0 if skip else DAYS),
    }
    return seek.answer(render(request, "workflows/oncall_week.html", context), request)


def _days(at: datetime, *, skip: int) -> list[datetime]:
    """Return when each of seven days begins for the viewer."""
    return list(rota.midnights(at, zone=timezone.get_current_timezone(), count=DAYS, skip=skip)[:-1])


def _gaps(rows: Sequence[WeekRow], *, at: datetime) -> list[WeekGap]:
    """Return every gap, earliest first."""
    found = [
        WeekGap(row.part.name, gap, gap.start <= at, gap.end >= row.days[-1].day.end)
        for row in rows
        for gap in row.gaps
    ]
    return sorted(found, key=lambda one: (one.stretch.start, one.name.casefold()))


def _rows(request: Request, *, at: datetime, skip: int) -> list[WeekRow]:
    """Return the schedules, then the policies; six queries for all."""
    targets = list(PagerTarget.objects.filter(pager_id__in=set[str]().union(*in_use.subjects())))
    targets.sort(key=lambda one: (one.kind != Kind.SCHEDULE, one.name.casefold(), one.pager_id))
    shifts: dict[lookup.Subject, list[Shift]] = defaultdict(list)
    for shift in Shift.objects.filter(subject__in=[target.pager_id for target in targets]):
        shifts[shift.subject, shift.level].append(shift)
    overrides: dict[str, list[ShiftOverride]] = defaultdict(list)
    for override in ShiftOverride.objects.all():
        overrides[override.schedule].append(override)
    users = lookup.users_of({one.user for some in shifts.values() for one in some})
    until = PagerRead.objects.values_list("shifts_until", flat=True).first() or at
    people = WeekPeople({id: RosterTurn(user) for id, user in users.items()}, request.person)
    midnights = rota.midnights(at, zone=timezone.get_current_timezone(), count=2 * DAYS)
    span = (midnights[skip] if skip else at, midnights[skip + DAYS])
    parts = []
    for target in targets:
        for level in roster.levels(target, shifts):
            own = shifts[target.pager_id, level]
            over = [one for schedule in roster.schedules(target, level) for one in overrides[schedule]]
            shown, both = (
                rota.ahead(own, since=since, until=end, known_until=until, overrides=over)
                for since, end in (span, (at, midnights[-1]))
            )
            parts.append(WeekPart(target, level, shown, both))
    hues = rota.hues([part.both for part in parts], HUES)
    services = roster.services_of(targets)
    return [_row(part, also, people, hues, services, at=at, skip=skip) for part, also in _once(parts)]


def _once(parts: Sequence[WeekPart]) -> Iterator[tuple[WeekPart, tuple[WeekPart, ...]]]:
    """Yield each part with the levels that page only this schedule, which need no rows of their own.

    A level that differs, for example because it was read a moment later, keeps its row.
    """
    alone = {part.target.pager_id: part for part in parts if not part.level}
    also: dict[str, list[WeekPart]] = defaultdict(list)
    kept = []
    for part in parts:
        (only, *more) = [*roster.schedules(part.target, part.level)] or [""]
        like = alone.get(only)
        if part.level and not more and like is not None and part.both == like.both:
            also[only].append(part)
        else:
            kept.append(part)
    return ((part, tuple(also[part.target.pager_id]) if not part.level else ()) for part in kept)


def _row(
    part: WeekPart,
    also: tuple[WeekPart, ...],
    people: WeekPeople,
    hues: Mapping[frozenset[str], str],
    services: Mapping[str, Sequence[str]],
    *,
    at: datetime,
    skip: int,
) -> WeekRow:
    zone = timezone.get_current_timezone()
    laid = [
        WeekDay(
            day,
            tuple(_turn(one, day, people) for one in day.stretches),
            rota.bars(day, hue=lambda users: f"k-{hues[users]}"),
        )
        for day in rota.days(part.both, now=at, zone=zone, count=DAYS, skip=skip)
    ]
    names = tuple(one.name for one in also)
    paged_by = [name for one in (part, *also) for name in services.get(one.target.pager_id, ())]
    on_call = {name for one in part.shown for id in one.users for name in people.turns[id].names}
    return WeekRow(
        part,
        names,
        tuple(laid),
        tuple(rota.gaps(part.shown)),
        frozenset({part.name, *names, *paged_by, *on_call}),
        tuple(paged_by),
    )


def _paged_by(q: str, row: WeekRow) -> WeekRow:
    """Return a row that names only those of its services that were searched for."""
    found, _ = rota_search.said_first(q, row.paged_by)
    return replace(row, paged_by=tuple(found))


def _turn(one: RotaStretch, day: RotaDay, people: WeekPeople) -> WeekTurn:
    turns = {id: people.turns[id] for id in one.users}
    named = (WeekName(turn, id in one.overriding, turn.person == people.viewer) for id, turn in turns.items())
    return WeekTurn(tuple(sorted(named, key=_by_name)), one.start if one.start in day.begins else None, one)


def _by_name(named: WeekName) -> str:
    return named.turn.name.casefold()
