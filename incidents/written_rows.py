"""Models read by SQL that is written out, where Django takes longer to put a statement together than it takes to run.

What every command and page asks first is read so: Django's compiler otherwise takes more than half of a command's time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from django.db import connection
from django.db.models import Field, Model

from incidents.column_names import column_names

Row = TypeVar("Row", bound=Model)
Converter = Callable[[Any, Any, Any], Any]


class WrittenRows(Generic[Row]):
    """The columns of a model in a statement, and the model of what such a statement returns.

    ``of`` is what the statement calls the table; ``but`` are fields that are not read before they are asked for.
    """

    def __init__(self, model: type[Row], *, of: str, but: Sequence[str] = ()) -> None:
        self.model: Final = model
        self.fields: Final[list[Field[Any, Any]]] = [
            one
            for one in model._meta.concrete_fields  # noqa: SLF001 (Django's documented way to them)
            if one.name not in but
        ]
        self.names: Final = [one.attname for one in self.fields]
        self.columns: Final = column_names(model, of=of, but=but)
        self.key: Final = self.names.index(str(model._meta.pk.attname))  # noqa: SLF001 (as above)

    def made(self, values: Sequence[Any]) -> Row | None:
        """Return the model of the first of these columns; None where an outer join found nothing."""
        if values[self.key] is None:
            return None
        values = list(values[: len(self.names)])
        for at, column, converters in self._converted:
            for converter in converters:
                values[at] = converter(values[at], column, connection)
        return self.model.from_db(connection.alias, self.names, values)

    @cached_property
    def _converted(self) -> list[tuple[int, Any, list[Converter]]]:
        """Return what the driver's values of some columns go through, as Django's own rows do."""
        found = []
        for at, field in enumerate(self.fields):
            column = field.get_col(self.model._meta.db_table)  # noqa: SLF001 (as above)
            converters = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
            if converters:
                found.append((at, column, converters))
        return found
