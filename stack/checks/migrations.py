"""Migrations must not break old processes: during an upgrade, both versions use the same tables.

Expand first, contract a release later. A migration that contracts says in `contracts` since when nothing uses what it
removes. docs/upgrading.md explains each rule.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import django
from django.db.migrations import Migration
from django.db.migrations import operations as ops
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import Field, ManyToManyField

OURS: Final = ("audit", "evidence", "identity", "incidents", "pagerduty", "reviews", "slack", "workflows")
# The newest migration of each app in version 0.1.0. Older ones never ran alongside another version.
BASELINE: Final[Mapping[str, str]] = {
    "audit": "0003",
    "evidence": "0005",
    "identity": "0001",
    "incidents": "0011",
    "pagerduty": "0002",
    "reviews": "0001",
    "slack": "0002",
    "workflows": "0013",
}
CONTRACTS: Final = "contracts"  # on a Migration: why nothing uses what it removes any more
GONE: Final = (ops.RemoveField, ops.DeleteModel, ops.RenameField, ops.RenameModel, ops.AlterModelTable)
SPOILS: Final = re.compile(
    r"\b(DROP\s+(TABLE|COLUMN)|RENAME\s+(TO|COLUMN)|SET\s+NOT\s+NULL|TYPE\s+\w+)\b", re.IGNORECASE
)

Rule = Callable[[Any, ProjectState, str], Iterator[str]]


def _takes_away(operation: Operation, before: ProjectState, app: str) -> Iterator[str]:
    yield f"{operation.describe()}: old processes still use it. Stop using it in one release and do this in the next."


def _adds(operation: ops.AddField, before: ProjectState, app: str) -> Iterator[str]:
    field = operation.field
    if not (field.null or field.has_db_default() or isinstance(field, ManyToManyField)):
        yield (
            f"{operation.describe()}: old processes do not fill it in, so their rows are refused. Give it null=True "
            "or a db_default."
        )
    if field.unique:
        yield f"{operation.describe()}: a unique index is built while writes wait. Add the field, then the index."


def _alters(operation: ops.AlterField, before: ProjectState, app: str) -> Iterator[str]:
    was: Field[Any, Any] = before.models[app, operation.model_name_lower].get_field(operation.name)
    now = operation.field
    if was.null and not now.null:
        yield f"{operation.describe()}: old processes may write NULL. Stop that in one release and do this in the next."
    if (longest := getattr(now, "max_length", None)) and (getattr(was, "max_length", None) or 0) > longest:
        yield f"{operation.describe()}: what is longer is refused. Keep the length, and check it in the form."
    if was.get_internal_type() != now.get_internal_type():
        yield f"{operation.describe()}: everyone waits while the table is rewritten. Add a new field instead."


def _indexes(operation: ops.AddIndex, before: ProjectState, app: str) -> Iterator[str]:
    if _is_there(before, app, operation.model_name):
        yield f"{operation.describe()}: writes wait while it is built. Use AddIndexConcurrently with atomic = False."


def _constrains(operation: ops.AddConstraint, before: ProjectState, app: str) -> Iterator[str]:
    if _is_there(before, app, operation.model_name):
        yield (
            f"{operation.describe()}: old processes may write rows that break it. Have one release keep to it, then "
            "add it in the next, with AddConstraintNotValid and ValidateConstraint where it is a check."
        )


def _runs_sql(operation: ops.RunSQL, before: ProjectState, app: str) -> Iterator[str]:
    if SPOILS.search(str(operation.sql)):
        yield f"{operation.describe()}: it takes away or rewrites what old processes use. Do that a release later."


RULES: Final[Mapping[type[Operation], Rule]] = {
    **dict.fromkeys(GONE, _takes_away),
    ops.AddField: _adds,
    ops.AlterField: _alters,
    ops.AddIndex: _indexes,
    ops.AddConstraint: _constrains,
    ops.RunSQL: _runs_sql,
}


def _is_there(before: ProjectState, app: str, model: str) -> bool:
    return (app, model.lower()) in before.models


def problems(migration: Migration, before: ProjectState) -> Iterator[str]:
    """Yield what in a migration would break old processes; empty if it says that and why it contracts."""
    if getattr(migration, CONTRACTS, ""):
        return
    app, there = migration.app_label, before
    state = before.clone()
    for operation in _flat(migration):
        rule = RULES.get(type(operation))
        if rule is not None:
            # A table that this migration creates is empty, and not used yet.
            made = _model_of(operation)
            if not made or _is_there(there, app, made):
                yield from rule(operation, state, app)
        operation.state_forwards(app, state)


def _flat(migration: Migration) -> Iterator[Operation]:
    for operation in migration.operations:
        if isinstance(operation, ops.SeparateDatabaseAndState):
            yield from operation.database_operations or operation.state_operations
        else:
            yield operation


def _model_of(operation: Operation) -> str:
    return str(getattr(operation, "model_name", "") or getattr(operation, "name", "") or "")


def newer(loader: MigrationLoader) -> Iterator[tuple[Migration, ProjectState]]:
    """Yield our migrations that are newer than the baseline, each with the state that it finds."""
    for (app, name), migration in sorted(loader.disk_migrations.items()):
        if app in OURS and name[:4] > BASELINE.get(app, ""):
            yield migration, loader.project_state((app, name), at_end=False)


def main() -> int:
    """Report what would break old processes; 1 if there is anything."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings_test")
    django.setup()
    found = 0
    for migration, before in newer(MigrationLoader(None)):
        for problem in problems(migration, before):
            print(f"{migration.app_label}/migrations/{migration.name}.py: {problem}")
            found += 1
    if found:
        print(f'If nothing uses it since an earlier release, say so in the migration: {CONTRACTS} = "...".')
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
