"""A web process whose system has no thread to spare: nothing is done whose caller was told that it failed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from audit import tracing
from config.http.serving import Application
from config.process.span_export import SpanExport
from incidents.outages import hint_sender
from incidents.outages.breaker import Breaker
from incidents.tests.test_outages import UntakenTask
from integrations.metrics import counting
from integrations.slack.interaction import afterwards, soon
from workflows.ports import VendorError

Talk: Any = ApplicationCommunicator  # it comes without types
DOORS = ["/slack/act", "/pagerduty/act", "/act"]
done: list[int] = []
began, let_go = threading.Event(), threading.Event()


def act(request: HttpRequest, n: int) -> HttpResponse:
    began.set()
    assert let_go.wait(30)
    done.append(n)
    return HttpResponse(b"done")


urlpatterns = [path(f"{door}act/<int:n>", act) for door in ("slack/", "pagerduty/", "")]


@pytest.fixture(autouse=True)
def _urls() -> Iterator[None]:
    done.clear()
    for one in (began, let_go):
        one.clear()
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=["django.middleware.common.CommonMiddleware"]):
        yield


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let no thread be started once this is set."""
    is_full, start = threading.Event(), threading.Thread.start

    def started(thread: threading.Thread) -> None:
        if is_full.is_set():
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", started)
    return is_full


async def asked(application: Application, path: str) -> Any:
    base = {"type": "http", "http_version": "1.1", "query_string": b"", "client": ("127.0.0.1", 1), "scheme": "http"}
    headers = [(b"host", b"testserver"), (b"content-type", b"application/x-www-form-urlencoded")]
    talk = Talk(application, {**base, "method": "POST", "path": path, "raw_path": path.encode(), "headers": headers})
    await talk.send_input({"type": "http.request", "body": b"x"})
    return talk


async def status(talk: Any) -> int:
    return int((await talk.receive_output(30))["status"])


@pytest.mark.parametrize("door", DOORS)
def test_what_comes_while_no_further_thread_can_be_had_waits_for_one_and_is_done_once(
    door: str, full: threading.Event
) -> None:
    async def come() -> list[int]:
        application = Application()
        first = await asked(application, f"{door}/1")
        await asyncio.to_thread(began.wait, 30)
        full.set()
        second = await asked(application, f"{door}/2")
        assert await second.receive_nothing(timeout=0.2)
        let_go.set()
        found = [await status(first), await status(second)]
        full.clear()  # to end the loop takes one
        return found

    assert asyncio.run(come()) == [200, 200]
    assert done == [1, 2]


@pytest.mark.parametrize("door", DOORS)
def test_what_no_thread_will_ever_take_is_refused_and_not_done_once_there_is_one(
    door: str, full: threading.Event
) -> None:
    let_go.set()

    async def come() -> list[int]:
        application = Application()
        full.set()
        refused = await status(await asked(application, f"{door}/1"))
        full.clear()
        return [refused, await status(await asked(application, f"{door}/2"))]

    assert asyncio.run(come()) == [503, 200]
    assert done == [2]


def test_an_answer_is_not_lost_because_of_what_is_done_beside_it(
    full: threading.Event, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    """Neither counting it, a span, a hint, work for later nor a call to Slack ends what was recorded by then."""
    export = SpanExport("http://127.0.0.1:1", headers={}, service="tests")
    monkeypatch.setattr(tracing, "listeners", [export.take])
    monkeypatch.setattr(hint_sender, "broker", Breaker(probe_s=0.0))
    monkeypatch.setattr(counting, "_counting", [])
    for module in (soon, afterwards):
        monkeypatch.setattr(module, "_pool", type(module._pool)(2))
    settings.FIREKIND = replace(settings.FIREKIND, metrics_token="only-for-tests-0123456789", data_dir=tmp_path)
    hint_sender.broker.failed()
    full.set()
    with tracing.span("declared", incident=7, door="slack"):
        pass
    hint_sender.send(UntakenTask(), 7, fresh_s=30)
    counting.answered("/", status=200, seconds=0.1)
    afterwards.begin([lambda: done.append(1)])
    assert isinstance(soon.asked(lambda: done.append(2)).exception(30), VendorError)
    assert export._thread is None, "the next span tries again"
    full.clear()
    soon.asked(lambda: done.append(3)).result(30)
    assert done == [3]
