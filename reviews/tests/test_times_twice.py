"""Around any clock change no two minutes are shown alike, and filtering up to a minute finds everything before it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from django.http import QueryDict
from django.utils import timezone

from incidents.reading.timeline_filters import TimelineFilters
from incidents.templatetags import firekind
from reviews.exporting import as_markdown

# A moment near a change: by an hour, half an hour, at midnight, a day left out, with or without another zone name in
# winter.
CHANGES: Final = {
    "Europe/Berlin": ("2026-03-29T01:00", "2026-10-25T01:00"),
    "Europe/Dublin": ("2026-03-29T01:00", "2026-10-25T01:00"),
    "America/New_York": ("2028-03-12T07:00", "2028-11-05T06:00"),
    "America/St_Johns": ("2026-11-01T04:30",),
    "Australia/Lord_Howe": ("2026-04-04T15:00", "2026-10-03T15:30"),
    "America/Havana": ("2026-11-01T05:00",),
    "America/Santiago": ("2026-04-05T03:00", "2026-09-06T04:00"),
    "Europe/Moscow": ("2014-10-25T22:00",),
    "Pacific/Apia": ("2011-12-30T10:00",),
    "UTC": ("2028-02-29T00:00", "2026-12-31T23:59"),
}
ABOUT: Final = [(zone, moment) for zone, moments in CHANGES.items() for moment in moments]
TAG: Final = re.compile(r"<[^>]*>")


def clock(at: datetime) -> str:
    """Return the time shown at an entry, with its day."""
    return f"{timezone.localtime(at).date()} {TAG.sub('', firekind.clock(at))}"


def moment(at: datetime) -> str:
    return TAG.sub("", firekind.moment(at))


def minutes(about: str) -> list[datetime]:
    middle = datetime.fromisoformat(about).replace(tzinfo=UTC)
    return [middle + timedelta(minutes=n) for n in range(-150, 151, 5)]


@pytest.mark.parametrize("written", [clock, moment, as_markdown.at])
@pytest.mark.parametrize(("zone", "about"), ABOUT)
def test_no_two_minutes_are_written_alike(zone: str, about: str, written: Callable[[datetime], str]) -> None:
    with timezone.override(ZoneInfo(zone)):
        said = [written(at) for at in minutes(about)]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize(("zone", "about"), ABOUT)
def test_what_came_up_to_a_minute_that_a_clock_showed_is_found_by_it(zone: str, about: str) -> None:
    with timezone.override(ZoneInfo(zone)):
        for at in minutes(about):
            given = QueryDict(f"at={timezone.localtime(at):%Y-%m-%dT%H:%M}")
            until = TimelineFilters.read(given).until
            assert until is not None
            assert at <= until[0]
            assert until[0].astimezone(UTC) - at < timedelta(hours=1, minutes=1)


def test_other_times_are_written_as_ever() -> None:
    with timezone.override(ZoneInfo("Europe/Berlin")):
        assert as_markdown.at(datetime(2026, 10, 24, 22, 30, tzinfo=UTC)) == "25 Oct 2026, 00:30"
        assert as_markdown.at(datetime(2026, 10, 25, 0, 30, tzinfo=UTC)) == "25 Oct 2026, 02:30 UTC+2"
        assert as_markdown.at(datetime(2026, 10, 25, 1, 30, tzinfo=UTC)) == "25 Oct 2026, 02:30 UTC+1"
