"""Who is on call, printed in a terminal."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from workflows import ports
from workflows.oncall import refresh
from workflows.pager_port import Turn
from workflows.tests.oncall.pager import small

pytestmark = pytest.mark.django_db

NOW = timezone.now()
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _pager() -> Iterator[None]:
    """Connect a small pager and read it."""
    little = small()
    little.rota = [Turn("SCH", 0, "PANN", NOW - HOUR, NOW + HOUR), Turn("POL", 2, "PBEN", None, None)]
    with ports.using(pager=little):
        refresh.keep(at=timezone.now())
        yield


def printed(*args: str) -> str:
    out = io.StringIO()
    call_command("oncall", *args, stdout=out)
    return out.getvalue()


def test_a_table_of_who_is_on_call_and_who_is_next() -> None:
    lines = printed().splitlines()
    until = f"{NOW + HOUR:%Y-%m-%d %H:%M}"
    assert [line.split() for line in lines[:4]] == [
        ["WHAT", "LEVEL", "NOW", "UNTIL", "NEXT", "FROM"],
        ["Major", "incident", "1", "nobody"],
        ["Major", "incident", "2", "Ben", "(not", "matched)"],
        ["Platform", "leadership", "Ann", "(not", "matched)", *until.split(), "nobody", *until.split()],
    ]
    assert lines[-1].startswith("Read ")
    assert "Major" not in printed("platform")


def test_json_says_the_same() -> None:
    said = json.loads(printed("platform", "LEADERSHIP", "--json"))
    assert said["state"] == "fresh"
    (one,) = said["on_call"]
    assert (one["kind"], one["id"], one["name"], one["level"]) == ("schedule", "SCH", "Platform leadership", 0)
    ann = {"name": "Ann", "pager_id": "PANN", "matched": False, "until": (NOW + HOUR).isoformat()}
    assert (one["now"], one["next"], one["next_at"]) == ([ann], [], (NOW + HOUR).isoformat())


def test_a_name_that_is_unknown_says_what_comes_nearest() -> None:
    with pytest.raises(CommandError, match="Did you mean 'Major incident'"):
        printed("majr incident")


def test_without_a_pager_it_says_what_to_set() -> None:
    with ports.using():
        assert "PAGERDUTY_API_KEY" in printed()
