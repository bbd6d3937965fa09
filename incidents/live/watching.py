"""Who may keep reading a live page: checked once for all streams notified of the same change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connections
from django.db.models import Max
from django.utils import timezone

from incidents import visibility
from incidents.claiming.patient_threads import NoThread, PatientThreads
from incidents.claiming.shared_clock import clock
from incidents.models import Event, Person

log = logging.getLogger(__name__)
TOGETHER_S = 0.005  # wait for readers woken by the same change to join
OPENING_S = 10.0
ANSWER_S = 1.5  # after this the stream ends; the page retries

# Separate threads, so that access checks do not wait behind page views.
_asking = PatientThreads(2, thread_name_prefix="access")


class Unanswered(Exception):
    """The database could not say in time who may see an incident."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person reading a live page, by key, and the session in which they opened it."""

    person: int
    session: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Which readers may keep reading an incident, and when its words were last redacted, in seconds; 0 for never."""

    allowed: frozenset[Viewer]
    redacted: float


class Question:
    """Who may keep reading one incident. The next question waits and includes everyone who joins it."""

    def __init__(self, incident: int, *, after: Question | None) -> None:
        self.readers: set[Viewer] = set()
        self.about_words = False
        self.gathers = True
        self.answer = asyncio.create_task(self._ask(incident, after))

    async def _ask(self, incident: int, after: Question | None) -> Answer | None:
        try:
            if after is not None:
                await asyncio.wait([after.answer])
            await asyncio.sleep(TOGETHER_S)
            self.gathers = False
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(_asking, _answered, incident, frozenset(self.readers), self.about_words)
        except (DatabaseError, NoThread) as error:
            log.warning("closed an incident's live pages, as access could not be checked: %s", type(error).__name__)
            return None
        finally:
            if _newest.get(incident) is self:
                del _newest[incident]


_newest: dict[int, Question] = {}


async def may_go_on(reader: Viewer, incident: int, *, within_s: float) -> bool:
    """Check again whether a reader may see an incident. Raises Unanswered if that takes too long."""
    return reader in (await ask(reader, incident, within_s=within_s, about_words=False)).allowed


async def ask(reader: Viewer, incident: int, *, within_s: float, about_words: bool = True) -> Answer:
    """Ask who may see an incident, and when it was last redacted. Raises Unanswered if that takes too long."""
    question = _newest.get(incident)
    if question is not None and question.answer.done():
        question = None
    if question is None or not question.gathers:
        question = _newest[incident] = Question(incident, after=question)
    question.readers.add(reader)
    question.about_words |= about_words
    try:
        answer = await asyncio.wait_for(asyncio.shield(question.answer), within_s)
    except TimeoutError:
        answer = None
    if answer is None:
        raise Unanswered
    return answer


def _answered(incident: int, readers: frozenset[Viewer], about_words: bool) -> Answer:
    try:
        allowed = allowed_of(incident, readers)
        return Answer(allowed, redacted_at([incident]).get(incident, 0.0) if about_words else 0.0)
    finally:
        let_go()


def redacted_at(incidents: Collection[int]) -> dict[int, float]:
    """Return when something was last redacted, in seconds, for those of these incidents with any redaction."""
    found = Event.objects.filter(incident__in=incidents, kind="redacted").values_list("incident")
    return {incident: at.timestamp() for incident, at in found.annotate(Max("recorded_at"))}


def allowed_of(incident: int, readers: frozenset[Viewer]) -> frozenset[Viewer]:
    """Return the readers who may see an incident and are still signed in; releases the database connection."""
    try:
        people = visibility.who_may_see(incident, among={one.person for one in readers})
        people -= set(Person.objects.filter(pk__in=people, user__is_active=False).values_list("pk", flat=True))
        sessions = _going_on({one.session for one in readers})
        return frozenset(one for one in readers if one.person in people and one.session in sessions)
    finally:
        let_go()


def _going_on(sessions: set[str]) -> set[str]:
    """Return the sessions that have not ended."""
    rows: Any = import_module(settings.SESSION_ENGINE).SessionStore.get_model_class().objects
    found = rows.filter(session_key__in=sessions, expire_date__gt=clock.at(timezone.now()))
    return set(found.values_list("session_key", flat=True))


def let_go() -> None:
    """Give the database connection back: a stream lasts for minutes and needs none."""
    connections.close_all()
