"""When two email addresses are the same: what others look like is nobody's address."""

from __future__ import annotations

import unicodedata
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)


def key_of(email: str) -> str:
    """Return what all spellings of an address share, case folded; empty for an address that is not plain ASCII.

    Folding alone makes other people's addresses of a dotless i, a long s, the sign for Kelvin or full-width letters,
    and which of them depends on whether PostgreSQL or Python folds. The form is NFKC, which plain ASCII is already.
    """
    plain = email.strip()
    return unicodedata.normalize("NFKC", plain).casefold() if plain.isascii() else ""


def same(one: str, other: str) -> bool:
    """Return whether two addresses are one; one that is empty or not plain ASCII is like no other."""
    return bool(key_of(one)) and key_of(one) == key_of(other)


def having(rows: QuerySet[Row], email: str) -> list[Row]:
    """Return the rows whose ``email`` is this address, by key; the database is only asked for those that may be."""
    key = key_of(email)
    if not key:
        return []
    near: list[Any] = list(rows.filter(email__iexact=key).order_by("pk"))
    return [row for row in near if key_of(row.email) == key]
