"""Django's `migrate`, which has nobody wait behind it while it waits for a table that somebody else holds.

Whoever wants to change a table waits for all who read it, and whoever wants to read it then waits for them: a backup
that runs, or a forgotten `psql`, would keep every page and command waiting for as long as it takes.
"""

from __future__ import annotations

import time
from typing import Any, Final

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connection
from django.db.migrations import Migration

from incidents.outages import database_watch

LOCK_S: Final = 0.5  # less than what doors wait for a lock
AGAIN_S: Final = 2.0
PATIENCE_S: Final = 600.0
IN_THE_WAY: Final = ("55P03", database_watch.DEADLOCK)
HOLDERS: Final = """
    SELECT DISTINCT pid, virtualtransaction, coalesce(nullif(application_name, ''), usename, 'unnamed')
      FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'relation' AND granted AND pid <> pg_backend_pid() AND relation >= 16384
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
HELD: Final = "A table that has to change is held by another session of PostgreSQL ({who})."


class Command(migrate.Command):
    """Migrate, and try again what others are in the way of."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Bring the database up to date. Raises `CommandError` where a table is held for too long."""
        gives_up_at, told = time.monotonic() + PATIENCE_S, ""
        while held := self._held(*args, **options):
            if time.monotonic() > gives_up_at:
                raise CommandError(f"{held} End that session, and run this again; what was done already stays.")
            if held != told:
                self.stderr.write(f"{held} Nobody is held up by this; trying again.")
                told = held

    def migration_progress_callback(self, action: str, migration: Migration | None = None, fake: bool = False) -> None:
        """Say how it goes, as usual; before each migration, say how long it may wait for a table."""
        if action == "apply_start" and migration is not None:
            # What builds an index beside everyone else waits for who came before it, and nobody waits for that.
            with connection.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = {round(LOCK_S * 1000) if migration.atomic else 0}")
        super().migration_progress_callback(action, migration, fake)

    def _held(self, *args: Any, **options: Any) -> str:
        """Migrate; return what is in the way, if anything is, once it had a moment to go."""
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
        return HELD.format(who="; ".join(sorted(f"{pid}, {name}" for pid, _, name in stay)) or "one after the other")


def _holders() -> set[tuple[int, str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(HOLDERS)
        return set(cursor.fetchall())
