"""What a page shows of an incident disappears from the screen of a reader who may no longer see it.

A page opens one stream for all incidents it names. The stream tells it which of them have closed, reporting those that
never existed the same way, and which had something redacted since the page was rendered.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import suppress
from math import inf
from time import monotonic, time

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from incidents import visibility
from incidents.live import live_stream, watching
from incidents.live.listening import hub
from incidents.live.live_stream import A_PERSON, HEADERS, HELLO, HERE, LASTS_S, RETRY_S
from incidents.live.watching import Viewer
from incidents.people import person_matching

SKEW_S = 5.0  # how far machines' clocks may differ: at worst a page is rendered once more than needed
MOST = 100  # incidents on one page; a list shows fewer at a time


def stream(request: HttpRequest) -> HttpResponseBase:
    """Stream which of the incidents ``of`` close to this reader, and which had words redacted; with ``now``, answer
    once.

    Incidents are identified by their position in the request, from 0. ``age`` is the age of the page in seconds.
    """
    with live_stream.letting_go():
        person = person_matching.of_user(request.user)
        if person is None:
            return HttpResponse(HELLO, status=401, content_type="text/event-stream", headers=HEADERS)
        names = [one.replace("\0", "") for one in request.GET.getlist("of")[:MOST]]
        found = visibility.by_name(person, names)
        reader = Viewer(person.pk, request.session.session_key or "")
        since = time() - _seconds(request.GET.get("age", "")) - SKEW_S
        redacted = watching.redacted_at(found.values()) if "now" in request.GET else {}
    shown = {place: found[name] for place, name in enumerate(names) if name in found}
    closed = [place for place in range(len(names)) if place not in shown]
    if "now" in request.GET or not shown:
        words = said([place for place, of in shown.items() if redacted.get(of, 0.0) > since], kind="redacted")
        return HttpResponse(HELLO + said(closed) + words, content_type="text/event-stream", headers=HEADERS)
    if live_stream.open_of(person.pk) >= A_PERSON:
        return HttpResponse(status=429, headers={**HEADERS, "Retry-After": str(RETRY_S)})
    body = closings(shown, closed=closed, reader=reader, since=since)
    return StreamingHttpResponse(body, content_type="text/event-stream", headers=HEADERS)


async def closings(
    shown: Mapping[int, int], *, closed: Collection[int], reader: Viewer, since: float = inf
) -> AsyncGenerator[str, None]:
    """Yield the positions of incidents that are closed or close, until none is left or the stream times out.

    Also yields the positions of incidents with something redacted after ``since``, once for each redaction.

    If access cannot be checked in time, the stream ends silently and the page connects again.
    """
    ends_at, patience_s = monotonic() + LASTS_S, watching.OPENING_S
    left, asked, told = dict(shown), set(shown.values()), dict.fromkeys(shown.values(), since)
    with (
        live_stream.counted(reader.person),
        hub.listening_to(frozenset(asked)) as heard,
        suppress(watching.Unanswered, TimeoutError),
    ):
        yield f": hello\n\n{said(closed)}"
        while left:
            gone, redacted = await _heard(reader, asked, left=set(left.values()), within_s=patience_s)
            fresh = {incident for incident, at in redacted.items() if at > told[incident]} - gone
            told |= {incident: redacted[incident] for incident in fresh}
            words = said([place for place, incident in left.items() if incident in gone])
            words += said([place for place, incident in left.items() if incident in fresh], kind="redacted")
            yield words or HERE
            left = {place: incident for place, incident in left.items() if incident not in gone}
            if left:
                asked = await asyncio.wait_for(heard.get(), timeout=ends_at - monotonic())
                if live_stream.give_way is not None:
                    await live_stream.give_way()
                    asked |= heard.taken()
                patience_s = watching.ANSWER_S


async def _heard(
    reader: Viewer, asked: set[int], *, left: set[int], within_s: float
) -> tuple[set[int], dict[int, float]]:
    """Return which of the incidents asked about the reader may no longer see, and when the others were last redacted.

    If there is no news (a beat), one incident is checked for all: all that ends without news is the session, or
    everything that this reader may see.
    """
    news = asked & left
    gone, redacted = await _ask(reader, news or {min(left)}, within_s=within_s)
    return (gone, redacted) if news or not gone else await _ask(reader, left, within_s=within_s)


async def _ask(reader: Viewer, incidents: Collection[int], *, within_s: float) -> tuple[set[int], dict[int, float]]:
    answers = await asyncio.gather(*(watching.ask(reader, one, within_s=within_s) for one in incidents))
    known = dict(zip(incidents, answers, strict=True))
    gone = {one for one, answer in known.items() if reader not in answer.allowed}
    return gone, {one: answer.redacted for one, answer in known.items()}


def _seconds(text: str) -> float:
    """Parse the age of a page; 0 if it is missing or invalid."""
    try:
        age = float(text)
    except ValueError:
        return 0.0
    return age if 0 < age < inf else 0.0


def said(places: Collection[int], *, kind: str = "closed") -> str:
    """Return events saying that incidents closed, or that words in them were redacted."""
    return "".join(f"event: {kind}\ndata: {place}\n\n" for place in places)
