"""Who people are: found by chat id, e-mail or account, and joined once."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction

from incidents.models import Person


@dataclass(frozen=True, slots=True)
class Known:
    """What the chat workspace says of one person."""

    chat_id: str
    name: str
    email: str = ""
    is_guest: bool = False
    is_bot: bool = False
    is_external: bool = False
    deactivated: bool = False


def by_chat_id(chat_id: str, *, name: str = "") -> Person:
    """Return the person of a chat id, recording a bare one when the workspace was not read yet."""
    person, _ = Person.objects.get_or_create(chat_id=chat_id, defaults={"name": name or chat_id})
    return person


def by_email(email: str) -> Person | None:
    """Return the person of an e-mail, whatever its case, or None."""
    return Person.objects.filter(email__iexact=email.strip()).first() if email.strip() else None


def of_user(user: AbstractBaseUser | AnonymousUser) -> Person | None:
    """Return the person behind a signed-in account, made on its first visit; None for nobody or a leaver."""
    if not isinstance(user, User) or not user.is_active:
        return None
    person = Person.objects.filter(user=user).first()
    if person is None:
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
        email = user.email if known is None else ""
        return Person.objects.get_or_create(user=user, defaults={"name": name, "email": email})[0]


def record(known: list[Known]) -> None:
    """Write what the workspace says of its people: new ones, changed ones; nobody is deleted.

    Someone already known by e-mail alone is pinned to the chat id once, unless a guest or from elsewhere, whose
    e-mail proves nothing. An e-mail that already belongs to another person is left with that person.
    """
    here = {person.chat_id: person for person in Person.objects.filter(chat_id__in=[one.chat_id for one in known])}
    emails = {person.email.lower(): person for person in Person.objects.exclude(email="")}
    for one in known:
        person = here.get(one.chat_id) or _pinned(one, emails)
        owner = emails.get(one.email.lower())
        email = one.email if owner is None or owner == person else (person.email if person else "")
        _write(one, person, email)
        if email and person is None:
            emails[email.lower()] = Person.objects.get(chat_id=one.chat_id)


def _pinned(one: Known, emails: dict[str, Person]) -> Person | None:
    person = emails.get(one.email.lower()) if one.email else None
    if person is None or person.chat_id or one.is_guest or one.is_external or one.is_bot:
        return None
    return person


def _write(one: Known, person: Person | None, email: str) -> None:
    values = {
        "chat_id": one.chat_id,
        "name": one.name,
        "email": email,
        "is_guest": one.is_guest,
        "is_bot": one.is_bot,
        "is_external": one.is_external,
        "deactivated": one.deactivated,
    }
    if person is None:
        Person.objects.create(**values)
    elif any(getattr(person, key) != value for key, value in values.items()):
        Person.objects.filter(pk=person.pk).update(**values)
