"""Merge two records that turn out to be the same person."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db import transaction
from django.db.models import Exists, ForeignKey, Model, OuterRef, Q, QuerySet, UniqueConstraint
from django.utils import timezone

from incidents import timeline
from incidents.lifecycle import circle, rules
from incidents.models import Event, Incident, Participant, Person
from incidents.models.people import Role


@transaction.atomic
def merge(gone: Person, *, into: Person, role: str) -> None:
    """Merge two people with at most one account between them: ``into`` gets everything that ``gone`` has.

    That is what they lead, own, may see and requested. If both have something that a person has only once, such as a
    stay in an incident or a saved view of the same name, ``into`` keeps its own. Timeline entries stay as they were
    written. The caller gives ``into`` the chat id, and passes the ``role`` that holds.
    """
    rules.hold_several()
    for incident in _held(gone):
        _hand_over_roles(incident, gone, into=into)
        _choose_again(incident, gone, into=into)
    for field in references():
        _to_move(field, gone, into=into).update(**{field.name: into})
    user_id = into.user_id or gone.user_id
    Person.objects.filter(pk=gone.pk).update(chat_id=None, user=None, email="", role=Role.RESPONDER)
    Person.objects.filter(pk=into.pk).update(user=user_id, role=role)


def _held(gone: Person) -> list[Incident]:
    """Lock the affected incidents, always in the same order, before anything in them is changed."""
    stays = Participant.objects.filter(person=gone).values("incident")
    concerned = Incident.objects.filter(Q(lead=gone) | Q(declared_by=gone) | Q(pk__in=stays))
    return list(concerned.defer("words").select_for_update(no_key=True).order_by("pk"))


def _hand_over_roles(incident: Incident, gone: Person, *, into: Person) -> None:
    if gone.pk in incident.roles.values():
        incident.roles = {role: into.pk if pk == gone.pk else pk for role, pk in incident.roles.items()}
        incident.save(update_fields=["roles"])


def _choose_again(incident: Incident, gone: Person, *, into: Person) -> None:
    """Record the current choices for one-of roles again for the remaining person; no one is notified again."""
    chosen = Event.objects.filter(incident=incident, kind__in=circle.CHOOSING).order_by("n")
    now = {event.data["role"]: event for event in circle.choices(chosen)}
    for event in now.values():
        if event.data.get("person") == gone.pk:
            data = {**event.data, "person": into.pk, "room": 0}
            timeline.append(incident, "chosen", at=timezone.now(), text=event.text, data=data)


@cache
def references() -> tuple[ForeignKey[Any, Any], ...]:
    """Return every field by which a row anywhere in the product refers to a person, except timeline entries."""
    known = Person._meta.get_fields(include_hidden=True)  # noqa: SLF001 (Django's documented way to them)
    found = (one for one in known if one.auto_created and not one.concrete)
    fields = (getattr(one, "field", None) for one in found)
    return tuple(one for one in fields if isinstance(one, ForeignKey) and one.model not in {Event, Person})


def _to_move(field: ForeignKey[Any, Any], gone: Person, *, into: Person) -> QuerySet[Model]:
    """Return the rows that refer to ``gone``, except those that ``into`` already has."""
    rows = field.model._base_manager  # noqa: SLF001 (includes rows that a default manager leaves out)
    found = rows.filter(**{field.name: gone})
    for others, among in _once(field):
        theirs = rows.filter(among, **{field.name: into}, **{other: OuterRef(other) for other in others})
        found = found.exclude(among & Exists(theirs))
    return found


def _once(field: ForeignKey[Any, Any]) -> list[tuple[list[str], Q]]:
    """Return, for each rule that a person may appear only once, the other fields of the rule and its condition."""
    meta = field.model._meta  # noqa: SLF001 (Django's documented way to them)
    unique = [one for one in meta.constraints if isinstance(one, UniqueConstraint)]
    found = [(tuple(one.fields), one.condition or Q()) for one in unique]
    found += [(tuple(one), Q()) for one in meta.unique_together]
    found += [((field.name,), Q())] if field.unique else []
    return [([name for name in rule if name != field.name], among) for rule, among in found if field.name in rule]
