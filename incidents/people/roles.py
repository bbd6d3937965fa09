"""What each role may do in addition to everyone else, who has it, and what others are told.

No role opens a private incident: `incidents.visibility` decides who may see one, and does not look at roles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet

import audit
from incidents.lifecycle.rules import Refused
from incidents.models import Person
from incidents.models.people import Role

NAMED: Final = 3  # people to name when someone is told who to ask


@dataclass(frozen=True, slots=True)
class Act:
    """Something that one role may do, in words that follow the role's name: managers *change types*."""

    says: str
    role: Role


ACTS: Final[Mapping[str, Act]] = {
    "types": Act("change types", Role.MANAGER),
    "rules": Act("change on-call rules", Role.MANAGER),
    "groups": Act("change which groups follow who is on call", Role.MANAGER),
    "match": Act("match PagerDuty users to people", Role.MANAGER),
    "roles": Act("assign roles", Role.MANAGER),
    "second": Act("confirm another manager's change", Role.MANAGER),
    "audit": Act("read the audit log", Role.AUDITOR),
}
SAYS: Final[Mapping[Role, str]] = {
    Role.RESPONDER: "Everything needed to run incidents, and nothing more.",
    Role.MANAGER: "Change types, on-call rules and groups, PagerDuty matches, and roles.",
    Role.AUDITOR: "Read the audit log. Private incidents stay closed to them.",
}
_BY_ACCOUNT: Final = Q(user__is_superuser=True, user__is_active=True)  # operators need not be given the role


def may(person: Person, what: str) -> bool:
    """Return whether someone may do something in the table."""
    return person.can_join and ACTS[what].role in held_by(person)


def held_by(person: Person) -> set[str]:
    """Return someone's roles: the one given, and manager for an account that runs Firekind."""
    user = person.user
    by_account = {Role.MANAGER.value} if user is not None and user.is_superuser and user.is_active else set()
    return {str(person.role)} | by_account


def holders(role: Role) -> QuerySet[Person]:
    """Return those who have a role, by name."""
    given = Q(role=role) | _BY_ACCOUNT if role == Role.MANAGER else Q(role=role)
    here = Person.objects.filter(is_guest=False, is_bot=False, is_external=False, deactivated=False)
    return here.filter(given).select_related("user").order_by("name", "pk")


def who_may(what: str, *, reader: Person | None) -> str:
    """Say who may do something, and who to ask; guests and unknown readers are given no names."""
    act = ACTS[what]
    if reader is None or not reader.can_join:
        return f"Only {act.role}s can {act.says}."
    names = list(holders(act.role).values_list("name", flat=True)[:NAMED])
    if not names:
        return f"Only {act.role}s can {act.says}, and there are none yet: ask the person who runs Firekind to add one."
    *first, last = names
    ask = f"{', '.join(first)} or {last}" if first else last
    return f"Only {act.role}s can {act.says}. Ask {ask}."


@transaction.atomic
def give(person: Person, *, role: Role, by: Person | None, where: str = "") -> bool:
    """Give someone a role; return whether that changed anything. Raises ``Refused`` for someone who cannot have one.

    Managers are locked first, so that two who take the role from each other at once cannot leave no manager.
    """
    managers = list(holders(Role.MANAGER).select_for_update(of=("self",), no_key=True).order_by("pk"))
    person = Person.objects.select_for_update(no_key=True).get(pk=person.pk)
    if person.role == role:
        return False
    _check(person, role, managers)
    was, person.role = person.role, role
    person.save(update_fields=["role"])
    said = {"person": person.pk, "was": was, "becomes": str(role)}
    audit.note(
        "role", by=by.pk if by else None, by_name=by.name if by else "", about=person.name, where=where, data=said
    )
    return True


def _check(person: Person, role: Role, managers: list[Person]) -> None:
    if role != Role.RESPONDER and not person.can_join:
        raise Refused(
            f"{person.name} cannot have a role: guests, apps, external people and deactivated accounts never do."
        )
    still = [one for one in managers if one != person or (one.user is not None and one.user.is_superuser)]
    if person in managers and not still:
        raise Refused(f"{person.name} is the last manager. Make someone else a manager first.")
