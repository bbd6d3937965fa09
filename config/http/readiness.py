"""The checks behind `/ready`: whether an incident declared now would be carried out, part by part."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final

from django.db import Error, connection, transaction
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from config.process import broker_probe
from incidents.outages import database_watch, migrated, outage_answer
from workflows.status import workers

DATABASE, BROKER, MIGRATIONS, WORKER = "database", "broker", "migrations", workers.WORKER
NEEDED: Final = (DATABASE, MIGRATIONS, WORKER)  # without the others everything is still carried out, only later
MENDS: Final[Mapping[str, str]] = {
    DATABASE: "PostgreSQL, or the pooler in front of it, does not answer: start it, or correct DATABASE_URL.",
    BROKER: "The broker does not answer in time or takes no messages: start it, free its memory or disk, or correct"
    " BROKER_URL. Workers look for work themselves.",
    MIGRATIONS: migrated.MEND,
    WORKER: "No worker was seen recently: start `python -m stack worker`.",
    workers.EVIDENCE: "No evidence worker was seen recently: start `python -m stack evidence`, or the worker if it"
    " reads evidence (EVIDENCE_IN_WORKER).",
}
READ_ONLY: Final = "PostgreSQL is read-only, so nothing can be recorded: `manage.py doctor` says why."
LOCKED_OUT: Final = "PostgreSQL is running, but refuses new connections: `manage.py doctor` says why."
ENDED: Final = (
    "PostgreSQL answers, but ended Firekind's query: someone may hold a lock, or cancel queries."
    " pg_blocking_pids() names the session in the way."
)
REFUSED: Final = "PostgreSQL answers, but rejects Firekind's queries: `manage.py doctor` says why."
# Each part here is only visible through another one; while that is away, its state is unknown.
RESTS_ON: Final[Mapping[str, str]] = {MIGRATIONS: DATABASE, WORKER: MIGRATIONS, workers.EVIDENCE: MIGRATIONS}
UNKNOWN: Final = "Unknown until what it depends on works. Fix that first."
# What declaring an incident and carrying it out writes.
WRITTEN: Final = (
    *("incidents_codename", "incidents_event", "incidents_incident", "incidents_participant"),
    *("workflows_effect", "workflows_limit", "workflows_planned", "workflows_resource"),
)
LOCKED_MS: Final = 500  # how long to wait for someone else's lock: monitoring gives up on us after a few seconds
BROKER_S: Final = 1.0  # for the whole exchange: monitoring gives up on us after a few seconds
_asking = ThreadPoolExecutor(1, thread_name_prefix="ask the broker")
_asked: list[Future[BaseException | None]] = []  # the running probe, shared by everyone who asks in the meantime
_lock = threading.Lock()


def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 if a declaration would be carried out, else 503; lists each part, with how to fix it."""
    broker = _the_broker()
    fine = dict.fromkeys(MENDS, False)
    mends = dict(MENDS)
    try:
        fine |= _of_the_database(mends)
    except Error as error:
        if database_watch.has_ended(error):
            mends[DATABASE] = ENDED
        elif not database_watch.is_to_blame(error):
            mends[DATABASE] = REFUSED
    if database_watch.is_away() and database_watch.refuses():
        mends[DATABASE] = LOCKED_OUT
    wait([broker], timeout=BROKER_S)
    fine[BROKER] = broker.done() and broker.result() is None
    mends |= {name: UNKNOWN for name, rests_on in RESTS_ON.items() if not fine[rests_on]}
    parts = {name: {"ok": ok} if ok else {"ok": ok, "mend": mends[name]} for name, ok in fine.items()}
    is_ready = all(fine[name] for name in NEEDED)
    answer = JsonResponse({"ready": is_ready, "parts": parts}, status=200 if is_ready else 503)
    return outage_answer.unlogged(answer)


def _the_broker() -> Future[BaseException | None]:
    """Start to probe the broker in a thread; callers that come while the probe runs share its result."""
    with _lock:
        if not _asked or _asked[0].done():
            _asked[:] = [_asking.submit(broker_probe.error)]
        return _asked[0]


def _of_the_database(mends: dict[str, str]) -> dict[str, bool]:
    if database_watch.is_away():
        return {}
    if not workers.can_report():
        mends[DATABASE] = READ_ONLY
        return {}
    if not migrated.is_migrated():
        return {DATABASE: True}
    _wait_for_locks()
    seen = workers.living(at=timezone.now())
    return {DATABASE: True, MIGRATIONS: True} | {kind: kind in seen for kind in workers.KINDS}


def _wait_for_locks() -> None:
    """Raise the server's error if someone keeps a lock that would hold up a declaration; change nothing."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [str(LOCKED_MS)])
        cursor.execute(f"LOCK TABLE {', '.join(WRITTEN)} IN ROW EXCLUSIVE MODE")
