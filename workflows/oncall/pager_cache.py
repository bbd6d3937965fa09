"""The pager cache and how it is refreshed: people, targets, and who is on call when."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction

from incidents.claiming import turns
from incidents.claiming.recent import is_recent
from workflows import pager_account, ports
from workflows.models import PagerRead, PagerTarget, PagerUser, Shift
from workflows.oncall import in_use, overrides, people, turn_rows
from workflows.oncall.turn_rows import TurnRow
from workflows.pager_port import Pager, PagerPerson, Target, Turn
from workflows.ports import VendorError

log = logging.getLogger(__name__)

What = PagerRead.What
EVERY: Final = {What.DIRECTORY: timedelta(minutes=15), What.SHIFTS: timedelta(seconds=30)}
BACK, NEAR, AHEAD = timedelta(hours=1), timedelta(days=1), timedelta(days=14)  # the range of shifts to read
FAR_EVERY: Final = timedelta(minutes=15)
PAUSE_S, LONGEST_PAUSE_S = 15, 120


def is_old(what: What, read: PagerRead, *, at: datetime, than: timedelta | None = None) -> bool:
    """Return whether this was never read, or not since ``than``; by default, since its regular interval."""
    read_at = read.shifts_at if what == What.SHIFTS else read.directory_at
    return not is_recent(read_at, at=at, within=EVERY[what] if than is None else than)


def refresh(*, at: datetime) -> bool:
    """Read the pager's people and targets and match the people; return whether anything changed.

    Calls the vendor outside any transaction; raises ``VendorError``. Rows are never deleted, only marked gone. If
    another process read everything while our request was under way, its answer is newer, and ours changes nothing.
    """
    pager = ports.pager()
    if pager is None:
        return False
    last = _last_read("directory_at")
    with _noting(What.DIRECTORY, at=at):
        known, targets = pager.people(), pager.targets()
        _refuse_nobody(known)
    with transaction.atomic():
        _alone()
        if _last_read("directory_at") != last:
            return False
        pager_account.arrive(pager, [one.id for one in targets], people=[one.id for one in known], at=at)
        told = _write_targets(targets)
        changed = [_write_users(known), people.join(at=at), told]
        _read(
            What.DIRECTORY,
            {"directory_at": at, "connection": pager.connection} | ({"shifts_until": None} if told else {}),
        )
    return any(changed)


def refresh_shifts(*, at: datetime) -> bool:
    """Read who is on call when, for the subjects in use; return whether on-call differs from the last read.

    Reads one day ahead, and two weeks ahead every so often and whenever that day has changed: a new day laid over two
    old weeks would make up shifts where they meet. PagerDuty's rate limit is lowest for on-calls. Calls the vendor
    outside any transaction; raises ``VendorError``. Anyone the answer leaves out is not on call; an answer changes
    nothing if another process has read the shifts meanwhile.
    """
    pager = ports.pager()
    if pager is None:
        return False
    last = _last_read("shifts_at")
    policies, schedules = in_use.subjects()
    far = _is_far_due([*policies, *schedules], at=at)
    since, until = at - BACK, at + (AHEAD if far else NEAR)
    new = _ask(pager, policies, schedules, at=at, until=until)
    if not far and not turn_rows.agree(map(_kept, Shift.objects.all()), new, since=at, until=until):
        far, until = True, at + AHEAD
        new = _ask(pager, policies, schedules, at=at, until=until)
    with transaction.atomic():
        _alone()
        if _last_read("shifts_at") != last:
            return False
        joined = people.join(at=at)  # the workspace may have reported more of its people since
        shifts = {_kept(shift): shift.pk for shift in Shift.objects.all()}
        before = turn_rows.on_call(shifts, at=last or at)
        after = new if far else turn_rows.laid_over(shifts, new, edge=until)
        _write_shifts(shifts, after)
        _read(What.SHIFTS, {"shifts_at": at} | ({"shifts_until": until} if far else {}))
        changed = before != turn_rows.on_call(after, at=at) or joined
    overrides.refresh(schedules, at=at, since=since, until=at + AHEAD)
    return changed


def _ask(
    pager: Pager, policies: Sequence[str], schedules: Sequence[str], *, at: datetime, until: datetime
) -> set[TurnRow]:
    turns: Iterable[Turn] = ()
    if policies or schedules:
        with _noting(What.SHIFTS, at=at):
            turns = pager.turns(policies=policies, schedules=schedules, since=at - BACK, until=until)
    within = (turn for turn in turns if turn.start is None or turn.start < until)
    return {turn_rows.of(turn, since=at - BACK, until=until) for turn in within}


def _is_far_due(subjects: Collection[str], *, at: datetime) -> bool:
    """Return whether shifts are due two weeks ahead: every so often, and for subjects not read that far yet."""
    read = PagerRead.objects.first()
    far_at = read.shifts_until - AHEAD if read is not None and read.shifts_until is not None else None
    if not is_recent(far_at, at=at, within=FAR_EVERY):
        return True
    known = set(Shift.objects.values_list("subject", flat=True).distinct())
    return in_use.is_narrowed(subjects) and not known.issuperset(subjects)


READ: Final = {What.DIRECTORY: refresh, What.SHIFTS: refresh_shifts}


def has_strangers() -> bool:
    """Return whether someone is on call who was not listed when the pager's people were read."""
    return Shift.objects.exclude(user__in=PagerUser.objects.values("pager_id")).exists()


# Written as SQL, because Django takes longer to compose it than PostgreSQL to run it; ``since`` is SQL.
HANDED_OVER: Final = """
    (EXISTS (SELECT FROM workflows_shift WHERE start_at > {since} AND start_at <= %(at)s)
     OR EXISTS (SELECT FROM workflows_shift WHERE end_at > {since} AND end_at <= %(at)s))
"""
HAS_HANDED_OVER: Final = f"SELECT {HANDED_OVER.format(since='%(since)s')}"  # a constant of this module


def has_handed_over(read: PagerRead, *, at: datetime) -> bool:
    """Return whether a shift began or ended since the shifts were last read."""
    if read.shifts_at is None:
        return False
    with connection.cursor() as cursor:
        cursor.execute(HAS_HANDED_OVER, {"since": read.shifts_at, "at": at})
        return bool(cursor.fetchone()[0])


def note_problem(error: VendorError, *, what: What, at: datetime) -> None:
    """Record that the pager could not be read and when to ask again; what we know is kept.

    A transient error stops all reading, any other only this one. The wait grows with the outage, up to two minutes,
    unless the pager says how long.
    """
    log.warning("could not read PagerDuty: %s", error)
    read, _ = PagerRead.objects.get_or_create(pk=1)
    since = read.failed_at or at
    pause_s = min(max(PAUSE_S, (at - since).total_seconds() / 4), LONGEST_PAUSE_S)
    PagerRead.objects.filter(pk=1).update(
        failed_at=since,
        failing=what if not error.retryable and read.failing in (what, What.NOTHING) else What.EVERYTHING,
        says=error.says,
        ask_at=at + timedelta(seconds=error.retry_after or pause_s),
    )


@contextmanager
def _noting(what: What, *, at: datetime) -> Iterator[None]:
    try:
        yield
    except VendorError as error:
        note_problem(error, what=what, at=at)
        raise


def _refuse_nobody(known: Collection[PagerPerson]) -> None:
    """Raise ``VendorError`` if the pager lists no one: the owner of the key always exists."""
    if not known:
        says = "PagerDuty returned no users. Check that the key in PAGERDUTY_API_KEY can read users."
        raise VendorError(says, code="nobody", method="users")


def _alone() -> None:
    """Let readers of the pager write one after the other."""
    turns.take("workflows.oncall.pager_cache")


def _read(what: What, values: dict[str, Any]) -> None:
    """Record that something was read; this also clears its failure."""
    PagerRead.objects.update_or_create(pk=1, defaults=values)
    over = PagerRead.objects.filter(pk=1, failing__in=[what, What.EVERYTHING])
    over.update(failed_at=None, failing=What.NOTHING, says="", ask_at=None)


def _write_users(known: Iterable[PagerPerson]) -> bool:
    before = {row.pager_id: row for row in PagerUser.objects.all()}
    said = ("name", "email", "url", "gone", "silent")
    users = {
        one.id: PagerUser(
            pager_id=one.id,
            name=one.name[:200],
            email=one.email.strip()[:254],
            url=one.url[:500],
            silent=one.silent,
        )
        for one in known
    }
    changed = [row for row in users.values() if not _same(before.get(row.pager_id), row, said)]
    PagerUser.objects.bulk_create(changed, update_conflicts=True, unique_fields=["pager_id"], update_fields=said)
    gone = PagerUser.objects.filter(gone=False).exclude(pager_id__in=users).update(gone=True)
    return bool(changed or gone)


def _write_targets(targets: Iterable[Target]) -> bool:
    before = {row.pager_id: row for row in PagerTarget.objects.all()}
    said = ("kind", "name", "url", "policy_id", "service_id", "levels", "schedules", "gone", "paused")
    listed = {one.id: _target(one) for one in targets}
    changed = [row for row in listed.values() if not _same(before.get(row.pager_id), row, said)]
    PagerTarget.objects.bulk_create(changed, update_conflicts=True, unique_fields=["pager_id"], update_fields=said)
    gone = PagerTarget.objects.filter(gone=False).exclude(pager_id__in=listed).update(gone=True)
    return bool(changed or gone)


def _target(one: Target) -> PagerTarget:
    return PagerTarget(
        pager_id=one.id,
        kind=one.kind,
        name=one.name[:200],
        url=one.url[:500],
        policy_id=one.policy,
        service_id=one.service,
        levels=one.levels,
        schedules=[list(level) for level in one.schedules],
        paused=one.paused,
    )


def _same(row: PagerUser | PagerTarget | None, other: PagerUser | PagerTarget, said: Collection[str]) -> bool:
    return row is not None and all(getattr(row, field) == getattr(other, field) for field in said)


def _write_shifts(before: Mapping[TurnRow, int], after: Collection[TurnRow]) -> None:
    Shift.objects.filter(pk__in=[pk for row, pk in before.items() if row not in after]).delete()
    new = sorted((row for row in after if row not in before), key=str)
    Shift.objects.bulk_create(
        Shift(subject=row.subject, level=row.level, user=row.user, start_at=row.start, end_at=row.end) for row in new
    )


def _kept(shift: Shift) -> TurnRow:
    return TurnRow(shift.subject, shift.level, shift.user, shift.start_at, shift.end_at)


def _last_read(field: str) -> datetime | None:
    return PagerRead.objects.values_list(field, flat=True).first()
