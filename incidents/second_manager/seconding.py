"""The second manager: who has to agree to changes in who comes into private incidents."""

from __future__ import annotations

from django.conf import settings
from django.db.models import QuerySet

from incidents import visibility
from incidents.claiming import turns
from incidents.lifecycle.rules import Refused
from incidents.models import Incident, Person
from incidents.models.people import Role
from incidents.people import roles

NAMED = 3
NONE_THERE = "There was no second manager to confirm it."


class Needed(Refused):
    """A change does not take effect before a second manager confirms it."""

    def __init__(self) -> None:
        super().__init__("A second manager has to confirm this first.")


def hold() -> None:
    """Serialise changes that could bring people into private incidents, each until its transaction ends.

    Otherwise two changes that are harmless separately, naming a group and filling it, could be made at the same time.
    """
    turns.take("incidents.second_manager.seconding")


def others(by: Person, *, incident: Incident | None = None) -> QuerySet[Person]:
    """Return the other managers who can sign in; for a private incident only those who take part in it."""
    managers = roles.holders(Role.MANAGER).exclude(pk=by.pk).exclude(user__is_active=False)
    if not (settings.FIREKIND.sign_in.providers or settings.FIREKIND.sandbox_url):
        managers = managers.exclude(user=None)  # with only our own accounts, no one without one can sign in
    if incident is not None:
        managers = managers.filter(pk__in=visibility.readers(incident).values("person"))
    return managers


def agree(*, by: Person | None, second: Person | None, incident: Incident | None = None) -> str:
    """Return who agreed to a change in addition to its author; raise ``Needed`` if another manager could confirm it.

    The operator's changes, made without a person, need no one's agreement. The caller holds ``hold``.
    """
    if by is None:
        return ""
    able = others(by, incident=incident)
    if second is not None and able.filter(pk=second.pk).exists():
        return f"{second.name} confirmed it."
    if able.exists():
        raise Needed
    return NONE_THERE


def who(by: Person, *, incident: Incident | None = None) -> str:
    """Say who may confirm someone's change: *Ben or Grace*; empty if there is no one."""
    names = list(others(by, incident=incident).values_list("name", flat=True)[:NAMED])
    *first, last = names or [""]
    return f"{', '.join(first)} or {last}" if first else last
