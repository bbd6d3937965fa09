"""Models read and written by SQL built once, where Django takes longer to build a statement than it takes to run.

Used for what every command, plan and page reads first, and what every effect writes: Django's compiler would otherwise
take more than half of their time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from django.db import connection
from django.db.models import Field, ForeignKey, Model, OneToOneRel

from incidents.column_names import column_names

Row = TypeVar("Row", bound=Model)
Converter = Callable[[Any, Any, Any], Any]


class WrittenRows(Generic[Row]):
    """The columns of a model in a statement, and the instances built from its rows.

    ``of`` is the table's alias in the statement; ``but`` are fields that are loaded only on access. ``beside`` are the
    columns of related models that the statement joins: those that some fields refer to, or the one that refers to this.
    """

    def __init__(
        self,
        model: type[Row],
        *,
        of: str,
        but: Sequence[str] = (),
        beside: Mapping[str, WrittenRows[Any]] | None = None,
    ) -> None:
        self.model: Final = model
        self.fields: Final[list[Field[Any, Any]]] = [
            one
            for one in model._meta.concrete_fields  # noqa: SLF001 (Django's documented way to them)
            if one.name not in but
        ]
        self.names: Final = [one.attname for one in self.fields]
        self.key: Final = self.names.index(str(model._meta.pk.attname))  # noqa: SLF001 (as above)
        self.beside: Final = [(self._refers(name), rows) for name, rows in (beside or {}).items()]
        joined = [rows.columns for _, rows in self.beside]
        self.columns: Final[str] = ", ".join([column_names(model, of=of, but=but), *joined])
        self.width: Final[int] = len(self.names) + sum(rows.width for _, rows in self.beside)

    def read(self, rest: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """Return what a statement finds: ``rest`` is all that follows the columns, ``params`` its parameters."""
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {self.columns} {rest}", params)
            return [self.found(values) for values in cursor.fetchall()]

    def first(self, rest: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> Row | None:
        """Return the first result of a statement, as ``read`` does, or None."""
        return next(iter(self.read(rest, params)), None)

    def found(self, values: Sequence[Any]) -> Row:
        """Return the instance for a row's columns, whose key must not be NULL."""
        found = self.made(values)
        assert found is not None, "its own row is never missing"
        return found

    def made(self, values: Sequence[Any]) -> Row | None:
        """Return the instance for a row's columns; None if an outer join found nothing."""
        if values[self.key] is None:
            return None
        own = list(values[: len(self.names)])
        for at, column, converters in self._converted:
            for converter in converters:
                own[at] = converter(own[at], column, connection)
        made = self.model.from_db(connection.alias, self.names, own)
        at = len(own)
        for field, rows in self.beside:
            other = rows.made(values[at : at + rows.width])
            field.set_cached_value(made, other)
            if other is not None and isinstance(field, OneToOneRel):
                field.remote_field.set_cached_value(other, made)
            at += rows.width
        return made

    def _refers(self, name: str) -> ForeignKey[Any, Any] | OneToOneRel:
        field = self.model._meta.get_field(name)  # noqa: SLF001 (as above)
        assert isinstance(field, ForeignKey | OneToOneRel), f"{name} refers to nothing"
        return field

    @cached_property
    def _converted(self) -> list[tuple[int, Any, list[Converter]]]:
        """Return the conversions that the driver's values of some columns need, as Django's own rows do."""
        found = []
        for at, field in enumerate(self.fields):
            column = field.get_col(self.model._meta.db_table)  # noqa: SLF001 (as above)
            converters = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
            if converters:
                found.append((at, column, converters))
        return found


class WrittenInsert(Generic[Row]):
    """An insert of any number of new rows: one statement with one parameter, which PostgreSQL plans once.

    With ``unique`` fields, an existing row with the same values takes on the values of the ``update`` fields. With
    ``given``, rows bring their keys. ``computed`` maps fields to the SQL that computes them from the others, in a row
    called ``new``.
    """

    def __init__(
        self,
        model: type[Row],
        *,
        unique: Sequence[str] = (),
        update: Sequence[str] = (),
        given: bool = False,
        computed: Mapping[str, str] | None = None,
    ) -> None:
        self.model: Final = model
        self.given: Final = given
        self.computed: Final = computed or {}
        self.unique: Final = unique
        self.update: Final = update

    def add(self, rows: Iterable[Row]) -> None:
        """Insert rows; the instances do not get their keys or computed fields."""
        values = [{field.column: _plain(getattr(row, field.attname)) for field in self._fields} for row in rows]
        if values:
            with connection.cursor() as cursor:
                cursor.execute(self._statement, [json.dumps(values)])

    def there(self, row: Row, **generated: Any) -> Row:
        """Turn an inserted instance into one as if read, with its generated values; computed fields stay unloaded."""
        row._state.adding, row._state.db = False, connection.alias  # noqa: SLF001 (as Django's own rows)
        vars(row).update(generated)
        for name in self.computed:
            vars(row).pop(name, None)
        return row

    @cached_property
    def _fields(self) -> list[Field[Any, Any]]:
        own = self.model._meta.concrete_fields  # noqa: SLF001 (Django's documented way to them)
        made_there = {one.name for one in own if one.generated or (one.primary_key and not self.given)}
        return [one for one in own if one.name not in made_there | self.computed.keys()]

    @cached_property
    def _statement(self) -> str:
        columns = ", ".join(f'"{one.column}"' for one in self._fields)
        typed = ", ".join(f'"{one.column}" {one.db_type(connection)}' for one in self._fields)
        table = self.model._meta.db_table  # noqa: SLF001 (as above)
        into = ", ".join([columns, *(f'"{one}"' for one in self.computed)])
        said = ", ".join([columns, *self.computed.values()])
        known = self._columns(self.unique)
        takes_on = ", ".join(f"{one} = excluded.{one}" for one in self._columns(self.update))
        otherwise = f"ON CONFLICT ({', '.join(known)}) DO UPDATE SET {takes_on}" if known else ""
        given = f"SELECT {said} FROM jsonb_to_recordset(%s::jsonb) AS new ({typed})"  # noqa: S608 (columns of ours)
        return f'INSERT INTO "{table}" ({into}) {given} {otherwise}'

    def _columns(self, names: Iterable[str]) -> list[str]:
        columns = {one.name: one.column for one in self._fields}
        return [f'"{columns[name]}"' for name in names]


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
