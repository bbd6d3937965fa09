"""How a request reaches Django: pages first, doors next, each in one thread from start to end."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import IO, Any

from asgiref.sync import sync_to_async
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.db import Error
from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import set_script_prefix

from audit import request_origin
from config.http import request_body, signed_doors, worker_watch
from config.http.arrivals import Arrivals, NoRoom
from config.http.request_body import BodyTooLarge, BodyTooSlow, DiskFull, Receive, Scope, Send
from config.http.request_queue import Crowd, RequestQueue
from config.postgresql import shares
from incidents.claiming.patient_threads import NoThread, PatientThreads
from incidents.live import live_stream
from incidents.outages import answer_time, database_watch, outage_answer
from integrations.api import gate
from integrations.metrics import counting
from integrations.slack.doors import early, signing
from integrations.slack.interaction import afterwards

# A request spends half of its time waiting for the database; more threads than these only compete for the interpreter.
# Files that programs send have threads of their own: copying a large one, or waiting for storage, holds up no page, and
# no program that only reads.
PAGES, COMMANDS, EVENTS, WEBHOOKS, FILES, PROGRAMS = 8, 4, 2, 2, 4, 2
# Some pages have threads of their own too, so that they hold up no other: a large profile takes long to compute from,
# and the provider that someone signs in with may be silent. Beyond this many at once, callers are told to come back.
PROFILES, SIGN_INS, AT_ONCE = 4, 4, 24
# A command without an answer after this time has 1.1 of Slack's three seconds left. Other requests that arrive then
# wait until it is answered, but no longer than this: a page loads only once, and PagerDuty waits five seconds for its
# answer. Open timelines then report several changes at once.
OVERDUE_S, GIVES_WAY_S, STREAMS_GIVE_WAY_S = 1.9, 1.0, 0.4
# Threads outnumber a process's connections. However many requests of whatever kinds hang on one, each kind keeps these;
# the rest go to the first that need them, so that pages may have one for each of their threads.
KEEPS = {"page": 3, "command": 3} | dict.fromkeys(
    ("event", "pager", "tracker", "file", "program", "profile", "sign-in", "look"), 1
)
PROFILE = re.compile(r"/incidents/[^/]+/evidence/(?:\d+/|compare).*")
SIGN_IN = re.compile(r"/sign-in/(?:with/[^/]+|[^/]+/back)")
DOORS, EVENTS_PATH = "/slack/", "/slack/events"
STAMP, SIGNATURE = signing.STAMP.lower().encode(), signing.SIGNATURE.lower().encode()
# Signs of life, for monitoring: they wait behind no page. A silent /health gets the process restarted, so it waits
# behind nothing. /ready asks other servers, and shares its threads with the check whether workers are alive.
HEALTH, READY, LOOKING = "/health", "/ready", 2
PAGER_DOOR, TRACKER_DOOR = "/pagerduty/", "/tracker/"
# Bodies being received, and how many bytes they hold together. Senders of files are authenticated and told to wait.
BODIES_AT_ONCE, BODIES_TOGETHER = 64, 32 << 20
FILES_AT_ONCE, FILES_TOGETHER = 8, 4  # times the largest
REFUSALS = {
    BodyTooLarge: gate.TOO_LARGE,
    BodyTooSlow: gate.TOO_SLOW,
    NoRoom: gate.NO_ROOM,
    NoThread: gate.NO_ROOM,
    DiskFull: gate.DISK_FULL,
}


class Application(ASGIHandler):
    """Django's handler, with a whole request as one job in a thread that is reused.

    An event stream is consumed on the event loop, as in Django, and ends when its reader goes away. For other requests
    a reader who goes away is ignored: they are over before it matters.
    """

    def __init__(self) -> None:
        super().__init__()
        self._signed = signed_doors.SignedDoors()
        self._readers, self._people, self._overdue = Crowd(), Crowd(), Crowd()
        # Its patience ends before a command is overdue, for which pages would have to wait. The share counts only a
        # command's own time; what follows it (twenty deliveries, the worker, the database) takes several times as much.
        self._commands_line = RequestQueue(after=self._readers, share=0.005, patience_s=1.6)
        self._events_line = RequestQueue(after=self._people, share=0.04, patience_s=2.0)
        # Storing one is quick; PagerDuty waits five seconds, a tracker ten. A storm of one must hold up no other door.
        pages, tickets = (_threads(WEBHOOKS, prefix) for prefix in ("pager", "tracker"))
        self._webhooks = {
            PAGER_DOOR: (RequestQueue(after=self._people, share=0.25, patience_s=0.5), pages),
            TRACKER_DOOR: (RequestQueue(after=self._people, share=0.05, patience_s=2.0), tickets),
        }
        self._pages = _threads(PAGES, "page")
        self._commands = _threads(COMMANDS, "command")
        self._apologies = _threads(1, "command")
        self._events = _threads(EVENTS, "event")
        self._files = _threads(FILES, "file")
        self._programs = _threads(PROGRAMS, "program")
        self._profiles = _threads(PROFILES, "profile")
        self._sign_ins = _threads(SIGN_INS, "sign-in")
        self._looks = _threads(LOOKING, "look")
        self._signs = {HEALTH: _threads(1, "sign"), READY: self._looks}
        live_stream.give_way = partial(self._overdue.give_way, patience_s=STREAMS_GIVE_WAY_S)
        self._watching: asyncio.Task[None] | None = None
        self._busy: Counter[PatientThreads] = Counter()
        outage_answer.runbook().current()  # while it can surely be read
        most = FILES_TOGETHER * gate.largest()
        self._files_arriving = Arrivals(most=FILES_AT_ONCE, most_bytes=most, gives_way=False)
        self._arriving = {
            prefix: Arrivals(most=BODIES_AT_ONCE, most_bytes=BODIES_TOGETHER, gives_way=True)
            for prefix in (DOORS, *self._webhooks, "")  # an address may be `*`, without a slash
        }

    @property
    def a_command_is_overdue(self) -> asyncio.Event:
        """Set while a command has waited too long for its answer."""
        return self._overdue.there

    def load_middleware(self, is_async: bool = False) -> None:
        """Chain the middleware for a thread, not for the event loop."""
        super().load_middleware(is_async=False)

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        """Answer through the middleware for pages, or for requests that vendors sign."""
        return self._signed.get_response(request) if signed_doors.is_for(request) else super().get_response(request)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if self._watching is None:
            database_watch.hurry()
            self._watching = asyncio.create_task(worker_watch.watch(self._looks), name="watch workers")
        path, began = scope["path"], time.perf_counter()
        try:
            refusal = await self._refusal(scope) if gate.concerns(path) else None
            if refusal is not None:
                await request_body.refuse(refusal, receive, send)
                return
            response = await self._taken_in(scope, receive)
        except RequestAborted:
            return
        except tuple(REFUSALS) as error:
            refusal = gate.refused(path, scope["method"], REFUSALS[type(error)])
            await request_body.refuse(refusal, receive, send, waits=isinstance(error, BodyTooLarge))
            return
        counting.answered(path, status=response.status_code, seconds=time.perf_counter() - began)
        if isinstance(response, StreamingHttpResponse):
            if not response.is_async:
                response.streaming_content = self._parts(iter(response))
            await self._stream(response, receive, send)
        else:
            await self.send_response(response, send)
            afterwards.begin(getattr(response, "late", ()))

    async def _taken_in(self, scope: Scope, receive: Receive) -> HttpResponseBase:
        """Receive a body and answer the request; the body is counted until then."""
        path = scope["path"]
        most = gate.most(path, scope["method"])
        among = self._files_arriving if most and gate.concerns(path) else self._arriving_at(path)
        with among.one() as arrival:
            body = await request_body.read(scope, receive, most=most, arrival=arrival, among=among)
            if _is_event(scope) and early.is_talk(**_signed(scope, body)):
                body.close()
                return _nothing_to_do()
            if _is_of_a_person(scope) and await request_body.is_sender_gone(receive):
                body.close()
                raise RequestAborted
            return await self._answer(scope, body)

    def _arriving_at(self, path: str) -> Arrivals:
        return next(found for prefix, found in self._arriving.items() if path.startswith(prefix))

    async def _refusal(self, scope: Scope) -> HttpResponse | None:
        """Check whether a program may send at all, before anything it sends is stored."""
        return await sync_to_async(self._ask, thread_sensitive=False, executor=self._programs)(scope)

    def _ask(self, scope: Scope) -> HttpResponse | None:
        if database_watch.is_away():
            return outage_answer.answer(scope["path"])
        try:
            authorization, cookie = request_body.header(scope, b"authorization"), request_body.header(scope, b"cookie")
            with self._connected(scope), request_origin.at("api", (scope.get("client") or [""])[0]):
                return gate.check(scope["path"], authorization=authorization, cookie=cookie)
        except (Error, RuntimeError) as error:
            if not outage_answer.is_excuse(error):
                raise
            return outage_answer.answer(scope["path"], error)

    def _is_expected(self, scope: Scope, body: IO[bytes]) -> bool:
        if database_watch.is_away():  # the door says so
            return False
        try:
            with self._connected(scope):
                return early.is_expected(**_signed(scope, body))
        except (Error, RuntimeError) as error:
            outage_answer.is_excuse(error)  # finds out whether it is away, for the door that answers
        return False

    @contextmanager
    def _connected(self, scope: Scope) -> Iterator[None]:
        """Use the database outside Django's own request cycle, and give the connection back."""
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            yield
        finally:
            signals.request_finished.send(sender=self.__class__)

    async def _answer(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        apart = self._signs.get(scope["path"])
        if gate.concerns(scope["path"]):
            apart = self._files if scope["method"] == "POST" else self._programs
        if apart is not None:
            return (await self._in_thread(apart, scope, body))[0]
        if _is_of_a_person(scope):
            in_time = answer_time.until(time.monotonic() + answer_time.SLACK_S)
            with in_time, self._people.one(), self._overdue.one_after(OVERDUE_S):
                return await self._in_time(scope, body)
        await self._overdue.give_way(patience_s=GIVES_WAY_S)
        door = next((given for prefix, given in self._webhooks.items() if scope["path"].startswith(prefix)), None)
        if door is not None:
            return await self._in_turn(*door, scope, body)
        if scope["path"].startswith(DOORS):
            return await self._in_turn(self._events_line, self._events, scope, body)
        return await self._page(scope, body)

    async def _page(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        if SIGN_IN.fullmatch(scope["path"]):  # no reader: a command does not have to wait for a provider
            return await self._among_few(self._sign_ins, scope, body)
        if PROFILE.fullmatch(scope["path"]):
            with self._readers.one(), self._people.one():
                return await self._among_few(self._profiles, scope, body)
        with self._readers.one(), self._people.one():
            return (await self._in_thread(self._pages, scope, body))[0]

    async def _among_few(self, threads: PatientThreads, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        """Answer in one of these threads, unless too many wait for them. Raises ``NoRoom``."""
        if self._busy[threads] >= AT_ONCE:
            body.close()
            raise NoRoom
        self._busy[threads] += 1
        try:
            return (await self._in_thread(threads, scope, body))[0]
        finally:
            self._busy[threads] -= 1

    async def _in_time(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        """Answer someone in Slack. If no thread could begin in time, they are told so, and nothing is done later."""
        await self._commands_line.wait()
        work = self._begun(self._commands, scope, body)
        response = asyncio.wrap_future(work)
        await asyncio.wait([response], timeout=answer_time.left_s())
        if work.cancel():
            return (await self._in_thread(self._apologies, scope, body))[0]
        answer, took_s = await response
        self._commands_line.took(took_s)
        return answer

    async def _in_turn(
        self, line: RequestQueue, threads: PatientThreads, scope: Scope, body: IO[bytes]
    ) -> HttpResponseBase:
        await line.wait()
        response, took_s = await self._in_thread(threads, scope, body)
        line.took(took_s)
        return response

    async def _in_thread(
        self, threads: PatientThreads, scope: Scope, body: IO[bytes]
    ) -> tuple[HttpResponseBase, float]:
        return await asyncio.wrap_future(self._begun(threads, scope, body))

    def _begun(self, threads: PatientThreads, scope: Scope, body: IO[bytes]) -> Future[tuple[HttpResponseBase, float]]:
        work = partial(copy_context().run, self._work, scope, body)  # what runs in it cannot change the loop's context
        try:
            return threads.submit(work)
        except NoThread:
            body.close()
            raise

    def _work(self, scope: Scope, body: IO[bytes]) -> tuple[HttpResponseBase, float]:
        """Handle a whole request; return the response and the seconds of CPU time it took."""
        began = time.thread_time()
        with body:
            if _is_event(scope) and self._is_expected(scope, body):
                return _nothing_to_do(), time.thread_time() - began
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(sender=self.__class__, scope=scope)
            request, refusal = self.create_request(scope, body)
            response: HttpResponseBase | None = refusal if request is None else self.get_response(request)
            assert response is not None, "there is a request or a refusal"
            if not response.streaming:
                response.close()  # here, where its database connection is
        return response, time.thread_time() - began

    async def _parts(self, parts: Iterator[bytes]) -> AsyncIterator[bytes]:
        """Read the parts of a file in a thread, one after the other: Django would read them all at once."""
        take = sync_to_async(lambda: next(parts, None), thread_sensitive=False, executor=self._files)
        while (part := await take()) is not None:
            yield part

    async def _stream(self, response: HttpResponseBase, receive: Receive, send: Send) -> None:
        """Send a stream until it ends or its reader goes away."""
        gone = asyncio.create_task(self.listen_for_disconnect(receive))
        sending = asyncio.create_task(self.send_response(response, send))
        try:
            await asyncio.wait([gone, sending], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, sending):
                task.cancel()
            _, sent = await asyncio.gather(gone, sending, return_exceptions=True)
            response.close()  # nothing in it blocks; a thread for each of many streams would hold up everyone
        if isinstance(sent, Exception):
            raise sent


def _threads(count: int, kind: str) -> PatientThreads:
    """Return threads for a kind of request, which share the process's connections with the other kinds."""
    return PatientThreads(count, thread_name_prefix=kind, initializer=shares.is_of, initargs=(kind,))


def _nothing_to_do() -> HttpResponse:
    """Return an empty answer whose length is given: otherwise uvicorn sends it in two pieces."""
    return HttpResponse(headers={"Content-Length": "0"})


def _is_event(scope: Scope) -> bool:
    """Return whether this is an event that no one waits for: Slack sends events as JSON, and the rest as forms."""
    if scope["path"] != EVENTS_PATH or scope["method"] != "POST":
        return False
    return any(name == b"content-type" and value.startswith(b"application/json") for name, value in scope["headers"])


def _is_of_a_person(scope: Scope) -> bool:
    """Return whether someone in Slack waits for the answer: Slack shows them an error after three seconds."""
    return scope["path"].startswith(DOORS) and not _is_event(scope)


def _signed(scope: Scope, body: IO[bytes]) -> dict[str, Any]:
    """Return the arguments for checking that Slack signed this and that it needs no handling."""
    began = body.read(early.LARGEST + 1)
    body.seek(0)
    return {
        "body": began,
        "stamp": request_body.header(scope, STAMP),
        "signature": request_body.header(scope, SIGNATURE),
    }
