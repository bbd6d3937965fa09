"""The way from uvicorn into Django: one thread per request, its connection given back, streams that end."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core import signals
from django.db import connection
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import override_settings
from django.urls import path

from config.http import serving
from config.http.serving import Application
from incidents.live import live_stream
from incidents.outages import answer_time, database_watch
from integrations.api import gate
from integrations.metrics import counting
from integrations.slack.doors import signing
from integrations.slack.doors.http import LateResponse
from integrations.slack.fake.server import deliveries
from integrations.slack.interaction import afterwards
from integrations.slack.tests.door import secret

Talk: Any = ApplicationCommunicator  # it comes without types
seen: list[str] = []
let_go = threading.Event()


KNOWN = {
    "/page": "page", "/incidents/amber-otter/evidence/2/": "profile", "/slack/events": "event",
    "/pagerduty/webhook": "pager", "/tracker/webhook": "tracker",
}  # fmt: skip


def page(request: HttpRequest) -> HttpResponse:
    seen.append(threading.current_thread().name)
    return HttpResponse(request.body or b"a page")


def look(request: HttpRequest, n: int) -> HttpResponse:
    assert let_go.wait(30)
    return page(request)


def hurried(request: HttpRequest) -> HttpResponse:
    return HttpResponse(b"in time" if answer_time.left_s() <= answer_time.SLACK_S else b"whenever")


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("on purpose")


async def stream(request: HttpRequest) -> StreamingHttpResponse:
    async def words() -> AsyncIterator[bytes]:
        try:
            yield b"first"
            await asyncio.sleep(60)
        finally:
            seen.append("stream ended")

    return StreamingHttpResponse(words(), content_type="text/event-stream")


def file(request: HttpRequest) -> StreamingHttpResponse:
    def parts() -> Iterator[bytes]:
        for n in range(1_000_000):
            seen.append(threading.current_thread().name)
            yield b"%d " % n

    return StreamingHttpResponse(parts())


def late(request: HttpRequest) -> HttpResponse:
    return LateResponse.of(HttpResponse(b"taken", headers={"X-Kept": "yes"}), [lambda: seen.append("late")])


urlpatterns = [
    path("file", file),
    path("late", late),
    path("page", page),
    path("page/slow", look, {"n": 1}),
    path("incidents/a/evidence/1/<int:n>", look),
    path("slack/events", page),
    path("health", page),
    path("ready", look, {"n": 1}),
    path("slack/slow/<int:n>", look),
    path("sign-in/with/<int:n>", look),
    path("sign-in/<int:n>/back", look),
    *(path(f"{door}hurried", hurried) for door in ("", "slack/", "pagerduty/")),
    path("incidents/amber-otter/evidence/2/", page),
    *(path(f"{door}/webhook", page) for door in ("pagerduty", "tracker")),
    path("broken", broken),
    path("stream", stream),
]


@pytest.fixture(autouse=True)
def _urls() -> Iterator[None]:
    seen.clear()
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=["django.middleware.common.CommonMiddleware"]):
        yield


def scope(path: str, *, method: str = "GET", kind: str = "", **more: str) -> dict[str, Any]:
    given = {"host": "testserver", "content-type": kind, **more}
    headers = [(name.lower().encode(), value.encode()) for name, value in given.items()]
    base = {"type": "http", "http_version": "1.1", "query_string": b"", "client": ("127.0.0.1", 1), "scheme": "http"}
    return {**base, "method": method, "path": path, "raw_path": path.encode(), "headers": headers}


def answer(path: str, *, body: bytes = b"", kind: str = "", **headers: str) -> tuple[int, bytes]:
    async def ask() -> tuple[int, bytes]:
        talk = Talk(Application(), scope(path, method="POST" if body else "GET", kind=kind, **headers))
        await talk.send_input({"type": "http.request", "body": body})
        head = await talk.receive_output(5)
        said = await talk.receive_output(5)
        await talk.wait(60)
        return head["status"], said["body"]

    return asyncio.run(ask())


def test_a_page_is_answered_in_one_kept_thread() -> None:
    assert answer("/page") == (200, b"a page")
    assert seen == ["page_0"]


def test_answers_are_counted_with_their_door_and_status(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int]] = []
    monkeypatch.setattr(counting, "answered", lambda path, *, status, seconds: told.append((path, status)))

    answer("/slack/events", body=b"signed", kind="application/x-www-form-urlencoded")
    answer("/no-such-page")
    assert told == [("/slack/events", 200), ("/no-such-page", 404)]


@pytest.mark.parametrize("path", ["*", "/no-such-page", ""])
def test_what_is_no_address_is_not_there(path: str) -> None:
    assert answer(path)[0] == 404  # OPTIONS * asks about the server as a whole


def test_doors_have_threads_of_their_own() -> None:
    assert answer("/slack/events", body=b"signed", kind="application/x-www-form-urlencoded") == (200, b"signed")
    assert answer("/slack/events", body=b"{}", kind="application/json") == (200, b"{}")
    assert answer("/pagerduty/webhook", body=b"{}", kind="application/json") == (200, b"{}")
    assert answer("/tracker/webhook", body=b"{}", kind="application/json") == (200, b"{}")
    assert seen == ["command_0", "event_0", "pager_0", "tracker_0"]


@pytest.mark.parametrize(
    ("path", "says"),
    [("/slack/hurried", b"in time"), ("/pagerduty/hurried", b"whenever"), ("/hurried", b"whenever")],
)
def test_only_who_asks_in_slack_has_to_be_answered_in_time(path: str, says: bytes) -> None:
    assert answer(path, body=b"x") == (200, says)


def test_programs_wait_for_nothing_while_it_is_known_that_the_database_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database_watch, "is_away", lambda: True)
    monkeypatch.setattr(gate, "check", lambda *_, **__: pytest.fail("the database was asked"))
    status, says = answer("/api/v1/incidents/amber-otter/evidence", body=b"a;b 1")
    assert (status, json.loads(says)["error"]) == (503, "unavailable")


def test_what_nobody_here_has_to_know_takes_no_thread_and_no_request() -> None:
    talk = {"type": "event_callback", "event_id": "Ev1", "event": {"type": "message", "channel": "C1", "text": "hello"}}
    body = json.dumps(talk).encode()
    stamp = str(int(time.time()))
    sign = {signing.STAMP: stamp, signing.SIGNATURE: deliveries.signature(body, secret(), stamp=stamp)}
    assert answer("/slack/events", body=body, kind="application/json", **sign) == (200, b"")
    assert seen == []
    assert answer("/slack/events", body=body, kind="application/json") == (200, body)
    assert seen == ["event_0"]


@pytest.mark.filterwarnings("ignore")
def test_a_broken_view_is_an_answer() -> None:
    status, _ = answer("/broken")
    assert status == 500


def test_what_a_response_leaves_for_later_begins_once_all_of_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(deeds: Sequence[Callable[[], object]]) -> None:
        for deed in deeds:
            deed()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Mapping[str, Any]) -> None:
        await asyncio.sleep(0)
        seen.append(f"{message['type']} {message.get('body', b'').decode()}".strip())

    monkeypatch.setattr(afterwards, "begin", begin)
    asyncio.run(Application()(scope("/late"), receive, send))
    assert seen == ["http.response.start", "http.response.body taken", "late"]


@pytest.mark.parametrize("path", ["/stream", "/file"])
def test_nothing_is_streamed_to_who_asks_by_head(path: str) -> None:
    async def ask() -> list[dict[str, Any]]:
        talk = Talk(Application(), scope(path, method="HEAD"))
        await talk.send_input({"type": "http.request", "body": b""})
        said = [await talk.receive_output(5), await talk.receive_output(5)]
        await talk.wait(60)
        return said

    with override_settings(MIDDLEWARE=["config.http.methods.HeadAsGet"]):
        head, body = asyncio.run(ask())
    assert head["status"] == 200
    assert not body.get("body")
    assert not body.get("more_body")
    assert not seen


def test_a_stream_ends_when_its_reader_goes_away() -> None:
    async def come_and_go() -> bytes:
        talk = Talk(Application(), scope("/stream"))
        await talk.send_input({"type": "http.request", "body": b""})
        await talk.receive_output(5)
        said: bytes = (await talk.receive_output(5))["body"]
        await talk.send_input({"type": "http.disconnect"})
        await talk.wait(60)
        return said

    assert asyncio.run(come_and_go()) == b"first"
    assert seen == ["stream ended"]


def test_a_stream_is_closed_without_a_thread() -> None:
    def note(**_: object) -> None:
        closed.append(threading.current_thread())

    async def come_and_go() -> threading.Thread:
        talk = Talk(Application(), scope("/stream"))
        await talk.send_input({"type": "http.request", "body": b""})
        await talk.receive_output(5)
        await talk.send_input({"type": "http.disconnect"})
        await talk.wait(60)
        return threading.current_thread()

    closed: list[threading.Thread] = []
    signals.request_finished.connect(note)
    try:
        assert asyncio.run(come_and_go()) in closed
    finally:
        signals.request_finished.disconnect(note)


def test_a_large_file_is_taken_part_by_part_and_only_as_far_as_somebody_reads() -> None:
    async def read_a_little() -> list[bytes]:
        talk = Talk(Application(), scope("/file"))
        await talk.send_input({"type": "http.request", "body": b""})
        await talk.receive_output(5)
        said = [(await talk.receive_output(5))["body"] for _ in range(3)]
        await talk.send_input({"type": "http.disconnect"})
        await talk.wait(60)
        return said

    assert asyncio.run(read_a_little()) == [b"0 ", b"1 ", b"2 "]
    assert 3 <= len(seen) < 100_000
    assert {name.rsplit("_", 1)[0] for name in seen} == {"file"}


def test_a_reader_who_leaves_early_gets_nothing() -> None:
    async def leave() -> bool:
        talk = Talk(Application(), scope("/page"))
        await talk.send_input({"type": "http.disconnect"})
        await talk.wait(60)
        return bool(await talk.receive_nothing())

    assert asyncio.run(leave())
    assert connection.connection is None or not connection.in_atomic_block


@pytest.mark.parametrize("path", KNOWN)
def test_whatever_comes_while_a_command_is_overdue_begins_after_it(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert begun_beside_an_overdue_command(path, monkeypatch, patience_s=60) == ["command", KNOWN[path]]


@pytest.mark.parametrize("path", KNOWN)
def test_nobody_gives_way_for_longer_than_their_patience(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert begun_beside_an_overdue_command(path, monkeypatch, patience_s=0.01) == [KNOWN[path], "command"]


def test_open_timelines_give_way_to_an_overdue_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "OVERDUE_S", 0.0)
    monkeypatch.setattr(serving, "STREAMS_GIVE_WAY_S", 60)
    let_go.clear()

    async def come() -> list[bool]:
        application = Application()
        command = Talk(application, scope("/slack/slow/1", method="POST", kind="application/x-www-form-urlencoded"))
        await command.send_input({"type": "http.request", "body": b""})
        await asyncio.wait_for(application.a_command_is_overdue.wait(), 30)
        assert live_stream.give_way is not None
        waiting = asyncio.ensure_future(live_stream.give_way())
        await asyncio.sleep(0)
        waited = [waiting.done()]
        let_go.set()
        await command.receive_output(30)
        await asyncio.wait_for(waiting, 30)
        return [*waited, application.a_command_is_overdue.is_set()]

    assert asyncio.run(come()) == [False, False]


def test_that_a_process_lives_is_answered_whatever_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go.clear()

    async def come() -> int:
        application = Application()
        paths = ["/ready", "/page/slow", "/slack/slow/1", "/incidents/a/evidence/1/1"]
        waiting = [Talk(application, scope(path)) for path in paths for _ in range(10)]
        for one in waiting:
            await one.send_input({"type": "http.request", "body": b""})
        await asyncio.sleep(0.1)
        health = Talk(application, scope("/health"))
        await health.send_input({"type": "http.request", "body": b""})
        try:
            return int((await health.receive_output(30))["status"])
        finally:
            let_go.set()
            for one in waiting:
                await one.wait(60)

    assert asyncio.run(come()) == 200


def begun_beside_an_overdue_command(path: str, monkeypatch: pytest.MonkeyPatch, *, patience_s: float) -> list[str]:
    """Send a request while an overdue command runs; return the kinds of threads that worked, in order.

    It is answered before the command ends only if ``patience_s`` is short.
    """
    monkeypatch.setattr(serving, "OVERDUE_S", 0.0)
    monkeypatch.setattr(serving, "GIVES_WAY_S", patience_s)
    let_go.clear()

    async def come() -> None:
        application = Application()
        command = Talk(application, scope("/slack/slow/1", method="POST", kind="application/x-www-form-urlencoded"))
        await command.send_input({"type": "http.request", "body": b""})
        await asyncio.wait_for(application.a_command_is_overdue.wait(), 30)
        kind = "application/json" if path.startswith("/slack") else ""
        other = Talk(application, scope(path, kind=kind, method="POST" if kind else "GET"))
        await other.send_input({"type": "http.request", "body": b""})
        if patience_s < 1:
            await other.receive_output(30)
        else:
            assert await other.receive_nothing(timeout=0.3)
        let_go.set()
        await command.receive_output(30)
        if patience_s >= 1:
            await other.receive_output(30)

    asyncio.run(come())
    return [name.partition("_")[0] for name in seen]


LONG = {"/incidents/a/evidence/1/{n}": "profile", "/sign-in/with/{n}": "sign-in", "/sign-in/{n}/back": "sign-in"}


@pytest.mark.parametrize(("path", "thread"), LONG.items())
def test_what_may_take_long_holds_up_no_other_page_and_too_many_are_told_to_come_back(
    path: str, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = serving.PAGES + 1
    monkeypatch.setattr(serving, "AT_ONCE", most)
    let_go.clear()

    async def crowd() -> tuple[list[int], int, list[int]]:
        application = Application()
        looks = [Talk(application, scope(path.format(n=n))) for n in range(most)]
        for one in looks:
            await one.send_input({"type": "http.request", "body": b""})
        while application._busy.total() < len(looks):  # noqa: ASYNC110 (there is no event for their waiting)
            await asyncio.sleep(0.01)
        more = [await ask(application, path.format(n=n)) for n in range(3)]
        page = await ask(application, "/page")
        let_go.set()
        return more, page, [(await one.receive_output(10))["status"] for one in looks]

    async def ask(application: Any, path: str) -> int:
        talk = Talk(application, scope(path))
        await talk.send_input({"type": "http.request", "body": b""})
        return int((await talk.receive_output(10))["status"])

    assert asyncio.run(crowd()) == ([503] * 3, 200, [200] * most)
    assert "page_0" in seen
    assert {name.partition("_")[0] for name in seen} == {"page", thread}
