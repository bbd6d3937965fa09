"""Ask in one statement which of several tables hold a row that waits: most looks of a sweep find nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from django.db import connection
from django.db.models import QuerySet

Look = Callable[[datetime], QuerySet[Any]]
SOME_MOMENT: Final = datetime(1, 2, 3, tzinfo=UTC)  # stands in the written statement for when it is asked


class Glance:
    """Tell of each look whether it would find a row; the statement is written once, as writing takes the longest."""

    def __init__(self, looks: Mapping[str, Look]) -> None:
        self._looks = looks
        self._written: tuple[str, tuple[Any, ...]] | None = None

    def __call__(self, *, at: datetime) -> frozenset[str]:
        """Return the names of the looks that find a row at a moment."""
        if self._written is None:
            self._written = self._write()
        sql, parameters = self._written
        with connection.cursor() as cursor:
            cursor.execute(sql, [at if one == SOME_MOMENT else one for one in parameters])
            return frozenset(name for name, found in zip(self._looks, cursor.fetchone(), strict=True) if found)

    def _write(self) -> tuple[str, tuple[Any, ...]]:
        parts = [look(SOME_MOMENT).order_by().values("pk").query.sql_with_params() for look in self._looks.values()]
        sql = ", ".join(f"EXISTS ({sql})" for sql, _ in parts)
        return f"SELECT {sql}", tuple(one for _, parameters in parts for one in parameters)
