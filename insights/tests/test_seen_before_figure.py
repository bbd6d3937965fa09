"""What counts as seen before is what each incident's page shows as such, for any viewer."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from django.http import QueryDict
from django.utils import timezone

from evidence.intake import withdrawing
from evidence.related import seen_before
from evidence.tests.conftest import Bring, bring
from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from insights import histories
from insights.insight_filters import InsightFilters

__all__ = ["bring"]
HOT = (
    b"main;hash 61\nmain;tidy 39\n",
    b"run;render 80\nrun;sweep 20\n",
    b"loop;poll 9\nother;wait 91\n",
    b"go;once 5\n",
)
SECRET, PRACTISED = b"in;secret 61\nin;hidden 39\n", b"practise;waits 61\npractise;rests 39\n"


@pytest.mark.parametrize("seed", [1, 2])
def test_it_equals_what_the_pages_of_incidents_show(
    seed: int, shipped: dict[str, IncidentType], ada: Person, eve: Person, bring: Bring
) -> None:
    chance, now = Random(seed), timezone.now()

    def live(slug: str, days: int, *bodies: bytes, is_drill: bool = False) -> None:
        at = now - timedelta(days=days)
        made = lifecycle.declare("Slow", by=ada, at=at, type=shipped[slug], is_drill=is_drill)
        brought = [bring(made, body) for body in bodies]
        if len(brought) > 1 and chance.random() < 0.3:
            withdrawing.withdraw(brought[0], by=ada, at=now)

    live("security", 120, SECRET)  # before the period, which is the last 90 days
    live("major", 120, PRACTISED, is_drill=True)
    for body in (SECRET, PRACTISED):
        live("major", 5, body)
    for _ in range(4):
        slug, is_drill = chance.choice(("major", "security")), chance.random() < 0.2
        live(slug, chance.randint(1, 130), *chance.choices(HOT, k=chance.randint(0, 2)), is_drill=is_drill)
    filters = InsightFilters.read(QueryDict())
    for person in (ada, eve):
        read = histories.read(filters.incidents(person), "evidence", "seen_before", known=filters.known(person))
        shown = {}
        for one in read:
            incident = Incident.objects.get(codename=one.codename)
            has = incident.evidence.filter(hot__share__gte=seen_before.DOMINANT).exists()
            shown[one.codename] = bool(seen_before.of(incident, actor=person)) if has else None
        assert {one.codename: one.seen_before for one in read} == shown
        assert True in shown.values() or person == eve
