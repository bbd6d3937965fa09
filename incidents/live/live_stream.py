"""Live pages: a stream that only says *changed, now at n*.

The page then fetches what it may see, so that all content passes the ordinary checks. One connection per process
listens for all its streams; a stream holds no connection of its own and ends without outside help.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from incidents import timeline, visibility
from incidents.live import watching
from incidents.live.listening import LOOK, hub
from incidents.live.watching import Viewer, let_go
from incidents.models import Incident, Person
from incidents.people import person_matching

LASTS_S = 300.0
A_PERSON = 20  # streams in one process: more pages than that poll every few seconds instead
RETRY_S = 60
HELLO = ": firekind\n\n"  # no proxy answers like this
HERE = "event: here\ndata: 0\n\n"  # a page that does not hear this for long asks by itself
BYE = "event: bye\ndata: gone\n\n"
HEADERS = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}


_open: Counter[int] = Counter()  # streams by person
watchers: list[Callable[[int], None]] = []  # called with the number of open streams whenever it changes
# Waits a moment at most while more urgent work goes first; changes in the meantime are reported together.
give_way: Callable[[], Awaitable[None]] | None = None


def stream(request: HttpRequest, codename: str) -> HttpResponseBase:
    """Stream changes of one incident after event ``n`` to someone who may see it."""
    allowed = _allowed(request, codename)
    if allowed is None:
        return HttpResponse(HELLO, status=401, content_type="text/event-stream", headers=HEADERS)
    person, incident, seen = allowed
    if open_of(person.pk) >= A_PERSON:
        return HttpResponse(status=429, headers={**HEADERS, "Retry-After": str(RETRY_S)})
    reader = Viewer(person.pk, request.session.session_key or "")
    body = changes(incident.pk, n=incident.last_n, seen=seen, reader=reader)
    return StreamingHttpResponse(body, content_type="text/event-stream", headers=HEADERS)


async def changes(incident: int, *, n: int, seen: int, reader: Viewer) -> AsyncGenerator[str, None]:
    """Yield a stream's messages until it ends or access does, which is checked before every message.

    If access cannot be checked in time, it ends silently and the page retries.
    """
    ends_at = monotonic() + LASTS_S
    say, patience_s = f"retry: 2000\n{_changed(n) if n != seen else ': hello'}\n\n", watching.OPENING_S
    with counted(reader.person), hub.listening(incident) as heard, suppress(watching.Unanswered, TimeoutError):
        while await watching.may_go_on(reader, incident, within_s=patience_s):
            yield say
            n = await asyncio.wait_for(heard.get(), timeout=ends_at - monotonic())
            if give_way is not None:
                await give_way()
                n = n if heard.empty() else max(n, heard.get_nowait())
            say, patience_s = HERE if n == LOOK else f"{_changed(n)}\n\n", watching.ANSWER_S
        yield BYE


def open_of(person: int) -> int:
    """Return how many streams a person reads in this process."""
    return _open[person]


@contextmanager
def counted(person: int) -> Iterator[None]:
    """Count a person's stream while it is open."""
    _open[person] += 1
    _tell_watchers()
    try:
        yield
    finally:
        _open[person] -= 1
        if not _open[person]:
            del _open[person]
        _tell_watchers()


def _tell_watchers() -> None:
    for watcher in watchers:
        watcher(_open.total())


def _changed(n: int) -> str:
    return f"id: {n}\nevent: changed\ndata: {n}"


def _allowed(request: HttpRequest, codename: str) -> tuple[Person, Incident, int] | None:
    """Return the person, the incident and the last entry seen, and release the database connection; None if signed out.

    The entry is -1 if it does not exist. Raises Http404 for a hidden incident.
    """
    with letting_go():
        person = person_matching.of_user(request.user)
        if person is None:
            return None
        try:
            incident = visibility.visible_to(person).only("pk", "last_n").get(codename=codename)
        except Incident.DoesNotExist:
            raise Http404("No such incident.") from None
        seen = timeline.seen_of(incident, request.GET.get("n"))
        return person, incident, -1 if seen is None else seen


@contextmanager
def letting_go() -> Iterator[None]:
    """Release the database connection after this block: no stream keeps one."""
    try:
        yield
    finally:
        let_go()
