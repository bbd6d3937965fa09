"""Which tables are kept, and how their rows are read to be hashed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from audit import chain
from audit.chain import Range

JSONB: Final = 3802  # PostgreSQL's own number for the type

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """A table whose rows are sealed: the column of its ids, when a row was written, and every column that is hashed.

    ``words`` are columns that an export leaves out unless it is asked for them.
    """

    name: str
    table: str
    id: str
    at: str
    columns: tuple[str, ...]
    words: tuple[str, ...] = ()


KEPT: Final[dict[str, Kept]] = {}


def keep(kept: Kept) -> None:
    """Have a table sealed from now on; told as the process starts, by those who own it."""
    KEPT[kept.name] = kept


keep(
    Kept(
        "entries",
        table="audit_entry",
        id="n",
        at="at",
        columns=("n", "at", "kind", "by_id", "by_name", "about", "door", "address", "data", "key"),
    )
)

_IN_GAPS: Final = """
    SELECT {columns} FROM unnest(%s::bigint[], %s::bigint[]) AS gap(low, high)
      JOIN {table} ON {id} BETWEEN gap.low AND gap.high {more} ORDER BY {id} LIMIT %s
"""
_OF_IDS: Final = "SELECT {columns} FROM {table} WHERE {id} = ANY(%s) ORDER BY {id}"


def in_gaps(kept: Kept, gaps: Sequence[Range], *, limit: int, before: datetime | None = None) -> list[Row]:
    """Return the first rows whose ids are in the gaps, by id; only those written before a time where one is given."""
    more, when = ("AND {at} < %s", [before]) if before else ("", [])
    values = [[low for low, _ in gaps], [high for _, high in gaps], *when, limit]
    return _asked(kept, _IN_GAPS.replace("{more}", more), values)


def of_ids(kept: Kept, ids: Sequence[int]) -> dict[int, Row]:
    """Return the rows of these ids that there are."""
    return {row[kept.id]: row for row in _asked(kept, _OF_IDS, [list(ids)])}


def _asked(kept: Kept, statement: str, values: list[Any]) -> list[Row]:
    """Ask for rows as they are hashed: every column by its name, and the table's name with them."""
    columns = ", ".join(f'{kept.table}."{one}"' for one in kept.columns)
    names = {"columns": columns, "table": kept.table, "id": f"{kept.table}.{kept.id}", "at": f"{kept.table}.{kept.at}"}
    with connection.cursor() as cursor:
        cursor.execute(statement.format(**names), values)
        jsons = [column.name for column in cursor.description or () if column.type_code == JSONB]
        found = [dict(zip(kept.columns, row, strict=True)) for row in cursor.fetchall()]
    for row in found:
        row["table"] = kept.name
        for name in jsons:
            row[name] = json.loads(row[name])
    return found


def mark(row: Row) -> bytes:
    """Return the hash of a row."""
    return chain.mark(row)
