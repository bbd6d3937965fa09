"""Which tables are kept, and how their rows are read for hashing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db import connection

from audit.sealed import chain
from audit.sealed.chain import Range

JSONB: Final = 3802  # PostgreSQL's type OID
SALT, REDACTED = "salt", "redacted"  # the columns of a table whose words may be redacted
AS_IT_WAS: Final = "="  # prefix for the hash of a whole row, for rows that had no salt

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """A table whose rows are sealed: its id column, when a row was written, and every column that is hashed.

    ``words`` are columns that an export leaves out unless asked for them. If they can be redacted later
    (``redactable``), a row is hashed with a salted hash of its words in their place, so that the rest can be verified
    without them and no one can guess them.
    """

    name: str
    table: str
    id: str
    at: str
    columns: tuple[str, ...]
    words: tuple[str, ...] = ()
    redactable: bool = False


KEPT: Final[dict[str, Kept]] = {}


def keep(kept: Kept) -> None:
    """Have a table sealed from now on; called at start by the app that owns it."""
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
keep(
    Kept(
        "redactions",
        table="audit_redaction",
        id="n",
        at="at",
        columns=("n", "at", "kept", "row", "by_id", "by_name", "was", "remains"),
    )
)


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A row as it is sealed: ``hashed`` is what its hash covers.

    ``words`` are what a hash in it stands for, with the salt. ``remains`` is the hash of a redacted row as it is now;
    for a redacted row without a salt, ``kept`` is the hash of the original row.
    """

    id: int
    hashed: Row
    words: Row = field(default_factory=dict)
    remains: str = ""
    kept: str = ""

    @property
    def mark(self) -> bytes:
        """Return the hash by which a link refers to the row."""
        return bytes.fromhex(self.kept) if self.kept else chain.mark(self.hashed)

    def is_known_by(self, mark: bytes) -> bool:
        """Return whether a link's hash is this row's.

        During an upgrade, a worker of the older version may have sealed a row that has a salt with its words in it.
        """
        if self.mark == mark:
            return True
        return bool(self.words) and chain.mark(self.whole) == mark

    @property
    def whole(self) -> Row:
        """The row with its words in it, as rows without a salt are hashed."""
        rest = {name: value for name, value in self.hashed.items() if name != "words"}
        return rest | {name: value for name, value in self.words.items() if name != SALT}


# One gap after the other, each an index range: a join may read the whole table in the order of its ids.
_IN_GAPS: Final = """
    SELECT {columns} FROM unnest(%s::bigint[], %s::bigint[]) AS gap(low, high) CROSS JOIN LATERAL (
        SELECT * FROM {table} WHERE {id} BETWEEN gap.low AND gap.high {more} ORDER BY {id} LIMIT %s) AS {table}
     ORDER BY {id} LIMIT %s
"""
_OF_IDS: Final = "SELECT {columns} FROM {table} WHERE {id} = ANY(%s) ORDER BY {id}"


def in_gaps(kept: Kept, gaps: Sequence[Range], *, limit: int, before: datetime | None = None) -> list[SealedRow]:
    """Return the first rows whose ids are in the gaps, by id; with ``before``, only those written before then."""
    more, when = ("AND {at} < %s", [before]) if before else ("", [])
    values = [[low for low, _ in gaps], [high for _, high in gaps], *when, limit, limit]
    return _asked(kept, _IN_GAPS.replace("{more}", more), values)


def of_ids(kept: Kept, ids: Sequence[int]) -> dict[int, SealedRow]:
    """Return the existing rows among these ids."""
    return {row.id: row for row in _asked(kept, _OF_IDS, [list(ids)])}


def _asked(kept: Kept, statement: str, values: list[Any]) -> list[SealedRow]:
    """Read rows as they are hashed: every column by name, plus the table's name."""
    names = (*kept.columns, SALT, REDACTED) if kept.redactable else kept.columns
    columns = ", ".join(f'{kept.table}."{one}"' for one in names)
    filled = {"columns": columns, "table": kept.table, "id": f"{kept.table}.{kept.id}", "at": f"{kept.table}.{kept.at}"}
    with connection.cursor() as cursor:
        cursor.execute(statement.format(**filled), values)
        jsons = [column.name for column in cursor.description or () if column.type_code == JSONB]
        found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    for row in found:
        row["table"] = kept.name
        for name in jsons:
            row[name] = json.loads(row[name])
    return [as_sealed(kept, row) for row in found]


def as_sealed(kept: Kept, row: Row) -> SealedRow:
    """Convert a row, read with every column, into its sealed form."""
    id, salt, redacted = row[kept.id], row.pop(SALT, None), row.pop(REDACTED, None)
    if salt is None and redacted is None:
        return SealedRow(id, row)
    rest = {name: value for name, value in row.items() if name not in kept.words}
    if redacted is None:
        words = {name: row[name] for name in kept.words} | {SALT: salt}
        return SealedRow(id, rest | {"words": chain.mark(words).hex()}, words)
    remains = chain.mark(row | {REDACTED: redacted}).hex()
    if redacted.startswith(AS_IT_WAS):
        return SealedRow(id, rest, remains=remains, kept=redacted.removeprefix(AS_IT_WAS))
    return SealedRow(id, rest | {"words": redacted}, remains=remains)
