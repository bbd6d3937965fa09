"""Two records turn out to be of one person: whatever the one holds is the other's from then on."""

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
    """Make one of two, of whom one has an account at most: what they lead, own, may see and asked for comes along.

    Of what nobody has twice, a stay in an incident or a saved view by its name, that of ``into`` stays. Entries of
    timelines stay as they were written. The caller gives ``into`` the chat id, and says whose ``role`` holds.
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
    """Hold the incidents that this concerns, in one order, before anything of them is changed."""
    stays = Participant.objects.filter(person=gone).values("incident")
    concerned = Incident.objects.filter(Q(lead=gone) | Q(declared_by=gone) | Q(pk__in=stays))
    return list(concerned.defer("words").select_for_update(no_key=True).order_by("pk"))


def _hand_over_roles(incident: Incident, gone: Person, *, into: Person) -> None:
    if gone.pk in incident.roles.values():
        incident.roles = {role: into.pk if pk == gone.pk else pk for role, pk in incident.roles.items()}
        incident.save(update_fields=["roles"])


def _choose_again(incident: Incident, gone: Person, *, into: Person) -> None:
    """Write down that choices for one-of roles that hold are of the one who is there; nobody is told again."""
    chosen = Event.objects.filter(incident=incident, kind__in=circle.CHOOSING).order_by("n")
    now = {event.data["role"]: event for event in circle.choices(chosen)}
    for event in now.values():
        if event.data.get("person") == gone.pk:
            data = {**event.data, "person": into.pk, "room": 0}
            timeline.append(incident, "chosen", at=timezone.now(), text=event.text, data=data)


@cache
def references() -> tuple[ForeignKey[Any, Any], ...]:
    """Return every field by which a row of any part of the product refers to a person, but for entries of timelines."""
    known = Person._meta.get_fields(include_hidden=True)  # noqa: SLF001 (Django's documented way to them)
    found = (one for one in known if one.auto_created and not one.concrete)
    fields = (getattr(one, "field", None) for one in found)
    return tuple(one for one in fields if isinstance(one, ForeignKey) and one.model not in {Event, Person})


def _to_move(field: ForeignKey[Any, Any], gone: Person, *, into: Person) -> QuerySet[Model]:
    """Return the rows that refer to one who is gone, but for those of which the other has one already."""
    rows = field.model._base_manager  # noqa: SLF001 (also where a default one leaves rows out)
    found = rows.filter(**{field.name: gone})
    for others, among in _once(field):
        theirs = rows.filter(among, **{field.name: into}, **{other: OuterRef(other) for other in others})
        found = found.exclude(among & Exists(theirs))
    return found


def _once(field: ForeignKey[Any, Any]) -> list[tuple[list[str], Q]]:
    """Return, for each rule by which a person may stand only once, the other fields that it counts, and among what."""
    meta = field.model._meta  # noqa: SLF001 (Django's documented way to them)
    unique = [one for one in meta.constraints if isinstance(one, UniqueConstraint)]
    found = [(tuple(one.fields), one.condition or Q()) for one in unique]
    found += [(tuple(one), Q()) for one in meta.unique_together]
    found += [((field.name,), Q())] if field.unique else []
    return [([name for name in rule if name != field.name], among) for rule, among in found if field.name in rule]
