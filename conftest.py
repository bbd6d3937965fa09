"""What every test may ask for."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.test.client import ClientHandler
from pytest_django import DjangoDbBlocker

from config.http import signed_doors
from incidents.outages import database_watch
from integrations.identity import visiting  # noqa: F401  # it hears of sign-ins, as in a process that serves pages
from stack.outside import waiting
from stack.services import chromium
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway
from workflows.status import workers

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

APPEND_ONLY = ("incidents_event", "audit_entry", "audit_redaction", "audit_seal")


@pytest.fixture(scope="session", autouse=True)
def _evidence_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the evidence of tests in a folder that goes with them."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("evidence")
        patch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, evidence_storage=str(folder)))
        yield


@pytest.fixture(scope="session", autouse=True)
def _sessions_as_they_are() -> Iterator[None]:
    """Ask nothing more of the sessions of tests, whose transactions last as long as a busy machine takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database_watch, "_ask_of_sessions", lambda **_: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _workers_as_recorded() -> Iterator[None]:
    """Take workers for gone at once, although the database was away in an earlier test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "REPORTED_S", 0.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _doors_as_served() -> Iterator[None]:
    """Send what vendors post in tests through the middleware that it passes where it is served."""
    others = ClientHandler.get_response

    def answered(handler: ClientHandler, request: HttpRequest) -> HttpResponseBase:
        if signed_doors.is_for(request):
            return signed_doors.SignedDoors().get_response(request)
        return others(handler, request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientHandler, "get_response", answered)
        yield


@pytest.fixture(autouse=True)
def _no_worker_seen() -> None:
    """Let no test know of a worker that another one had."""
    workers._last_seen.clear()  # noqa: SLF001 (what a process remembers)


@pytest.fixture(autouse=True)
def _database_there() -> None:
    """Let no test begin in an outage that another one had."""
    database_watch.database.worked()


@pytest.fixture
def erasable(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let what is append-only be erased after a test that commits; ask for it before `transactional_db`."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        for table in APPEND_ONLY:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        for table in APPEND_ONLY:
            for part in ("rows", "table"):
                cursor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_{part}_kept")


@pytest.fixture(scope="session")
def running_stack() -> Iterator[Stack]:
    """Give one whole stack, shared by all tests that only look at it and use it.

    It knows who is on call: an incident declared before that takes its roles from groups, and is offered a hand-over
    as soon as the schedules are read.
    """
    with throwaway() as stack:
        with psycopg.connect(stack.database_url, autocommit=True) as database:
            read = "SELECT 1 FROM workflows_pagerread WHERE shifts_at IS NOT NULL"
            waiting.until(lambda: database.execute(read).fetchone(), what="who is on call", timeout_s=60)
        yield stack


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Give a real Chromium.

    To one module, not to the session: while it runs, an event loop runs in this thread, which Django's
    database refuses and `asyncio.run` too.
    """
    from playwright.sync_api import sync_playwright

    path = chromium.require()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=chromium.flags())
        yield started
        started.close()


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    """Give a page in a session of its own; a failing script on it fails the test."""
    context = browser.new_context(reduced_motion="reduce")
    shown = context.new_page()
    errors: list[str] = []
    shown.on("pageerror", lambda error: errors.append(str(error)))
    yield shown
    context.close()
    assert not errors
