"""The application's clock is an hour off and then corrected: nothing happens twice, and no duration is negative."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from insights.figures.chapters import CHAPTERS
from integrations.tests.house import House
from workflows.reconcile import sweep

HOUR_S = 3600.0
# Next to a unit, between tags, or in a spreadsheet's cell.
NEGATIVE = re.compile(r"(?<![\w.#-])[-−]\d+(?:\.\d+)?(?:\s?(?:s|min|h|d)\b|(?=[,<\r\n]))")
PAGES = (
    "/incidents/{}/",
    "/incidents/{}/live",
    "/incidents/{}/progress",
    "/incidents/{}/pages",
    "/incidents.csv",
    "/",
    "/follow-ups",
    "/oncall/",
    "/reviews",
    "/incidents/{}/review",
    "/insights/",
    *(f"/insights/{slug}" for slug in CHAPTERS),
    *(f"/insights/{one.slug}.csv" for chapter in CHAPTERS.values() for one in chapter.figures),
)


@contextmanager
def clock_off(off_s: float) -> Iterator[None]:
    """Set the application host's clock off for the length of the block."""
    true_time, true_now = time.time, timezone.now
    with pytest.MonkeyPatch.context() as off:
        off.setattr(time, "time", lambda: true_time() + off_s)
        off.setattr(timezone, "now", lambda: true_now() + timedelta(seconds=off_s))
        yield


def worked(house: House, incident: Incident) -> None:
    house.settle(incident)
    sweep.fall_due(at=timezone.now())
    house.settle(incident)


@pytest.mark.parametrize("jumps", [(HOUR_S, 0), (-HOUR_S, 0), (0, HOUR_S), (0, -HOUR_S), (HOUR_S, -HOUR_S, 0)], ids=str)
def test_whatever_the_clock_does_nothing_is_twice_and_no_length_is_negative(
    house: House, jumps: tuple[float, ...]
) -> None:
    first, *others = jumps
    shown: dict[str, str] = {}
    ann = house.person("ann")
    ann.user = User.objects.create_user("ann", is_staff=True)
    ann.save(update_fields=["user"])
    with clock_off(first):
        incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
        worked(house, incident)
    for turn, off_s in enumerate(others):
        with clock_off(off_s):
            incident.refresh_from_db()
            lifecycle.update(incident, text=f"Looking, for the {turn}th time", by=ann, at=timezone.now())
            worked(house, incident)
            worked(house, incident)
            shown = pages(ann.user, incident)
    house.settle(incident)
    nothing_twice(house, incident)
    due = incident.events.filter(kind="due").values_list("at", flat=True)
    assert len(due) == len(set(due)), "of each update that was promised it is said once"
    with clock_off(others[-1] - 2 * HOUR_S):
        incident.refresh_from_db()
        house.clock = timezone.now()
        house.retype(incident, "major", by="dee")
        incident.refresh_from_db()
        lifecycle.resolve(incident, by=ann, at=timezone.now())
        worked(house, incident)
        shown |= pages(ann.user, incident)
    assert not {path: found for path, text in shown.items() if (found := NEGATIVE.findall(text))}


def nothing_twice(house: House, incident: Incident) -> None:
    name = house.channel(incident)
    assert (len(house.slack.pinned(name)), len(house.slack.bookmarks(name))) == (1, 1)
    assert len(house.slack.texts("incidents")) == 1
    said = Counter(house.slack.texts(name))
    assert max(said.values()) == 1, said
    assert not house.owed(incident)


def pages(user: User, incident: Incident) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    shown = {}
    for path in PAGES:
        answer = client.get(path.format(incident.codename))
        assert answer.status_code == 200, path
        body = answer.getvalue()
        shown[path] = re.sub(r"<(script|style).*?</\1>", "", body.decode(), flags=re.DOTALL)
    return shown
