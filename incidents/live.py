"""Live pages: a stream that says *changed, now at n*, and nothing else.

The page then fetches what it may see, so every word passes the ordinary checks. One connection of each process
listens for all its streams; a stream holds no connection of its own, and ends by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from time import monotonic

from asgiref.sync import sync_to_async
from django.db import connections
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from incidents import people, visibility
from incidents.forms.given import number
from incidents.listening import hub
from incidents.models import Incident, Person

HEARTBEAT_S = 15.0
LASTS_S = 300.0
BYE = "event: bye\ndata: gone\n\n"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def stream(request: HttpRequest, codename: str) -> HttpResponseBase:
    """Stream changes of one incident after event ``n`` to somebody who may see it."""
    allowed = await sync_to_async(_allowed)(request, codename)
    if allowed is None:
        return HttpResponse(status=401, headers=HEADERS)
    person, incident = allowed
    seen = number(request.GET.get("n"))
    body = changes(incident.pk, n=incident.last_n, seen=-1 if seen is None else seen, person=person)
    return StreamingHttpResponse(body, content_type="text/event-stream", headers=HEADERS)


async def changes(incident: int, *, n: int, seen: int, person: Person) -> AsyncGenerator[str, None]:
    """Yield what a stream says until it ends, or until access does."""
    ends_at = monotonic() + LASTS_S
    with hub.listening(incident) as heard:
        if not await _still(person, incident):  # access may have ended before we listened
            yield BYE
            return
        yield f"retry: 2000\n{_changed(n) if n > seen else ': hello'}\n\n"
        while (left := ends_at - monotonic()) > 0:
            try:
                n = await asyncio.wait_for(heard.get(), timeout=min(HEARTBEAT_S, left))
            except TimeoutError:
                yield ": still here\n\n"
                continue
            if not await _still(person, incident):
                yield BYE
                return
            yield f"{_changed(n)}\n\n"


def _changed(n: int) -> str:
    return f"id: {n}\nevent: changed\ndata: {n}"


def _allowed(request: HttpRequest, codename: str) -> tuple[Person, Incident] | None:
    """Tell who asks and for which incident, then let go of the database. Raises Http404 for a hidden one."""
    try:
        person = people.of_user(request.user)
        if person is None:
            return None
        return person, visibility.visible_to(person).only("pk", "last_n").get(codename=codename)
    except Incident.DoesNotExist:
        raise Http404("No such incident.") from None
    finally:
        let_go()


class _Question:
    """Who may see one incident, asked once for all streams that hear of the same change."""

    def __init__(self, incident: int) -> None:
        self.people: set[int] = set()
        self.answer = asyncio.create_task(self._ask(incident))

    async def _ask(self, incident: int) -> set[int]:
        await asyncio.sleep(0)  # the others were woken with us, and join before we ask
        _questions.pop(incident, None)
        return await sync_to_async(_allowed_of)(incident, frozenset(self.people))


_questions: dict[int, _Question] = {}


async def _still(person: Person, incident: int) -> bool:
    """Ask again whether a person may see an incident."""
    question = _questions.get(incident)
    if question is None or question.answer.done():
        question = _questions[incident] = _Question(incident)
    question.people.add(person.pk)
    return person.pk in await asyncio.shield(question.answer)


def _allowed_of(incident: int, people: frozenset[int]) -> set[int]:
    """Return who of some may see an incident, and let go of the database."""
    try:
        return visibility.who_may_see(incident, among=people)
    finally:
        let_go()


def let_go() -> None:
    """Give the database connection back: a stream lasts for minutes and needs none."""
    connections.close_all()
