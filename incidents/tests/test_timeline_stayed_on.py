"""The timeline of a page that stays open: the newest entries in order, none twice and none left out."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from random import Random

import pytest
from django.test import Client
from django.utils import timezone

from incidents import lifecycle, timeline
from incidents.models import Event, Incident, Person
from incidents.tests.conftest import Open
from incidents.tests.test_live_pages import cursor
from incidents.views import page

ENTRY = re.compile(r'<li class="event e-[^>]* id="e(\d+)"')
FURTHER = re.compile(r'<a class="button" href="[^"]*"\s+hx-get="([^"]+)" hx-target="#further"')
REFRESH = re.compile(r'<div id="earlier-[^"]+"\s+hx-get="([^"]+)"')


class StayedOn:
    """An open page: what it shows, whether it goes further back, and the earlier parts that were fetched."""

    def __init__(self, client: Client, incident: Incident) -> None:
        self.client = client
        self.head = self._read(incident.get_absolute_url())
        self.newest = _entries(self.head)
        self.parts: list[tuple[str, list[int]]] = []
        self.further = _found(FURTHER, self.head)

    @property
    def shown(self) -> list[int]:
        """The numbers of all entries on the page, from the top."""
        return [*self.newest, *(n for _, some in self.parts for n in some)]

    def go_back(self) -> None:
        """Press Earlier, if it is offered."""
        if self.further:
            part = self._read(self.further)
            self.parts.append((_found(REFRESH, part), _entries(part)))
            self.further = _found(FURTHER, part)

    def look(self) -> None:
        """Fetch what is new, and the earlier parts again, as the page's script does."""
        news = self._read(cursor(self.head))
        if not news:
            return
        self.head = news + self.head  # the first match is used
        if 'id="newest"' in news:
            self.newest = _entries(news)
        if 'id="older"' in news:
            self.parts, self.further = [], _found(FURTHER, news)
        self.parts = [(address, _entries(self._read(address))) for address, _ in self.parts]

    def _read(self, address: str) -> str:
        return self.client.get(address, headers={"HX-Request": "true"}).content.decode()


def _entries(text: str) -> list[int]:
    return [int(n) for n in ENTRY.findall(text)]


def _found(what: re.Pattern[str], text: str) -> str:
    found = what.search(text)
    return unescape(found[1]) if found else ""


@pytest.mark.parametrize("seed", range(12))
def test_what_is_shown_is_the_newest_of_all_there_is(
    seed: int, incident: Incident, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever happens, now or long ago, and however far back someone has gone."""
    monkeypatch.setattr(page, "SHOWN", 4)
    monkeypatch.setattr(page, "MOST_SHOWN", 9)
    draw, now = Random(seed), timezone.now()
    for n in range(draw.choice((0, 2, 6, 14))):
        timeline.append(incident, "noted", at=now + timedelta(minutes=2 * n), by=ada, text="before")
    stayed = StayedOn(browse(ada), incident)
    for _ in range(12):
        for _ in range(draw.choice((0, 1, 1, 2, 7))):
            minutes = draw.choice((-90, 1, 9, 23, 40, 41))
            lifecycle.note(incident, text="since", by=ada, at=now + timedelta(minutes=minutes, seconds=draw.random()))
        stayed.look()
        if draw.random() < 0.5:
            stayed.go_back()
        spoken = Event.objects.filter(incident=incident).exclude(kind__in=timeline.ABOUT_OTHERS)
        every = list(spoken.order_by("-at", "-n").values_list("n", flat=True))
        assert stayed.shown == every[: len(stayed.shown)]
        assert stayed.further or stayed.shown == every
