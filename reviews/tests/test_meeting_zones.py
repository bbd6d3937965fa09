"""A meeting stays at its planned moment, whatever time zone its page was written for and is sent from."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import cycle
from typing import Final

import pytest
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from reviews import editing
from reviews.models import Review
from workflows.tests.test_views_retype import Open

YEAR: Final = timezone.now().year  # a meeting is planned for a day within three years
AT: Final = datetime(YEAR, 11, 21, 9, tzinfo=UTC)
WINTER: Final = f"{YEAR}-12-01T10:00"
ZONES: Final = ("UTC", "Europe/Berlin", "America/Lima", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia")


def sunday(year: int, month: int, first: int) -> datetime:
    """Return one in the morning, UTC, of the first Sunday of a month that isn't before a day."""
    day = datetime(year, month, first, 1, tzinfo=UTC)
    return day + timedelta(days=6 - day.weekday())


FORWARD: Final = sunday(YEAR + 1, 3, 25)  # in Berlin
BACK: Final = sunday(YEAR + 1, 10, 25)
LORD_HOWE: Final = sunday(YEAR + 1, 4, 1) - timedelta(hours=10)  # by half an hour
CHANGES: Final = (FORWARD, sunday(YEAR, 10, 25), LORD_HOWE)
AROUND: Final = [one + timedelta(minutes=n) for one in CHANGES for n in (-60, -30, -1, 0, 15, 30, 59, 60)]
SENT_FROM: Final = ("UTC", "Europe/Berlin", "Asia/Kathmandu")
FIELD: Final = re.compile(r'<input[^>]* name="(?P<name>on|zone|was)"[^>]*>')
VALUE: Final = re.compile(r'value="([^"]*)"')


def fields(html: str) -> dict[str, str]:
    """Return the fields of the form that plans the meeting, as prefilled."""
    found = {}
    for one in FIELD.finditer(html.replace("\n", " ")):
        value = VALUE.search(one[0])
        found[one["name"]] = unescape(value[1]) if value else ""
    return found


def planned(client: Client, incident: Incident, *, shown_in: str, sent_from: str, **changed: str) -> int:
    """Open the page in one time zone and send its form from another; return the status of the answer."""
    client.cookies["zone"] = shown_in
    html = client.get(f"{incident.get_absolute_url()}review").content.decode()
    client.cookies["zone"] = sent_from
    form = fields(html) | changed | {"to": "meeting"}
    return client.post(f"{incident.get_absolute_url()}review/state", form).status_code


def meeting_of(incident: Incident) -> datetime:
    at = Review.objects.get(incident=incident).meeting_at
    assert at is not None
    return at


@pytest.fixture
def ended(incident: Incident, ada: Person) -> Incident:
    return lifecycle.resolve(incident, text="rolled back", by=ada, at=AT)


@pytest.mark.parametrize("zone", ZONES)
def test_what_is_filled_in_is_the_moment_that_was_planned(
    ended: Incident, ada: Person, browse: Open, zone: str
) -> None:
    """Even in an hour that occurs twice."""
    client = browse(ada)
    for at, sent_from in zip(AROUND, cycle(SENT_FROM), strict=False):
        editing.plan_meeting(ended, on=at, by=ada, at=AT)
        assert planned(client, ended, shown_in=zone, sent_from=sent_from) == 302
        assert meeting_of(ended) == at, (at, sent_from)


def test_what_is_typed_is_meant_in_the_zone_that_the_page_names(ended: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    assert planned(client, ended, shown_in="Europe/Berlin", sent_from="America/Lima", on=WINTER) == 302
    assert meeting_of(ended) == datetime(YEAR, 12, 1, 9, tzinfo=UTC)


def test_of_an_hour_that_comes_twice_it_is_the_first(ended: Incident, ada: Person, browse: Open) -> None:
    assert planned(browse(ada), ended, shown_in="Europe/Berlin", sent_from="UTC", on=f"{BACK:%Y-%m-%d}T02:30") == 302
    assert meeting_of(ended) == BACK - timedelta(minutes=30)


def test_a_time_that_clocks_skip_is_refused_in_words_and_kept(ended: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    client.cookies["zone"] = "America/Lima"
    skipped = f"{FORWARD:%Y-%m-%d}T02:30"
    form = {"on": skipped, "zone": "Europe/Berlin", "to": "meeting"}
    answer = client.post(f"{ended.get_absolute_url()}review/state", form)
    said = " ".join(answer.content.decode().split())
    assert answer.status_code == 422
    assert "Clocks in Europe/Berlin skip 02:30 on that day" in said
    again = fields(said)
    assert (again["on"], again["zone"]) == (skipped, "Europe/Berlin")


@pytest.mark.parametrize("zone", ["", "Nowhere/At_all", "../etc", "Europe"])
def test_a_zone_that_nobody_knows_is_that_of_the_reader(ended: Incident, ada: Person, browse: Open, zone: str) -> None:
    client = browse(ada)
    changed = {"on": WINTER, "zone": zone, "was": "x"}
    assert planned(client, ended, shown_in="UTC", sent_from="Europe/Berlin", **changed) == 302
    assert meeting_of(ended) == datetime(YEAR, 12, 1, 9, tzinfo=UTC)
