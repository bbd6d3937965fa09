"""Sync user groups: compare who belongs in them with the workspace, and write the difference.

Writing a group takes a claim on its rule, so that two processes looking at the same time do not write twice. No
transaction is open while Slack is called.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.db.models import Q, QuerySet

from incidents.claiming.glance import Moment, Sql
from incidents.claiming.shared_clock import clock
from workflows import ports
from workflows.chat_port import Chat
from workflows.models import DirectoryRead, Group, GroupRule, Limit
from workflows.ports import VendorError
from workflows.usergroups import absent_groups, group_membership, groups, history, workspace_cache
from workflows.usergroups.group_membership import GroupQuery
from workflows.usergroups.groups import GroupDecision
from workflows.usergroups.history import Look, Synced

log = logging.getLogger(__name__)

CHAT: Final = "chat"  # whose limits
METHOD: Final = "usergroups.users.update"
CLAIM: Final = timedelta(seconds=60)  # far longer than a call can take
AGAIN: Final = timedelta(seconds=30)
REFUSED_FOR: Final = timedelta(hours=1)  # for a workspace setting, or a group that Slack rejects
OF_PEOPLE: Final = {"invalid_users", "failed_for_some_users"}  # someone left or became a guest, which is not known yet
OF_THE_WORKSPACE: Final = {"permission_denied", "plan_upgrade_required", "missing_scope", "invalid_auth"}
PATIENCE: Final = 3  # unanswered calls before the other groups wait for the next look
UNREACHED: Final = {"connection_failed", "certificate"}  # nothing was sent, and the next call would fail too

# Rules to look at: never looked at, changed since, at their handover, or with changed shifts, people or group. A claim
# or a pause that has not expired excludes a rule.
DUE: Final = """
    SELECT r.handle FROM workflows_grouprule r
      LEFT JOIN workflows_group g ON g.handle = r.handle
     CROSS JOIN (SELECT max(groups_at) AS groups_at FROM workflows_directoryread) d
     CROSS JOIN (SELECT greatest(max(shifts_at), max(directory_at)) AS read_at FROM workflows_pagerread) p
     CROSS JOIN (SELECT max(matched_at) AS matched_at FROM workflows_pageruser) u
     WHERE r.active
       AND coalesce(r.claimed_until, '-infinity') <= %(at)s AND coalesce(r.try_again_at, '-infinity') <= %(at)s
       AND (r.checked_at IS NULL OR r.edited_at > r.checked_at OR r.look_at <= %(at)s OR r.try_again_at IS NOT NULL
            OR p.read_at > r.checked_at OR u.matched_at > r.checked_at
            OR d.groups_at > coalesce(r.changed_at, '-infinity') AND NOT (
               coalesce(g.members, '{}') @> r.members AND coalesce(g.members, '{}') <@ r.members))
"""


def worth_a_look(now: Moment) -> Sql:
    """Return the statement that finds groups worth a look."""
    return Sql(DUE, {"at": now.shared})


def due(*, at: datetime) -> list[str]:
    """Return the handles of groups worth a look: one query."""
    with connection.cursor() as cursor:
        cursor.execute(DUE, {"at": clock.at(at)})
        return [handle for (handle,) in cursor.fetchall()]


def sync(*, at: datetime, only: Collection[str] = ()) -> list[Synced]:
    """Look at every active rule, or ``only`` some, and write the groups that differ; return their states.

    Asking for a single group retries what was refused a while ago. A group that cannot be written holds up no other.
    """
    chat = ports.chat()
    if chat is None:
        return []
    _read_groups(at=at)
    at = clock.at(at)  # so that hosts agree on what is newer: what was read, what someone changed, or their last look
    rules = GroupRule.objects.filter(active=True).exclude(claimed_until__gt=at)
    rules = rules.filter(handle__in=only) if only else rules.exclude(try_again_at__gt=at)
    looks = look(rules, at=at)
    quiet, differing = [one for one in looks if not one.verdict.write], [one for one in looks if one.verdict.write]
    return [*history.looked(quiet, at=at), *_Round(chat, at).run(differing)]


def differing(*, at: datetime) -> list[Look]:
    """Read the workspace's groups; return the looks at those that would be written. Raises ``VendorError``."""
    rules = GroupRule.objects.filter(active=True)
    if not rules.exists():
        return []
    workspace_cache.refresh(at=at)
    return [one for one in look(rules, at=clock.at(at)) if one.verdict.write]


def look(asked: QuerySet[GroupRule], *, at: datetime) -> list[Look]:
    """Compare who belongs in each rule's group with who is in it, as last read: at most eight queries."""
    rules = list(asked.prefetch_related("permanent"))
    there = {one.handle: one for one in Group.objects.filter(handle__in=[rule.handle for rule in rules])}
    why = absent_groups.why({rule.handle: there.get(rule.handle) for rule in rules})
    read = DirectoryRead.objects.first()
    standings = group_membership.stand([GroupQuery.of(rule) for rule in rules], at=at)
    return [
        _look(rule, there.get(rule.handle), known, read, why=why.get(rule.handle, ""))
        for rule, known in zip(rules, standings, strict=True)
    ]


def _look(
    rule: GroupRule, group: Group | None, known: group_membership.GroupStatus, read: DirectoryRead | None, *, why: str
) -> Look:
    if read is None:
        return Look(
            rule, known.belonging, None, GroupDecision("waiting", "The workspace's groups have not been read yet.")
        )
    here = _here(rule, group, read)
    unsure = _another_group(rule, group) or known.unsure
    decided = groups.verdict(known.belonging, handle=rule.handle, here=here, unsure=unsure, why=why)
    return Look(rule, known.belonging, group, decided, frozenset(here or ()), read.groups_at)


def _another_group(rule: GroupRule, group: Group | None) -> str:
    """Say that a group is not the one that a rule was made for, as in another workspace; else return nothing."""
    if group is None or rule.chat_id in {"", group.chat_id}:
        return ""
    return (
        f"@{rule.handle} is a different group from the one this rule was made for: another Slack workspace is "
        "connected. Pause and resume the rule, or edit it, to let this group follow; until then it keeps its "
        "current members."
    )


def _here(rule: GroupRule, group: Group | None, read: DirectoryRead) -> Collection[str] | None:
    """Return who is in a group. If it was read before our last change, our own record is newer."""
    if group is None:
        return None
    return rule.members if rule.changed_at is not None and read.groups_at <= rule.changed_at else group.members


def _read_groups(*, at: datetime) -> None:
    """Read the workspace's groups if they are known to be old: one call. If it fails, the old ones are used."""
    if not workspace_cache.is_old(at=at):
        return
    try:
        workspace_cache.refresh(at=at)
    except VendorError as error:
        log.warning("could not read the groups: %s", error)


@dataclass(slots=True)
class _Round:
    """One round of writing groups: what stops one of them may stop the rest."""

    chat: Chat
    at: datetime
    unanswered: int = 0
    stopped: VendorError | None = None

    def run(self, looks: Sequence[Look]) -> list[Synced]:
        """Write each group in turn, unless the workspace does not let us write any."""
        if looks and (until := _blocked_until(at=self.at)):
            return history.waiting(looks, "Slack is rate limiting. Retrying automatically.", until=until, at=self.at)
        return [synced for one in looks if (synced := self._write(one.rule)) is not None]

    def _write(self, rule: GroupRule) -> Synced | None:
        if not _claimed(rule, at=self.at):
            return None  # another process is writing it
        [one] = look(GroupRule.objects.filter(pk=rule.pk), at=self.at)  # read again, now that no one else writes
        if not one.verdict.write:
            return history.looked([one], at=self.at)[0]
        if history.is_contested(one, at=self.at):
            return history.contested(one, at=self.at)
        if self.stopped is not None:
            return self._refused(one, self.stopped)
        return self._called(one)

    def _called(self, one: Look) -> Synced | None:
        assert one.group is not None, "a group that does not exist is not written"
        if (begun := history.begin(one, at=self.at)) is None:
            return None  # another process took over the rule
        try:
            self.chat.set_group(one.group.chat_id, sorted(one.verdict.write))
        except VendorError as error:
            log.warning("group rule %s: %s", one.rule.pk, error)
            return self._noted(one, error)
        self.unanswered = 0
        return history.written(one, *begun, at=self.at)

    def _noted(self, one: Look, error: VendorError) -> Synced:
        self.unanswered += error.unknown or error.code in UNREACHED
        if error.retry_after is not None:
            _block(error.method, self.at + timedelta(seconds=error.retry_after))
        if error.unknown:
            workspace_cache.mark_stale()  # it may have gone through
        if error.retry_after is not None or error.code in OF_THE_WORKSPACE or self.unanswered >= PATIENCE:
            self.stopped = error
        return self._refused(one, error)

    def _refused(self, one: Look, error: VendorError) -> Synced:
        pause = REFUSED_FOR if not error.retryable else AGAIN
        if error.code in OF_PEOPLE:
            pause = workspace_cache.PEOPLE_EVERY
        if error.retry_after is not None:
            pause = timedelta(seconds=error.retry_after)
        return history.refused(one, error, again_at=self.at + pause, at=self.at)


def _claimed(rule: GroupRule, *, at: datetime) -> bool:
    free = Q(claimed_until=None) | Q(claimed_until__lte=at)
    return bool(GroupRule.objects.filter(free, pk=rule.pk, active=True).update(claimed_until=at + CLAIM))


def _blocked_until(*, at: datetime) -> datetime | None:
    limit = Limit.objects.filter(vendor=CHAT, method=METHOD, blocked_until__gt=at).first()
    return limit.blocked_until if limit is not None else None


def _block(method: str, until: datetime) -> None:
    Limit.objects.update_or_create(vendor=CHAT, method=method, defaults={"blocked_until": until})
