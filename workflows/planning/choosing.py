"""Who has each one-of role, and which of a policy's groups and schedules are missing. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from incidents.policies.policy import OneOf, Policy
from incidents.sentences import enumerated
from workflows.planning.facts import Facts
from workflows.planning.invitee import Invitee
from workflows.planning.things import DISABLED, GROUPLESS, Gap


def choose(facts: Facts, *, present: set[int]) -> tuple[dict[str, Invitee], list[Gap]]:
    """Find who has each one-of role, and what is missing; ``present`` are in anyway."""
    chosen: dict[str, Invitee] = {}
    gaps: list[Gap] = []
    for role in facts.policy.one_of:
        pick, missing = _one_of(role, facts, present={*present, *(one.person_id for one in chosen.values())})
        gaps += missing
        if pick is not None:
            chosen[role.role] = pick
    return chosen, gaps


def _one_of(role: OneOf, facts: Facts, *, present: set[int]) -> tuple[Invitee | None, list[Gap]]:
    """Find who has a one-of role, and what is missing.

    A holder keeps it past the end of their shift. Otherwise it is someone on call, else one of the group, else the
    person the type names for that case; in a closed incident, only someone who is already in.
    """
    if (holder := _holder(role, facts)) is not None:
        return holder, []
    gaps: list[Gap] = []
    for members, why, gap in _candidates(role, facts):
        able = [one for one in members if not facts.is_closed or one.person_id in present]
        pick = _choose(able, present=present, away=facts.away)
        if pick is not None:
            return replace(pick, why=why), gaps
        gaps += [gap] if gap else []
    return None, gaps if gaps or not _is_known(role, facts) else [_nobody(role, facts)]


def _holder(role: OneOf, facts: Facts) -> Invitee | None:
    holder = dict(facts.roles).get(role.role) or facts.chosen.get(role.role)
    return holder if holder is not None and holder.person_id not in facts.away else None


def _candidates(role: OneOf, facts: Facts) -> Iterator[tuple[tuple[Invitee, ...], str, Gap | None]]:
    """Yield candidates for a role, best first: who, why, and what is missing if someone can fix that."""
    if role.schedule and facts.pager:
        on_call = facts.on_call.get(role.schedule, ())
        gap = _missing_schedule(role, facts.policy) if on_call is None else None
        yield on_call or (), f"on call for {role.schedule}", gap
    if role.group:
        members = facts.groups.get(role.group, ())
        gap = _missing_group(role.group, facts) if members is None else None
        yield members or (), f"the one of @{role.group}", gap
    if role.otherwise in facts.otherwise:
        yield (facts.otherwise[role.otherwise],), "named by the type", None


def _is_known(role: OneOf, facts: Facts) -> bool:
    """Return whether the candidates were looked up, so that having none is worth reporting."""
    return role.group in facts.groups or role.schedule in facts.on_call or not (role.group or facts.pager)


def _choose(members: Iterable[Invitee], *, present: set[int], away: frozenset[int]) -> Invitee | None:
    """Pick exactly one: someone who is present anyway, else the first by name."""
    able = sorted((one for one in members if one.person_id not in away), key=lambda one: (one.name, one.chat_id))
    order = sorted(able, key=lambda one: one.person_id not in present)
    return order[0] if order else None


def missing_groups(facts: Facts) -> Iterator[Gap]:
    """Yield the groups that bring no one in: missing in the workspace, never read, or with no one who may be invited.

    That no one in a group agreed to drills is not for this drill's people to fix.
    """
    if facts.policy.groups and not facts.groups:
        yield _unread_groups(facts.policy)
    for handle in (one for one in facts.policy.invite if one in facts.groups):
        if facts.groups[handle] is None:
            yield _missing_group(handle, facts)
        elif not facts.groups[handle] and not facts.is_drill:
            yield _empty_group(handle, facts.policy)


def _unread_groups(policy: Policy) -> Gap:
    handles = ", ".join(f"@{handle}" for handle in policy.groups)
    says = (
        f"The workspace's groups could not be read yet, so no one was brought in for {handles}. Retrying "
        "automatically. If this persists, check the app's permissions and the worker's log."
    )
    return Gap("groups", says)


NO_GROUP: Final = {
    "": (
        "There is no user group @{handle} in this workspace, so no one was brought in for it. Create @{handle}, or "
        "change the type {type}."
    ),
    DISABLED: (
        "The user group @{handle} is disabled in this workspace, so no one was brought in for it. Enable @{handle} in "
        "Slack, or change the type {type}."
    ),
    GROUPLESS: (
        "User groups need a paid Slack plan, so no one was brought in for @{handle}. Bring people in by name, or "
        "change the type {type}."
    ),
}


def _missing_group(handle: str, facts: Facts) -> Gap:
    says = NO_GROUP[facts.why_no_group.get(handle, "")].format(handle=handle, type=facts.policy.name)
    return Gap(f"group/{handle}", says)


def _empty_group(handle: str, policy: Policy) -> Gap:
    says = (
        f"@{handle} has no one who can be invited, so no one was brought in for it. Add people to @{handle}, or change "
        f"the type {policy.name}."
    )
    return Gap(f"group/{handle}", says)


def _missing_schedule(role: OneOf, policy: Policy) -> Gap:
    says = (
        f"PagerDuty has no schedule {role.schedule}, so it cannot name the {role.role}. Create it, or change the type "
        f"{policy.name}."
    )
    return Gap(f"schedule/{role.schedule}", says)


def _nobody(role: OneOf, facts: Facts) -> Gap:
    where = []
    if role.schedule:
        where += [f"no one is on call for {role.schedule}" if facts.pager else "PagerDuty is not connected"]
    where += [f"@{role.group} has no one who can be invited"] if role.group else []
    where += [f"“{role.otherwise}” is not exactly one person who can be invited"] if role.otherwise else []
    if facts.is_closed:
        where = ["no one in this incident can take the role"]
    return Gap(f"one-of/{role.role}", f"No one is {role.role}: {enumerated(where)}. Choose someone.")
