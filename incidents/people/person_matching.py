"""Identify people by chat id, email or account, linked once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction
from django.db.models import QuerySet, Value
from django.db.models.functions import Lower

from incidents.models import Person
from incidents.models.people import Role
from incidents.people import emails, same_person
from incidents.written_rows import WrittenRows

PERSON: Final = WrittenRows(Person, of="p")


@dataclass(frozen=True, slots=True)
class ChatProfile:
    """What the chat workspace says about one of its people."""

    chat_id: str
    name: str
    email: str = ""
    is_guest: bool = False
    is_bot: bool = False
    is_external: bool = False
    deactivated: bool = False
    zone: str = ""
    is_unlisted: bool = False


def by_chat_id(chat_id: str, *, name: str = "", elsewhere: bool = False) -> Person:
    """Return the person with a chat id; create one with only that if the workspace has not been read yet.

    ``elsewhere`` means that the chat names another workspace than ours. It is believed only about people that ours
    never listed: in an organisation of many workspaces, any of them may be named for a colleague.
    """
    person = _known(chat_id)
    if person is None:
        defaults = {"name": name or chat_id, "is_external": elsewhere}
        person, _ = Person.objects.get_or_create(chat_id=chat_id, defaults=defaults)
    if elsewhere and is_bare(person) and _bare().filter(pk=person.pk).update(is_external=True):
        person.is_external = True
    return person


def _known(chat_id: str) -> Person | None:
    return PERSON.first("FROM incidents_person p WHERE p.chat_id = %s", [chat_id])


def of_keys(keys: Collection[int]) -> dict[int, Person]:
    """Return people by their primary keys."""
    found = PERSON.read("FROM incidents_person p WHERE p.id = ANY (%s)", [list(keys)]) if keys else ()
    return {one.pk: one for one in found}


def with_chat_ids(chat_ids: Collection[str]) -> list[Person]:
    """Return the people known here among these chat ids, in no particular order."""
    return PERSON.read("FROM incidents_person p WHERE p.chat_id = ANY (%s)", [list(chat_ids)])


def is_bare(person: Person) -> bool:
    """Return whether a person is known only because a door met them: no workspace has ever described them."""
    return not (person.email or person.zone or person.user_id or person.is_bot or person.is_external)


def _bare() -> QuerySet[Person]:
    """Return people known only because a door met them: no workspace has ever described them."""
    met = Person.objects.filter(chat_id__isnull=False, user=None, is_bot=False, is_external=False)
    return met.filter(email="", zone="")


def by_email(email: str) -> Person | None:
    """Return the person with an email, ignoring case, or None."""
    return next(iter(emails.having(Person.objects.all(), email)), None)


def of_user(user: AbstractBaseUser | AnonymousUser) -> Person | None:
    """Return the person behind a signed-in account, created on its first visit; None if anonymous or deactivated."""
    if not isinstance(user, User) or not user.is_active:
        return None
    try:
        person: Person = user.person
    except Person.DoesNotExist:
        person = _joined(user)
    return None if person.deactivated else person


def _joined(user: User) -> Person:
    with transaction.atomic():
        known = by_email(user.email)
        if known is not None and known.user_id is None and not (known.is_guest or known.is_external):
            known.user = user
            known.save(update_fields=["user"])
            return known
        name = user.get_full_name() or user.get_username()
        taken = Person.objects.annotate(low=Lower("email")).filter(low=Lower(Value(user.email))).exists()
        email = "" if taken else user.email
        return Person.objects.get_or_create(user=user, defaults={"name": name, "email": email})[0]


def record(known: list[ChatProfile]) -> None:
    """Write what the workspace says about its people, new or changed; no one is deleted.

    A person known only by email is pinned to the chat id once, unless the profile is a guest's or an external person's,
    whose email proves nothing. An email that already belongs to another person stays with that person, unless the
    workspace says that they have a different one now. The caller holds a lock against other readers of the workspace; a
    door may add someone in the meantime.
    """
    _pin(known)
    _let_go(known)
    here = {person.chat_id: person for person in Person.objects.filter(chat_id__in=[one.chat_id for one in known])}
    said = {one.email.lower() for one in known if one.email}  # folded like the constraint; proves nothing
    owned = Person.objects.annotate(low=Lower("email")).filter(low__in=said)
    owners: dict[str, str | None] = dict(owned.values_list("low", "chat_id"))
    rows = [row for one in known if not _same(here.get(one.chat_id), row := _row(one, owners))]
    Person.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["chat_id"], update_fields=[*SAID, "email"], batch_size=1_000
    )


def recorded() -> dict[str, tuple[object, ...]]:
    """Return what is recorded about everyone, by chat id, to tell later whose record changed since."""
    rows = Person.objects.exclude(chat_id=None).values_list("chat_id", *SAID, "email")
    return {row[0]: row[1:] for row in rows}


def follow(known: list[ChatProfile], *, told: Collection[str] = ()) -> dict[str, str]:
    """Give people the chat id that the workspace has for their email now; return which ids became which.

    ``known`` is everyone in the workspace. Ids change when another workspace is connected, or when one joins an
    organisation; a person whose email is listed there is the same person, and keeps what they may see and do. Guests,
    external people and leavers are left as they are: their email proves nothing, and a leaver's may be reassigned. Ids
    in ``told`` are left too, because something newer is known about them. The caller holds the lock as for ``record``.
    """
    listed = {one.chat_id for one in known} | set(told)
    members = [one for one in known if not (one.is_guest or one.is_external or one.is_bot or one.deactivated)]
    ours = {key: one.chat_id for one in members if one.chat_id not in told and (key := emails.key_of(one.email))}
    theirs = Person.objects.filter(is_guest=False, is_external=False, is_bot=False, deactivated=False)
    theirs = theirs.exclude(chat_id=None).exclude(email="").only("chat_id", "email", "user", "role")
    away = [one for one in theirs if one.chat_id not in listed]
    found = [(one, str(one.chat_id), ours[key]) for one in away if (key := emails.key_of(one.email)) in ours]
    met = {one.chat_id: one for one in Person.objects.filter(chat_id__in=[new for _, _, new in found])}
    moved = [(one, old, new) for one, old, new in found if new not in met or _take_over(one, met[new])]
    for one, _, new in moved:
        one.chat_id = new
    Person.objects.bulk_update([one for one, _, _ in moved], ["chat_id"], batch_size=1_000)
    return {old: new for _, old, new in moved}


def _take_over(person: Person, met: Person) -> bool:
    """Merge a person that a door created under someone's new id into that someone; return whether they are the same.

    They are not if the workspace had listed that person with an email of their own.
    """
    if met.email or (met.user_id is not None and person.user_id is not None):
        return False
    same_person.merge(met, into=person, role=_role(person.role, met.role))
    return True


def unlist(known: list[ChatProfile], *, told: Collection[str] = ()) -> None:
    """Mark people who are not in the workspace, given everyone who is; ids in ``told`` have newer data and are skipped.

    External people are not marked either: no workspace lists them, so nothing would remove the mark.
    """
    listed = {one.chat_id for one in known} | set(told)
    away = Person.objects.exclude(chat_id=None).exclude(chat_id__in=listed)
    away.filter(is_external=False).update(is_unlisted=True)


def disown(known: Sequence[ChatProfile], *, told: Collection[str] = ()) -> None:
    """Mark people met in the chat as external if the workspace does not list them, given everyone it lists.

    Ids in ``told`` have newer data and are skipped. Once someone is listed, ``record`` removes the mark.
    """
    listed = {one.chat_id for one in known} | set(told)
    met = dict(_bare().values_list("pk", "chat_id"))
    Person.objects.filter(pk__in=[pk for pk, chat_id in met.items() if chat_id not in listed]).update(is_external=True)


def is_news(one: ChatProfile) -> bool:
    """Return whether the workspace says anything about a person that is not recorded: one query."""
    return not _same(Person.objects.filter(chat_id=one.chat_id).first(), _row(one, {}))


SAID = ("name", "is_guest", "is_bot", "is_external", "deactivated", "zone", "is_unlisted")


def _pin(known: list[ChatProfile]) -> None:
    ours = {emails.key_of(one.email): one for one in known if not (one.is_guest or one.is_external or one.is_bot)}
    for person in Person.objects.filter(chat_id=None).exclude(email=""):
        key = emails.key_of(person.email)
        one = ours.get(key)
        if not key or one is None:
            continue
        met = Person.objects.filter(chat_id=one.chat_id).first()
        if met is None:
            Person.objects.filter(pk=person.pk).update(chat_id=one.chat_id)
        elif met.user_id is None:  # met in the chat before the workspace was read
            same_person.merge(person, into=met, role=_role(person.role, met.role))


def _let_go(known: list[ChatProfile]) -> None:
    """Clear the emails of people who have a different one now, so that the people who have them now can take them."""
    said = {one.chat_id: one.email for one in known}
    had = Person.objects.filter(chat_id__in=said).exclude(email="").values_list("chat_id", "email")
    moved = [chat_id for chat_id, email in had if said[str(chat_id)].lower() != email.lower()]
    if moved:
        Person.objects.filter(chat_id__in=moved).update(email="")


def _role(*roles: str) -> str:
    """Return the first role other than responder, if there is one."""
    return next((one for one in roles if one != Role.RESPONDER), Role.RESPONDER)


def _row(one: ChatProfile, owners: dict[str, str | None]) -> Person:
    free = owners.setdefault(one.email.lower(), one.chat_id) == one.chat_id
    said = {field: getattr(one, field) for field in SAID}
    return Person(chat_id=one.chat_id, email=one.email if free else "", **said)


def _same(person: Person | None, row: Person) -> bool:
    return person is not None and all(getattr(person, field) == getattr(row, field) for field in (*SAID, "email"))
