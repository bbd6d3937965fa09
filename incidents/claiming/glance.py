"""Ask in one statement which of many looks would find something: most of them find nothing.

A regular look declares what it would act on with ``acts_on``; the process that takes looks glances first.
"""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Moment:
    """The same moment by this process's clock, ``own``, and by the clock all processes share."""

    own: datetime
    shared: datetime


class Sql(NamedTuple):
    """A statement with named parameters."""

    statement: str
    values: Mapping[str, Any]


Look = Callable[[Moment], QuerySet[Any] | Sql]
# Placeholders in the written statement for the moment at which it is run.
SOME: Final = Moment(own=datetime(1, 2, 3, tzinfo=UTC), shared=datetime(1, 2, 4, tzinfo=UTC))
LOOKS: Final[dict[str, Mapping[str, Look]]] = {}  # by the full name of the look's function


def acts_on(**looks: Look) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare that a regular look has nothing to do while all of these find nothing."""

    def declare(take: Callable[P, R]) -> Callable[P, R]:
        LOOKS[f"{take.__module__}.{take.__qualname__}"] = looks
        return take

    return declare


class Glance(Generic[Name]):
    """Tell which looks would find a row. The statement is written once, because writing it takes the longest.

    It has no parameters. PostgreSQL caches one plan for any values of a repeated statement with parameters, so it could
    not use the indexes of waiting rows and would read whole tables each time.
    """

    def __init__(self, looks: Mapping[Name, Look]) -> None:
        self._looks = looks
        self._written: str | None = None

    def __call__(self, *, at: datetime) -> frozenset[Name]:
        """Return the names of the looks that find a row at a moment of this process's clock."""
        with connection.cursor() as cursor:
            if self._written is None:
                self._written = self._write()
            sql = self._written
            for some, now in ((SOME.own, at), (SOME.shared, clock.at(at))):
                sql = sql.replace(_literal(some), _literal(now))
            cursor.execute(sql)
            return frozenset(name for name, found in zip(self._looks, cursor.fetchone(), strict=True) if found)

    def _write(self) -> str:
        """Write the statement for the ``SOME`` moment."""
        return f"SELECT {', '.join(f'EXISTS ({_sql(look(SOME))})' for look in self._looks.values())}"


def _sql(found: QuerySet[Any] | Sql) -> str:
    """Render what a look finds as SQL, with its values as PostgreSQL literals."""
    if isinstance(found, Sql):
        return _composed(*found)
    return _composed(*found.order_by().values("pk").query.sql_with_params())


def _composed(sql: str, values: Any) -> str:
    return str(connection.ops.compose_sql(sql, values))  # type: ignore[attr-defined]  # PostgreSQL's has it


def _literal(moment: datetime) -> str:
    return _composed("%s", [moment])
