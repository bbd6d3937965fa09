"""When two email addresses are the same: lookalike characters never match anyone's address."""

from __future__ import annotations

import unicodedata
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)


def key_of(email: str) -> str:
    """Return the case-folded form that all spellings of an address share; empty if it is not plain ASCII.

    Folding alone would turn a dotless i, a long s, the Kelvin sign or full-width letters into other people's addresses,
    and which of them depends on whether PostgreSQL or Python folds. The form is NFKC, which plain ASCII already is.
    """
    plain = email.strip()
    return unicodedata.normalize("NFKC", plain).casefold() if plain.isascii() else ""


def same(one: str, other: str) -> bool:
    """Return whether two addresses are the same; an empty or non-ASCII one matches nothing."""
    return bool(key_of(one)) and key_of(one) == key_of(other)


def having(rows: QuerySet[Row], email: str) -> list[Row]:
    """Return the rows whose ``email`` is this address, by primary key; the database only preselects candidates."""
    key = key_of(email)
    if not key:
        return []
    near: list[Any] = list(rows.filter(email__iexact=key).order_by("pk"))
    return [row for row in near if key_of(row.email) == key]
