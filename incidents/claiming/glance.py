"""Ask in one statement which of many looks would find something: most of them find nothing.

What a regular look would act on is declared beside it by ``acts_on``; whoever takes looks glances first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Generic, NamedTuple, ParamSpec, TypeVar

from django.db import connection
from django.db.models import QuerySet

from incidents.claiming.shared_clock import clock

P = ParamSpec("P")
R = TypeVar("R")
Name = TypeVar("Name")

NAMED: Final = re.compile(r"%\((\w+)\)s")
GIVEN: Final = re.compile("%[s%]")


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment by this process's clock, ``own``, and by the one that all processes share."""

    own: datetime
    shared: datetime


class Sql(NamedTuple):
    """A statement with named parameters."""

    statement: str
    values: Mapping[str, Any]


Look = Callable[[Moment], QuerySet[Any] | Sql]
# Stand in the written statement for when it is asked.
SOME: Final = Moment(own=datetime(1, 2, 3, tzinfo=UTC), shared=datetime(1, 2, 4, tzinfo=UTC))
MOMENTS: Final = (SOME.own, SOME.shared)  # compared, not hashed: a value may be a list
LOOKS: Final[dict[str, Mapping[str, Look]]] = {}  # by the full name of a regular look


def acts_on(**looks: Look) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare that a regular look does nothing while all of these find nothing."""

    def declare(take: Callable[P, R]) -> Callable[P, R]:
        LOOKS[f"{take.__module__}.{take.__qualname__}"] = looks
        return take

    return declare


class Glance(Generic[Name]):
    """Tell of each look whether it would find a row; the statement is written once, as writing takes the longest."""

    def __init__(self, looks: Mapping[Name, Look]) -> None:
        self._looks = looks
        self._written: Sql | None = None

    def __call__(self, *, at: datetime) -> frozenset[Name]:
        """Return the names of the looks that find a row at a moment of this process's clock."""
        if self._written is None:
            self._written = self._write()
        sql, values = self._written
        now = {SOME.own: at, SOME.shared: clock.at(at)}
        with connection.cursor() as cursor:
            cursor.execute(sql, {name: now[one] if one in MOMENTS else one for name, one in values.items()})
            return frozenset(name for name, found in zip(self._looks, cursor.fetchone(), strict=True) if found)

    def _write(self) -> Sql:
        parts = [_sql(look(SOME), f"p{n}") for n, look in enumerate(self._looks.values())]
        sql = ", ".join(f"EXISTS ({sql})" for sql, _ in parts)
        return Sql(f"SELECT {sql}", {name: one for _, values in parts for name, one in values.items()})


def _sql(found: QuerySet[Any] | Sql, prefix: str) -> Sql:
    """Write what a look finds, with parameters whose names no other look's have."""
    if isinstance(found, Sql):
        named = NAMED.sub(rf"%({prefix}_\1)s", found.statement)
        return Sql(named, {f"{prefix}_{name}": one for name, one in found.values.items()})
    sql, given = found.order_by().values("pk").query.sql_with_params()
    values = {f"{prefix}_{n}": one for n, one in enumerate(given)}
    names = iter(values)
    return Sql(GIVEN.sub(lambda found: f"%({next(names)})s" if found[0] == "%s" else found[0], sql), values)
