"""However many requests of one kind hang, those of every other kind are answered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, Final

import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from config.database import CONNECTIONS
from config.http.serving import KEEPS, Application
from config.postgresql import shares
from config.tests.test_serving import scope
from integrations.api import gate
from stack.outside import until

Talk: Any = ApplicationCommunicator  # it comes without types
FORM: Final = "application/x-www-form-urlencoded"
HANGING: Final = 12  # more than any kind has threads
# One request of each kind: how it is sent, and what it carries.
KINDS: Final[dict[str, tuple[str, str, str]]] = {
    "page": ("GET", "/incidents/amber-otter/", ""),
    "profile": ("GET", "/incidents/amber-otter/evidence/1/", ""),
    "sign-in begun": ("POST", "/sign-in/with/example", FORM),
    "sign-in ended": ("GET", "/sign-in/example/back", ""),
    "command": ("POST", "/slack/events", FORM),
    "event": ("POST", "/slack/events", "application/json"),
    "page from the pager": ("POST", "/pagerduty/webhook", "application/json"),
    "ticket": ("POST", "/tracker/webhook", "application/json"),
    "file": ("POST", "/api/v1/incidents/amber-otter/evidence", "application/octet-stream"),
    "program": ("GET", "/api/v1/incidents", ""),
    "readiness": ("GET", "/ready", ""),
    "liveness": ("GET", "/health", ""),
}
SAME: Final = {"sign-in begun": "sign-in ended", "sign-in ended": "sign-in begun"}  # they ask the same provider
UNASKING: Final = {"/ready", "/health"}  # they ask the database on connections of their own, or not at all
let_go = threading.Event()
hanging: list[str] = []


def view(request: HttpRequest, **_: str) -> HttpResponse:
    if request.path not in UNASKING and connection.settings_dict["OPTIONS"].get("pool"):
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    if "hang" in request.headers:
        hanging.append(request.path)
        assert let_go.wait(60)
    return HttpResponse(b"answered")


urlpatterns = [path("<path:any>", view)]


@pytest.fixture(autouse=True)
def _urls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(gate, "check", lambda *_, **__: None)
    let_go.clear()
    hanging.clear()
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[], SIGNED_MIDDLEWARE=[]):
        yield


@pytest.fixture
def pooled(erasable: None, transactional_db: None) -> Iterator[None]:
    """Share as few connections among all threads as a web process does."""
    options = connection.settings_dict["OPTIONS"]
    connection.close()
    options["pool"] = {"min_size": 1, "max_size": CONNECTIONS, "timeout": 60}
    shares.divide(shares.Shares(CONNECTIONS, KEEPS))
    yield
    shares.divide(None)
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL wrapper alone, which this is
    del options["pool"]


@pytest.mark.parametrize("spared", [kind for kind in KINDS if kind not in SAME])
def test_whatever_else_hangs_together_on_a_connection_each_this_is_answered(pooled: None, spared: str) -> None:
    async def come() -> int:
        application = Application()
        others = [kind for kind in KINDS if kind != spared for _ in range(HANGING)]
        stuck = [await sent(application, kind, hang="yes") for kind in others]
        await asyncio.to_thread(until, lambda: len(hanging) >= CONNECTIONS - 5, what="too few hang")
        talk = await sent(application, spared)
        answer = await status(talk)
        let_go.set()
        await asyncio.gather(*(status(one) for one in stuck))
        return answer

    assert asyncio.run(come()) == 200


@pytest.mark.parametrize("hanging", KINDS)
def test_whatever_hangs_every_other_kind_is_answered(hanging: str) -> None:
    others = [kind for kind in KINDS if kind not in {hanging, SAME.get(hanging)}]

    async def come() -> list[int]:
        application = Application()
        stuck = [await sent(application, hanging, hang="yes") for _ in range(HANGING)]
        await asyncio.sleep(0)
        answers = [await sent(application, kind) for kind in others]
        statuses = await asyncio.gather(*(status(one) for one in answers))
        let_go.set()
        await asyncio.gather(*(status(one) for one in stuck))
        return list(statuses)

    assert dict(zip(others, asyncio.run(come()), strict=True)) == dict.fromkeys(others, 200)


async def sent(application: Application, kind: str, **headers: str) -> Any:
    method, where, carries = KINDS[kind]
    talk = Talk(application, scope(where, method=method, kind=carries, **headers))
    await talk.send_input({"type": "http.request", "body": b"{}" if carries else b""})
    return talk


async def status(talk: Any) -> int:
    return int((await talk.receive_output(30))["status"])
