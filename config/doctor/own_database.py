"""The database: whether it responds, which role we use, whether it fits this version, and what it holds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from config import database
from config.doctor import server_fitness
from config.process.told_plainly import unusable
from incidents.models import IncidentType
from incidents.outages import database_watch
from integrations.check_result import CheckResult, note, wrong

FAR_S: Final = 0.1
ROLE: Final = """
    SELECT current_user, rolsuper,
           EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('audit_entry') AND pg_has_role(relowner, 'MEMBER'))
      FROM pg_roles WHERE rolname = current_user
"""


def findings() -> Iterator[CheckResult]:
    """Yield a finding for each; stop if the database does not respond or cannot be used."""
    refused = list(_refused())
    yield from refused
    if refused:
        return
    yield from distant(_round_trip_s())
    yield role()
    behind = list(_migrations())
    yield from behind or [CheckResult("The database has every migration of this version, and no other.")]
    if not any(one for one in behind if not one.is_fine):
        yield _types()


def _refused() -> Iterator[CheckResult]:
    """Report why the database, or the address past its pooler, cannot be used; later checks then do not wait for it."""
    if why := database.why_not(database_watch.address()):
        database_watch.wait_no_longer()
        yield wrong(unusable(why))
        yield from _direct()
        return
    yield from (wrong(says) for says in (*server_fitness.unfit(), *server_fitness.closed()))
    if why := server_fitness.read_only():
        yield wrong(why)
    yield from _direct()


def _direct() -> Iterator[CheckResult]:
    direct_url = settings.FIREKIND.database_direct_url
    if direct_url and (why := database.refusal(direct_url)):
        yield wrong(f"The database cannot be reached past its pooler: {why}. Correct DATABASE_DIRECT_URL.")


def distant(round_trip_s: float) -> Iterator[CheckResult]:
    """Report a database that is too far away: a command sends it some fifteen statements before it answers."""
    if round_trip_s > FAR_S:
        yield note(
            f"The database takes {round_trip_s * 1000:.0f} ms for each answer, so commands in Slack, which waits three "
            "seconds, may time out. Run Firekind near it."
        )


def _round_trip_s() -> float:
    """Measure the fastest of a few round trips."""
    taken = []
    with connection.cursor() as cursor:
        for _ in range(3):
            began = time.perf_counter()
            cursor.execute("SELECT 1")
            taken.append(time.perf_counter() - began)
    return min(taken)


def role() -> CheckResult:
    """Report whether our database role owns what the application must not change."""
    with connection.cursor() as cursor:
        cursor.execute(ROLE)
        name, is_super, owns = cursor.fetchone()
    if is_super or owns:
        does = "is a superuser" if is_super else "owns the tables"
        return note(
            f"The database role {name} {does}, so the application could change the audit. Connect as a role that owns "
            "nothing: docs/audit.md says how."
        )
    return CheckResult(f"The database role {name} owns nothing.")


def _migrations() -> Iterator[CheckResult]:
    executor = MigrationExecutor(connection)
    loader = executor.loader
    missing = [migration for migration, _ in executor.migration_plan(loader.graph.leaf_nodes())]
    if missing:
        named = _some([f"{one.app_label}.{one.name}" for one in missing])
        yield wrong(f"The database lacks {named}. Run `manage.py migrate` as the owner of the tables.")
    ours = {app for app, _ in loader.disk_migrations}
    newer = sorted(key for key in loader.applied_migrations if key[0] in ours and key not in loader.disk_migrations)
    if newer:
        named = _some([".".join(key) for key in newer])
        yield note(f"The database was migrated by a newer version ({named}). Upgrade this one soon: docs/upgrading.md.")


def _types() -> CheckResult:
    if IncidentType.objects.exists():
        return CheckResult("There are incident types.")
    return wrong("There are no incident types, so nothing can be declared. Run `manage.py load_types`.")


def _some(names: Sequence[str], *, most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
