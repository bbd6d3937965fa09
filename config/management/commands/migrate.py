"""Django's `migrate`, without blocking others while it waits for a table that another session holds.

A migration that changes a table waits for all sessions that read it, and later readers queue behind the migration. So
a running backup, or a forgotten `psql`, would block every page and command for as long as it lasts.
"""

from __future__ import annotations

import time
from typing import Any, Final

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connection
from django.db.migrations import Migration

from incidents.outages import database_watch

LOCK_S: Final = 0.5  # less than the doors wait for a lock
AGAIN_S: Final = 2.0
PATIENCE_S: Final = 600.0
IN_THE_WAY: Final = ("55P03", database_watch.DEADLOCK)
HOLDERS: Final = """
    SELECT DISTINCT pid, virtualtransaction, coalesce(nullif(application_name, ''), usename, 'unnamed')
      FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'relation' AND granted AND pid <> pg_backend_pid() AND relation >= 16384
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
HELD: Final = "Another PostgreSQL session holds a table that has to change ({who})."


class Command(migrate.Command):
    """Migrate, and retry migrations that other sessions block."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Bring the database up to date. Raises `CommandError` if a table is held for too long."""
        gives_up_at, told = time.monotonic() + PATIENCE_S, ""
        while held := self._held(*args, **options):
            if time.monotonic() > gives_up_at:
                raise CommandError(f"{held} End that session and run this again. Migrations already applied stay.")
            if held != told:
                self.stderr.write(f"{held} This isn't blocking anyone. Retrying.")
                told = held

    def migration_progress_callback(self, action: str, migration: Migration | None = None, fake: bool = False) -> None:
        """Report progress as usual; before each migration, limit how long it may wait for a table."""
        if action == "apply_start" and migration is not None:
            # Building an index concurrently (not atomic) waits for earlier transactions, but blocks no one.
            with connection.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = {round(LOCK_S * 1000) if migration.atomic else 0}")
        super().migration_progress_callback(action, migration, fake)

    def _held(self, *args: Any, **options: Any) -> str:
        """Migrate; return what is in the way, if anything, after giving it a moment to finish."""
        try:
            super().handle(*args, **options)
        except OperationalError as error:
            if database_watch.state_of(error) not in IN_THE_WAY:
                raise
        else:
            return ""
        before = _holders()
        time.sleep(AGAIN_S)
        stay = _holders() & before
        return HELD.format(who="; ".join(sorted(f"{pid}, {name}" for pid, _, name in stay)) or "several in turn")


def _holders() -> set[tuple[int, str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(HOLDERS)
        return set(cursor.fetchall())
