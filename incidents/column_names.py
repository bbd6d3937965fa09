"""The columns of a model by their names, for SQL that is written out."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Model


def column_names(model: type[Model], *, of: str = "", but: Collection[str] = ()) -> str:
    """Return the columns that this version knows of, and no others: a newer one may add some while both run.

    ``of`` is what they are columns of, as the statement names it; ``but`` are the names of fields to leave out. A
    statement that asks for all there are would have to be planned anew then, which PostgreSQL refuses where it is
    prepared.
    """
    fields = model._meta.concrete_fields  # noqa: SLF001 (Django's documented way to them)
    return ", ".join(f'{of}{"." if of else ""}"{one.column}"' for one in fields if one.name not in but)
