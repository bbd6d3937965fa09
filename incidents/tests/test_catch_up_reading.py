"""Reading both at once gives the same as reading them separately: the catch-up's entries, and the latest ones."""

from __future__ import annotations

from datetime import datetime, timedelta
from unittest.mock import patch

from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle, timeline
from incidents.models import Incident, IncidentType, Person
from incidents.reading import catch_up, catch_up_reading
from incidents.timeline import TimelineEntry

KINDS = ("noted", "updated", "impact", "led", "due", "edited", "retracted")
Written = tuple[str, int, int]  # a kind, how many minutes ago, and what it is about


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 9), st.integers(1, 9)), max_size=90),
    st.integers(1, 60),
    st.one_of(st.none(), st.tuples(st.integers(0, 9), st.integers(1, 60))),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_are_what_each_was(
    shipped: dict[str, IncidentType],
    ada: Person,
    written: list[Written],
    limit: int,
    after: tuple[int, int] | None,
) -> None:
    now = timezone.now()
    incident = lifecycle.declare("Checkout is slow", by=ada, at=now - timedelta(minutes=5))
    write(incident, ada, written, at=now)
    since = (now - timedelta(minutes=after[0]), after[1]) if after else None
    with patch.object(catch_up, "OF_A_KIND", 4):
        place = since or catch_up_reading.BEGINNING
        together = catch_up_reading.read_with_latest(incident, limit=limit, after=place)
        known, latest = catch_up_reading.parted(together, limit=limit, reader=ada, after=place)
        assert said(known) == said(catch_up_reading.read(incident))
    assert said(latest) == said(timeline.latest(incident, limit=limit, reader=ada, after=since))


def write(incident: Incident, by: Person, written: list[Written], *, at: datetime) -> None:
    for kind, ago, about in written:
        about_n = about if kind in timeline.ABOUT_OTHERS else None
        data = {"name": by.name} if kind == "led" else {}
        timeline.append(incident, kind, at=at - timedelta(minutes=ago), by=by, text=kind, data=data, about_n=about_n)


def said(entries: list[TimelineEntry]) -> list[tuple[int, str, bool]]:
    return [(one.event.n, one.text, one.stands) for one in entries]
