"""What in a migration would break old processes is reported, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.postgres import operations as postgres
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState

from stack.checks import migrations as linter

APP = "workflows"
NULL = models.CharField(max_length=10, null=True)
FULL = models.CharField(max_length=10, db_default="")
MADE = migrations.CreateModel("Fresh", [("id", models.BigAutoField(primary_key=True)), ("name", FULL)])


def found(*operations: Operation, contracts: str = "") -> list[str]:
    """Return the problems of a migration on one existing table with a nullable and a required column."""
    before = ProjectState()
    fields: list[tuple[str, models.Field[Any, Any]]] = [
        ("id", models.BigAutoField(primary_key=True)),
        ("maybe", NULL),
        ("name", FULL),
    ]
    before.add_model(ModelState(APP, "Thing", fields))
    given = {"operations": list(operations)} | ({linter.CONTRACTS: contracts} if contracts else {})
    kind = type("Migration", (migrations.Migration,), given)
    return list(linter.problems(kind("0001_test", APP), before))


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("thing", "more", NULL),
        migrations.AddField("thing", "more", FULL),
        migrations.AddField("thing", "many", models.ManyToManyField("workflows.Thing")),
        migrations.AlterField("thing", "maybe", models.CharField(max_length=20, null=True)),
        migrations.AlterField("thing", "name", models.CharField(max_length=10, null=True)),
        migrations.RemoveIndex("thing", "no_matter"),
        postgres.AddIndexConcurrently("thing", models.Index(fields=["name"], name="fine")),
        migrations.RunSQL("UPDATE workflows_thing SET name = '' WHERE maybe IS NULL"),
        MADE,
    ],
    ids=lambda one: one.describe(),
)
def test_what_only_expands_is_fine(operation: Operation) -> None:
    if isinstance(operation, migrations.RemoveIndex):
        added = migrations.AddIndex("thing", models.Index(fields=["name"], name="no_matter"))
        assert len(found(added, operation)) == 1, "adding it stops writers, removing it nobody"
    else:
        assert found(operation) == []


@pytest.mark.parametrize(
    ("operation", "advice"),
    [
        (migrations.RemoveField("thing", "name"), "in the next"),
        (migrations.RenameField("thing", "name", "title"), "in the next"),
        (migrations.RenameModel("Thing", "Object"), "in the next"),
        (migrations.DeleteModel("Thing"), "in the next"),
        (migrations.AlterModelTable("thing", "elsewhere"), "in the next"),
        (migrations.AddField("thing", "more", models.CharField(max_length=10, default="")), "db_default"),
        (
            migrations.AddField("thing", "more", models.CharField(max_length=10, null=True, unique=True)),
            "then the index",
        ),
        (migrations.AlterField("thing", "maybe", models.CharField(max_length=10)), "may write NULL"),
        (migrations.AlterField("thing", "name", models.CharField(max_length=5, db_default="")), "Keep the length"),
        (migrations.AlterField("thing", "name", models.IntegerField(db_default=0)), "Add a new field"),
        (migrations.AddIndex("thing", models.Index(fields=["name"], name="slow")), "AddIndexConcurrently"),
        (
            migrations.AddConstraint("thing", models.UniqueConstraint(fields=["name"], name="once")),
            "add it in the next",
        ),
        (migrations.RunSQL("ALTER TABLE workflows_thing DROP COLUMN name"), "a release later"),
        (migrations.RunSQL("alter table workflows_thing alter name set not null"), "a release later"),
        (
            migrations.SeparateDatabaseAndState(database_operations=[migrations.RemoveField("thing", "name")]),
            "in the next",
        ),
    ],
)
def test_what_old_processes_would_not_survive_is_named_with_what_to_do(operation: Operation, advice: str) -> None:
    (says,) = found(operation)
    assert advice in says


def test_a_migration_that_says_since_when_nothing_uses_it_may_contract() -> None:
    assert found(migrations.RemoveField("thing", "name"), contracts="nothing reads it since 0.1") == []


def test_a_table_of_the_same_migration_may_be_anything() -> None:
    more = models.CharField(max_length=10, default="")
    once = migrations.AddConstraint("fresh", models.UniqueConstraint(fields=["name"], name="once"))
    assert found(MADE, migrations.AddField("fresh", "more", more), once) == []


def test_the_baseline_names_migrations_that_are_there() -> None:
    names = {(app, name[:4]) for app, name in MigrationLoader(None).disk_migrations}
    assert set(linter.BASELINE.items()) <= names
    assert set(linter.OURS) == set(linter.BASELINE)


def test_ours_are_survived() -> None:
    newer = list(linter.newer(MigrationLoader(None)))
    assert newer
    assert not [one for migration, before in newer for one in linter.problems(migration, before)]
