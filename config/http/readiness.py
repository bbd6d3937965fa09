"""The checks behind `/ready`: whether an incident declared now would be carried out, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from config.process import broker_probe
from incidents.outages import database_watch, outage_answer
from workflows.status import workers

DATABASE, BROKER, MIGRATIONS, WORKER = "database", "broker", "migrations", workers.WORKER
NEEDED: Final = (DATABASE, MIGRATIONS, WORKER)  # without the others everything is still carried out, only later
MENDS: Final[Mapping[str, str]] = {
    DATABASE: "PostgreSQL does not answer, or is a standby that takes nothing: start it, or correct DATABASE_URL.",
    BROKER: "The broker does not answer or takes no messages: start it, free its disk, or correct BROKER_URL."
    " Workers look for work themselves.",
    MIGRATIONS: "The database is of another version: run `python -m stack prepare`.",
    WORKER: "No worker was seen lately: start `python -m stack worker`.",
    workers.EVIDENCE: "No worker of evidence was seen lately: start `python -m stack evidence`.",
}
REFUSED: Final = "PostgreSQL answers, and refuses what Firekind asks of it: `manage.py doctor` says why."
# Each part here is only visible through another one; while that is away, its state is unknown.
RESTS_ON: Final[Mapping[str, str]] = {MIGRATIONS: DATABASE, WORKER: MIGRATIONS, workers.EVIDENCE: MIGRATIONS}
UNKNOWN: Final = "Unknown until what it depends on works. Fix that first."
_migrated: list[bool] = []  # set once all are applied: for this process's code, that cannot change


def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 if a declaration would be carried out, else 503; lists each part, with how to fix it."""
    fine = dict.fromkeys(MENDS, False) | {BROKER: broker_probe.error() is None}
    mends = dict(MENDS)
    try:
        fine |= _of_the_database()
    except Error as error:
        if not database_watch.is_to_blame(error):
            mends[DATABASE] = REFUSED
    mends |= {name: UNKNOWN for name, rests_on in RESTS_ON.items() if not fine[rests_on]}
    parts = {name: {"ok": ok} if ok else {"ok": ok, "mend": mends[name]} for name, ok in fine.items()}
    is_ready = all(fine[name] for name in NEEDED)
    answer = JsonResponse({"ready": is_ready, "parts": parts}, status=200 if is_ready else 503)
    return outage_answer.unlogged(answer)


def _of_the_database() -> dict[str, bool]:
    if database_watch.is_away():
        return {}
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        if cursor.fetchone() == ("on",):
            return {}
    if not _is_migrated():
        return {DATABASE: True}
    seen = workers.living(at=timezone.now())
    return {DATABASE: True, MIGRATIONS: True} | {kind: kind in seen for kind in workers.KINDS}


def _is_migrated() -> bool:
    if not _migrated:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return False
        _migrated.append(True)
    return True
