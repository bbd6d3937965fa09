"""Lists that someone saved under a name, visible only to them."""

from __future__ import annotations

from django.db import transaction

from incidents.lifecycle import rules
from incidents.models import Person, SavedView
from incidents.search.incident_filters import IncidentFilters
from incidents.written_rows import WrittenRows

MOST = 20
NAME_CHARS = 40
VIEW = WrittenRows(SavedView, of="v")


def keep(name: str, filters: IncidentFilters, *, by: Person) -> SavedView:
    """Save a list under a name; an existing one of that name is replaced. Raises ``BadInput``."""
    said = _name(name)
    if not filters.any:
        raise rules.BadInput("name", "Filter the list first: this is all incidents.")
    with transaction.atomic():
        Person.objects.select_for_update(no_key=True).get(pk=by.pk)
        others = SavedView.objects.filter(person=by).exclude(name=said)
        if others.count() >= MOST:
            raise rules.BadInput("name", f"You can keep at most {MOST} views. Remove one first.")
        return SavedView.objects.update_or_create(person=by, name=said, defaults={"query": filters.to()})[0]


def rename(pk: int, name: str, *, by: Person) -> SavedView | None:
    """Rename a view; someone else's is left alone, as if it did not exist.

    Raises ``BadInput`` if they have another view of that name, which would be lost.
    """
    said = _name(name)
    with transaction.atomic():
        Person.objects.select_for_update(no_key=True).get(pk=by.pk)
        if SavedView.objects.filter(person=by, name=said).exclude(pk=pk).exists():
            raise rules.BadInput("name", f"You have a view named {said} already. Pick another name.")
        found = SavedView.objects.filter(pk=pk, person=by).first()
        if found is not None:
            found.name = said
            found.save(update_fields=["name"])
        return found


def of(person: Person) -> list[SavedView]:
    """Return someone's saved views, by name."""
    return VIEW.read("FROM incidents_savedview v WHERE v.person_id = %s ORDER BY v.name", [person.pk])


def drop(pk: int, *, by: Person) -> None:
    """Remove a view; someone else's is left alone, as if it did not exist."""
    SavedView.objects.filter(pk=pk, person=by).delete()


def _name(given: str) -> str:
    """Return a name on one line, cut if it is too long. Raises ``BadInput`` if it is empty."""
    return " ".join(rules.text(given, field="name").split())[:NAME_CHARS]
