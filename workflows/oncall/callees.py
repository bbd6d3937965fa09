"""Who incidents can page: the names in policies, looked up in the pager cache for many incidents at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Final

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from incidents import sentences
from incidents.models import Person
from incidents.people import emails
from incidents.people.bidi import isolated
from incidents.policies.policy import Policy
from workflows.models import PagerRead, PagerTarget, PagerUser
from workflows.oncall import in_use
from workflows.oncall import lookup as cache
from workflows.oncall import people as joining
from workflows.oncall.lookup import OnCall
from workflows.planning.invitee import Invitee
from workflows.planning.pages import Callee, Stranger

Kind = PagerTarget.Kind
PAGED = (Kind.POLICY, Kind.SERVICE)
NOT_READ: Final = "pages the person on call (name unknown)"


@dataclass(frozen=True, slots=True)
class Callees:
    """The callees that policies and people named, as found; see ``Facts`` for each. ``asked`` holds callees by ref."""

    on_call: Mapping[str, tuple[Invitee, ...] | None] = field(default_factory=dict)
    otherwise: Mapping[str, Invitee] = field(default_factory=dict)
    callees: Mapping[str, Callee | None] = field(default_factory=dict)
    asked: Mapping[str, Callee] = field(default_factory=dict)


def known(
    policies: Sequence[Policy], *, asked: Collection[str] = (), pager: bool, at: datetime | None = None
) -> Callees:
    """Look up what these policies page, the schedules they name, and the refs that someone requested.

    No query if nothing is named. Before the pager was first read nothing is known, and nothing is reported missing.
    """
    pages = {name for policy in policies for name in policy.pages} if pager else set()
    schedules = {name for policy in policies for name in policy.schedules} if pager else set()
    names = {one.otherwise for policy in policies for one in policy.one_of if one.otherwise}
    otherwise = _named(names)
    refs = set(asked) if pager else set()
    if not (pages or schedules or refs) or cache.never_read():
        return Callees(otherwise=otherwise)
    at = at or timezone.now()
    listed = cache.listed()
    targets = cache.named(pages, kinds=PAGED, among=listed)
    turns = cache.named(schedules, kinds=[Kind.SCHEDULE], among=listed)
    found = {_ref(target): target for target in targets.values() if target} | _targets(refs)
    users = _users(refs)
    on = cache.on_call(_subjects([*found.values(), *(one for one in turns.values() if one)]), at=at)
    usual = _usual_service(listed)
    unread = _unread(found.values(), on)
    both = [_callee(target, on, usual, unread=unread) for target in found.values()]
    both += [_user(user, usual) for user in users.values()]
    callees = {one.ref: one for one in _as_services_stand(both, listed)}
    return Callees(
        on_call={name: _on_schedule(row, on) if row else None for name, row in turns.items()},
        otherwise=otherwise,
        callees={name: callees[_ref(target)] if target else None for name, target in targets.items()},
        asked={ref: callees[ref] for ref in refs if ref in callees},
    )


def everyone(*, at: datetime) -> list[Callee]:
    """Return everyone a page can go to: escalation policies, services, then matched people."""
    listed = cache.listed()
    targets = sorted((one for one in listed if one.kind in PAGED), key=attrgetter("kind"))
    on = cache.on_call(_subjects(targets), at=at)
    usual = _usual_service(listed)
    users = PagerUser.objects.filter(gone=False).exclude(person=None).select_related("person")
    unread = _unread(targets, on)
    policies = (_callee(target, on, usual, unread=unread) for target in targets)
    found = [*policies, *(_user(user, usual) for user in users)]
    return [one for one in _as_services_stand(found, listed) if one.service]


def _as_services_stand(found: Iterable[Callee], listed: Sequence[PagerTarget]) -> Iterator[Callee]:
    paused = {one.pager_id for one in listed if one.paused}
    return (replace(one, paused=one.service in paused) for one in found)


def _ref(target: PagerTarget) -> str:
    return f"{target.kind}/{target.pager_id}"


def _targets(refs: Iterable[str]) -> dict[str, PagerTarget]:
    ids = {ref.partition("/")[2] for ref in refs if not ref.startswith("user/")}
    rows = PagerTarget.objects.filter(pager_id__in=ids, kind__in=PAGED) if ids else []
    return {_ref(row): row for row in rows}


def _users(refs: Iterable[str]) -> dict[str, PagerUser]:
    ids = {ref.partition("/")[2] for ref in refs if ref.startswith("user/")}
    rows = PagerUser.objects.filter(pager_id__in=ids).select_related("person") if ids else []
    return {f"user/{row.pager_id}": row for row in rows}


def _subjects(targets: Iterable[PagerTarget]) -> set[str]:
    return {_subject(target) for target in targets}


def _subject(target: PagerTarget) -> str:
    return (target.policy_id if target.kind == Kind.SERVICE else "") or target.pager_id


def _unread(targets: Iterable[PagerTarget], on: Collection[str]) -> set[str]:
    """Return the targets whose on-call is unknown: never read, hidden, or left out in a large account."""
    empty = _subjects(targets).difference(on)
    if empty and PagerRead.objects.filter(shifts_at__isnull=False).exists():
        return empty.difference(*in_use.subjects())
    return empty


def _callee(
    target: PagerTarget, on: Mapping[str, tuple[OnCall, ...]], usual: str, *, unread: Collection[str]
) -> Callee:
    rung = on.get(_subject(target), ())
    if any(joining.is_ours(one.user) for one in rung):
        return _unheard(_ref(target), isolated(target.name), target.service_id or usual, gone=target.gone)
    people = tuple(_someone(one.person, f"on call for {isolated(target.name)}") for one in rung if one.person)
    names = tuple(one.person.name if one.person else one.user.name for one in rung)
    nobody = not rung and _subject(target) not in unread
    return Callee(
        _ref(target),
        isolated(target.name),
        target.service_id or usual,
        _who_chat(people),
        rings(names) or ("no one is on call" if nobody else NOT_READ),
        ids=tuple(one.user.pager_id for one in rung),
        strangers=strangers([one.user for one in rung]),
        names=tuple(isolated(name) for name in names),
        gone=target.gone,
        nobody=nobody,
        silent=silent(one.user for one in rung),
    )


def _unheard(ref: str, name: str, service: str, *, gone: bool) -> Callee:
    """Return a callee whose page goes to the user it is opened as: the pager acknowledges it and notifies no one."""
    return Callee(ref, name, service, rings="pages no one", gone=gone, unheard=True)


def _user(user: PagerUser, usual: str) -> Callee:
    if joining.is_ours(user):
        return _unheard(f"user/{user.pager_id}", isolated(user.name), usual, gone=user.gone)
    person = user.person if user.person is not None and user.person.can_join else None
    name = isolated(person.name if person else user.name)
    people = (_someone(person, "paged by name"),) if person else ()
    ref, ids = f"user/{user.pager_id}", (user.pager_id,)
    known = Callee(ref, name, usual, _who_chat(people), ids=ids, strangers=strangers([user]), names=(name,))
    return replace(known, gone=user.gone, silent=silent([user]))


def strangers(users: Iterable[PagerUser]) -> tuple[Stranger, ...]:
    """Return the pager's users who cannot be brought in here, with the reasons; never the user who opens our pages.

    Read their persons beforehand; otherwise each costs a query.
    """
    found = ((user, joining.barred(user)) for user in users)
    return tuple(Stranger(user.pager_id, isolated(user.name), why) for user, why in found if why)


def silent(users: Iterable[PagerUser]) -> tuple[str, ...]:
    """Return the names of the users that the pager has no rule to notify of a page; their persons are already read."""
    return tuple(isolated(user.person.name if user.person else user.name) for user in users if user.silent)


def _on_schedule(row: PagerTarget, on: Mapping[str, tuple[OnCall, ...]]) -> tuple[Invitee, ...]:
    rung = on.get(_subject(row), ())
    return _who_chat(tuple(_someone(one.person, f"on call for {isolated(row.name)}") for one in rung if one.person))


def rings(names: Sequence[str]) -> str:
    """Say who is paged: *pages Eve Ito and Max Lund*; empty for no one."""
    own = [isolated(name) for name in names]
    listed = sentences.enumerated(own)
    return f"pages {listed}" if listed else ""


def _someone(person: Person, why: str) -> Invitee:
    return Invitee(person.chat_id or "", isolated(person.name), why, person.pk)


def _who_chat(people: tuple[Invitee, ...]) -> tuple[Invitee, ...]:
    return tuple(one for one in people if one.chat_id)


def _named(names: Collection[str]) -> dict[str, Invitee]:
    """Find people by email, chat id or name: those a type names for when no one is on call.

    Names are free to choose, so an email or id always means its owner, even after they have left, and a name that
    several people share means no one.
    """
    said = {name: name.lstrip("@").casefold() for name in names}
    by = Q(chat_id__in=[name.lstrip("@") for name in names])
    for key in said.values():
        by |= Q(email__iexact=key) | Q(name__iexact=key)
    people = list(Person.objects.filter(by).exclude(chat_id=None)) if names else []
    found = ((name, _meant(key, people)) for name, key in said.items())
    return {name: _someone(able[0], "named by the type") for name, able in found if len(able) == 1}


def _meant(key: str, people: Iterable[Person]) -> list[Person]:
    """Return the people a key may mean who can join: the owner of the email or id, else those with that name."""
    people = list(people)
    owners = [one for one in people if key in (emails.key_of(one.email), (one.chat_id or "").casefold())]
    called = [one for one in people if one.name.casefold() == key and "@" not in key]
    return [one for one in owners or called if one.can_join]


def _usual_service(listed: Sequence[PagerTarget]) -> str:
    """Return the service for pages that have none of their own: the one in settings, else the first."""
    given = settings.FIREKIND.pagerduty
    if given is not None and given.service:
        row = cache.named([given.service], kinds=[Kind.SERVICE], among=listed)[given.service]
        return row.pager_id if row else ""
    return next((one.pager_id for one in listed if one.kind == Kind.SERVICE), "")
