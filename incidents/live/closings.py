"""What a page shows of incidents goes from the screen of whoever may no longer see them.

A page opens one stream for all incidents that it names, and is told which of them have closed, the same of those that
never were, and of which something was redacted since it was drawn.
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
from incidents.live.live_stream import A_PERSON, HEADERS, LASTS_S, RETRY_S
from incidents.live.watching import Viewer
from incidents.people import person_matching

SKEW_S = 5.0  # by which clocks of machines may differ: a page is drawn once more than it has to be
HERE = "event: here\ndata: 0\n\n"  # a page that does not hear so for long asks by itself
MOST = 100  # incidents of one page; a list shows fewer at a time


def stream(request: HttpRequest) -> HttpResponseBase:
    """Stream which of the incidents ``of`` close to whoever asks, and of which words go; with ``now``, only tell it.

    They are told by their place among those that were asked for, from 0. ``age`` is that of the page, in seconds.
    """
    with live_stream.letting_go():
        person = person_matching.of_user(request.user)
        if person is None:
            return HttpResponse(status=401, headers=HEADERS)
        names = [one.replace("\0", "") for one in request.GET.getlist("of")[:MOST]]
        found = visibility.by_name(person, names)
        reader = Viewer(person.pk, request.session.session_key or "")
        since = time() - _seconds(request.GET.get("age", "")) - SKEW_S
        redacted = watching.redacted_at(found.values()) if "now" in request.GET else {}
    shown = {place: found[name] for place, name in enumerate(names) if name in found}
    closed = [place for place in range(len(names)) if place not in shown]
    if "now" in request.GET or not shown:
        words = said([place for place, of in shown.items() if redacted.get(of, 0.0) > since], kind="redacted")
        return HttpResponse(said(closed) + words, content_type="text/event-stream", headers=HEADERS)
    if live_stream.open_of(person.pk) >= A_PERSON:
        return HttpResponse(status=429, headers={**HEADERS, "Retry-After": str(RETRY_S)})
    body = closings(shown, closed=closed, reader=reader, since=since)
    return StreamingHttpResponse(body, content_type="text/event-stream", headers=HEADERS)


async def closings(
    shown: Mapping[int, int], *, closed: Collection[int], reader: Viewer, since: float = inf
) -> AsyncGenerator[str, None]:
    """Yield the places of incidents that are closed or close, until none is left or the stream ends by itself.

    And of those of which something was redacted ``since``, each time once.

    When access cannot be checked in time, it ends silently and the page connects again.
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
    """Return which incidents a reader may not see any more, of those asked about, and when words of others went.

    Without news of any (a beat) one speaks for all: what ends unsaid is a session, or all that somebody sees.
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
    """Read the age of a page; none where it does not say."""
    try:
        age = float(text)
    except ValueError:
        return 0.0
    return age if 0 < age < inf else 0.0


def said(places: Collection[int], *, kind: str = "closed") -> str:
    """Say that incidents are closed, or that words of them went, as events."""
    return "".join(f"event: {kind}\ndata: {place}\n\n" for place in places)
