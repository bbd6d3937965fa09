"""What a page shows of incidents goes from the screen of whoever may no longer see them.

A page opens one stream for all incidents that it names, and is told which of them have closed: nothing else, and the
same of those that never were.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import suppress
from time import monotonic

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from incidents import visibility
from incidents.live import live_stream, watching
from incidents.live.listening import hub
from incidents.live.live_stream import A_PERSON, HEADERS, LASTS_S, RETRY_S
from incidents.live.watching import Viewer
from incidents.people import person_matching

MOST = 100  # incidents of one page; a list shows fewer at a time


def stream(request: HttpRequest) -> HttpResponseBase:
    """Stream which of the incidents ``of`` close to whoever asks; with ``now``, only tell which are closed.

    They are told by their place among those that were asked for, from 0.
    """
    with live_stream.letting_go():
        person = person_matching.of_user(request.user)
        if person is None:
            return HttpResponse(status=401, headers=HEADERS)
        names = [one.replace("\0", "") for one in request.GET.getlist("of")[:MOST]]
        found = visibility.by_name(person, names)
        reader = Viewer(person.pk, request.session.session_key or "")
    shown = {place: found[name] for place, name in enumerate(names) if name in found}
    closed = [place for place in range(len(names)) if place not in shown]
    if "now" in request.GET or not shown:
        return HttpResponse(said(closed), content_type="text/event-stream", headers=HEADERS)
    if live_stream.open_of(person.pk) >= A_PERSON:
        return HttpResponse(status=429, headers={**HEADERS, "Retry-After": str(RETRY_S)})
    body = closings(shown, closed=closed, reader=reader)
    return StreamingHttpResponse(body, content_type="text/event-stream", headers=HEADERS)


async def closings(shown: Mapping[int, int], *, closed: Collection[int], reader: Viewer) -> AsyncGenerator[str, None]:
    """Yield the places of incidents that are closed or close, until none is left or the stream ends by itself.

    When access cannot be checked in time, it ends silently and the page connects again.
    """
    ends_at, patience_s = monotonic() + LASTS_S, watching.OPENING_S
    left, asked = dict(shown), set(shown.values())
    with (
        live_stream.counted(reader.person),
        hub.listening_to(frozenset(asked)) as heard,
        suppress(watching.Unanswered, TimeoutError),
    ):
        yield f": hello\n\n{said(closed)}"
        while left:
            gone = await _closed(reader, asked, left=set(left.values()), within_s=patience_s)
            yield said([place for place, incident in left.items() if incident in gone]) or ": still here\n\n"
            left = {place: incident for place, incident in left.items() if incident not in gone}
            if left:
                asked = await asyncio.wait_for(heard.get(), timeout=ends_at - monotonic())
                if live_stream.give_way is not None:
                    await live_stream.give_way()
                    asked |= heard.taken()
                patience_s = watching.ANSWER_S


async def _closed(reader: Viewer, asked: set[int], *, left: set[int], within_s: float) -> set[int]:
    """Return those incidents that a reader may not see any more, of those asked about.

    Without news of any (a beat) one speaks for all: what ends unsaid is a session, or all that somebody sees.
    """
    news = asked & left
    gone = await _hidden(reader, news or {min(left)}, within_s=within_s)
    return gone if news or not gone else await _hidden(reader, left, within_s=within_s)


async def _hidden(reader: Viewer, incidents: Collection[int], *, within_s: float) -> set[int]:
    answers = await asyncio.gather(*(watching.may_go_on(reader, one, within_s=within_s) for one in incidents))
    return {one for one, may in zip(incidents, answers, strict=True) if not may}


def said(places: Collection[int]) -> str:
    """Say that incidents are closed, as events."""
    return "".join(f"event: closed\ndata: {place}\n\n" for place in places)
