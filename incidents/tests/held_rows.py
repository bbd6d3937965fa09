"""The values of a database row, to compare different ways of reading it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Model


def held(row: Model | None, *, but: tuple[str, ...] = ("words",)) -> dict[str, Any] | None:
    """Return the values of a row, by column."""
    if row is None:
        return None
    return {one.attname: getattr(row, one.attname) for one in row._meta.concrete_fields if one.name not in but}


def all_held(rows: Iterable[Model], *joined: str, but: tuple[str, ...] = ("words",)) -> list[object]:
    """Return the values of rows, each with those of the related rows in these fields."""
    return [(held(one, but=but), [held(getattr(one, name)) for name in joined]) for one in rows]
