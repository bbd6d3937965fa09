"""The columns of a model by name, for handwritten SQL."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Model


def column_names(model: type[Model], *, of: str = "", but: Collection[str] = ()) -> str:
    """Return the columns this version knows about, and no others: a newer version may add some while both run.

    ``of`` is the table's alias in the statement; ``but`` names fields to leave out. A statement with ``*`` would have
    to be replanned once a column is added, which PostgreSQL refuses for a prepared statement.
    """
    fields = model._meta.concrete_fields  # noqa: SLF001 (Django's documented way to them)
    return ", ".join(f'{of}{"." if of else ""}"{one.column}"' for one in fields if one.name not in but)
