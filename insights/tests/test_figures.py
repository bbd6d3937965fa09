"""Figures match independent database queries, and reveal to no one more than they may see."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify

from incidents import lifecycle
from incidents.models import IncidentType, Participant, Person, Source
from incidents.policies import types
from incidents.tests.conftest import Open
from insights import histories
from insights.figures import distribution, of_evidence, of_followups, of_interruptions, strip
from insights.figures.chapters import CHAPTERS, FIGURES
from insights.figures.figure import CountedThing, FigureRow
from insights.figures.history import (
    AskedPage,
    BroughtIn,
    IncidentHistory,
    OwedWork,
    TypeStep,
)
from insights.insight_filters import InsightFilters
from insights.tests import lived
from insights.views.charts import looks
from workflows.models import Page

Shipped = dict[str, IncidentType]
AT = datetime(2026, 3, 2, 9, tzinfo=timezone.get_default_timezone())


def drawn(slug: str, person: Person) -> list[FigureRow]:
    """Return the rows of a figure over what someone may see."""
    figure, filters = FIGURES[slug], InsightFilters.read(QueryDict())
    return figure.rows(histories.read(filters.incidents(person), *figure.needs, known=filters.known(person)), looks())


def whole(slug: str, person: Person) -> dict[str, list[tuple[str, float | None, bool]]]:
    """Return everything that a figure counts, by row."""
    found = {
        row.key: [(one.history.codename, one.seconds, one.marked) for one in row.counted] for row in drawn(slug, person)
    }
    return {key: sorted(some, key=str) for key, some in found.items()}


def worked_out(slug: str, person: Person) -> dict[str, tuple[float, ...]]:
    """Return a figure's count, p50 and p90 by row, or only the count."""
    both = (0.5, 0.9)
    return {
        row.key: (len(row.counted), *(distribution.percentile(row.times, share) for share in both if slug != "paths"))
        for row in drawn(slug, person)
    }


NIGHT = """
    WITH came AS (SELECT extract(hour FROM p.since_at AT TIME ZONE h.zone) AS hour, t.slug
      FROM incidents_participant p JOIN incidents_person h ON h.id = p.person_id
      JOIN incidents_incident i ON i.id = p.incident_id JOIN incidents_incidenttype t ON t.id = i.type_id
     WHERE p.reason = 'picked' AND h.zone <> '')
    SELECT slug, count(*), count(*) FILTER (WHERE hour >= 22 OR hour < 7) FROM came GROUP BY slug
"""
ZONES = ("Europe/London", "America/Bogota", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Chatham", "UTC", "")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_was_brought_in_by_night_is_what_sql_says_in_every_zone(
    seed: int, shipped: Shipped, ada: Person, ben: Person
) -> None:
    chance = Random(seed)
    people = [Person.objects.create(name=f"Person {n}", zone=ZONES[n % len(ZONES)]) for n in range(14)]
    for made in lived.live(shipped, (ada, ben), now=timezone.now(), count=6, seed=seed):
        for person in people:
            at = made.declared_at + timedelta(minutes=chance.randint(0, 60 * 24 * 200))
            Participant.objects.create(incident=made, person=person, reason="picked", by=ada, since_at=at)
    rows = {row.key: row for row in drawn("by-night", ada)}
    assert (len(rows.pop("no_zone").counted), len(rows.pop("all").counted)) == (12, 72)
    assert {key: (len(row.counted), row.marked) for key, row in rows.items()} == lived.asked(NIGHT)


@pytest.mark.parametrize("name", ["", "Nowhere/At_All", "../etc/passwd", "/etc/passwd", "America", "\0", "a" * 300])
def test_a_zone_that_no_machine_knows_is_said_to_be_unknown(name: str) -> None:
    (row,) = of_interruptions.by_night([history(picked=(BroughtIn(AT, name),))], {})
    assert (row.key, len(row.counted), row.marked) == ("no_zone", 1, 0)


@pytest.mark.parametrize("seed", [1, 2, 6])
def test_figures_equal_what_sql_says(seed: int, shipped: Shipped, ada: Person, ben: Person) -> None:
    lived.live(shipped, (ada, ben), now=timezone.now(), count=9, seed=seed)
    assert worked_out("held", ada) == lived.asked(lived.HELD)
    assert worked_out("paths", ada) == lived.asked(lived.CHANGES)
    of_all = {"clarity": lived.CLARITY, "mitigate": lived.MITIGATE, "lead": lived.LEAD, "first-human": lived.SECOND}
    for slug, sql in of_all.items():
        found, said = worked_out(slug, ada), lived.asked(sql)
        alone = next(iter(found.values()), None)  # a single type needs no row for all
        assert found.get("all", alone) == said.get("all"), slug


@pytest.mark.parametrize("now_default", ["ambiguous", "isolated", "major"])
def test_another_default_type_changes_no_figure_of_the_past(
    now_default: str, shipped: Shipped, ada: Person, ben: Person
) -> None:
    lived.live(shipped, (ada, ben), now=timezone.now(), count=9, seed=1)
    before = {slug: whole(slug, ada) for slug in FIGURES}
    types.make_default(shipped[now_default], by=None)
    assert {slug: whole(slug, ada) for slug in FIGURES} == before
    assert worked_out("clarity", ada)["all"] == lived.asked(lived.CLARITY)["all"]


def test_what_is_clear_is_asked_of_the_default_there_was(shipped: Shipped, ada: Person) -> None:
    began = timezone.now() - timedelta(hours=9)
    made = lifecycle.declare("Something is slow", by=ada, at=began)
    types.make_default(shipped["isolated"], by=None)
    for hours, slug in enumerate(("isolated", "major", "ambiguous"), 1):
        to = IncidentType.objects.get(slug=slug)
        made = lifecycle.retype(made, to=to, by=ada, at=began + timedelta(hours=hours))
    (row,) = drawn("clarity", ada)
    assert (row.key, [one.seconds for one in row.counted]) == ("major", [2 * 3_600])


def test_a_csv_has_a_line_for_each_thing_that_a_figure_counts(
    shipped: Shipped, ada: Person, ben: Person, browse: Open
) -> None:
    lived.live(shipped, (ada, ben), now=timezone.now(), count=9, seed=2)
    for slug, figure in FIGURES.items():
        counted = sum(len(row.counted) for row in drawn(slug, ada) if row.key != "all")
        lines = browse(ada).get(reverse("insights-csv", args=[slug])).content.decode().splitlines()
        assert len(lines) - 1 == counted, figure.title


def test_pages_ask_few_questions_however_many_incidents(
    shipped: Shipped, ada: Person, ben: Person, browse: Open
) -> None:
    client = browse(ada)
    lived.live(shipped, (ada, ben), now=timezone.now(), count=6, seed=3)
    for slug in CHAPTERS:
        address = reverse("insights-chapter", args=[slug])
        client.get(address)
        with CaptureQueriesContext(connection) as captured:
            page = client.get(address).content.decode()
        assert len(captured) <= 8, [one["sql"][:200] for one in captured]
        assert all(figure.title in page for figure in CHAPTERS[slug].figures)


def test_private_incidents_change_nothing_for_who_may_not_see_them(
    shipped: Shipped, ada: Person, ben: Person, eve: Person, browse: Open
) -> None:
    now = timezone.now()
    lived.live(shipped, (ada, ben), now=now, count=3, seed=4)
    asked = [
        reverse("insights"),
        reverse("insights-csv", args=["held"]),
        reverse("insights-behind", args=["held", "major"]),
    ]
    before, mine = ([looked(browse(one), address) for address in asked] for one in (eve, ada))
    secret = lifecycle.declare("A token leaked", by=ada, at=now - timedelta(hours=3), type=shipped["major"])
    secret = lifecycle.retype(secret, to=shipped["security"], by=ada, at=now - timedelta(hours=2))
    lifecycle.resolve(secret, by=ada, at=now - timedelta(hours=1))
    assert [looked(browse(eve), address) for address in asked] == before
    found = [looked(browse(ada), address) for address in asked]
    assert all(one != other for one, other in zip(found, mine, strict=True))


def test_drills_change_no_figure_of_anybody(shipped: Shipped, ada: Person, ben: Person, browse: Open) -> None:
    now = timezone.now()
    lived.live(shipped, (ada, ben), now=now, count=3, seed=5)
    asked = [
        *(reverse("insights-csv", args=[slug]) for slug in ("held", "paths")),
        *(reverse("insights-chapter", args=[slug]) for slug in CHAPTERS),
        f"{reverse('insights')}?samples=1&drills=1",
        reverse("followups"),
        reverse("reviews"),
    ]
    before = [looked(browse(one), address) for one in (ada, ben) for address in asked]
    for slug in ("major", "security"):
        drill = lifecycle.declare("Practise", by=ada, at=now - timedelta(hours=3), type=shipped[slug], is_drill=True)
        drill = lifecycle.retype(drill, to=shipped["isolated"], by=ada, at=now - timedelta(hours=2))
        lifecycle.add_followup(drill, text="practise more", phase="afterwards", by=ada, at=now - timedelta(hours=2))
        lifecycle.resolve(drill, by=ada, at=now - timedelta(hours=1))
    assert [looked(browse(one), address) for one in (ada, ben) for address in asked] == before


def looked(browser: Client, address: str) -> str:
    """Return a page without the token, which differs each time."""
    return re.sub(r'csrfmiddlewaretoken" value="\w+"', "", browser.get(address).content.decode())


def test_sample_data_is_left_out_until_it_is_asked_for(
    shipped: Shipped, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_sandbox = replace(settings.FIREKIND, sandbox_url="http://127.0.0.1:1")
    monkeypatch.setattr(settings, "FIREKIND", in_sandbox)
    made = lifecycle.declare("A sample", by=ada, at=timezone.now() - timedelta(hours=2), source=Source.SAMPLE)
    lifecycle.resolve(made, by=ada, at=timezone.now())
    address = reverse("insights-behind", args=["held", "ambiguous"])
    assert made.codename not in browse(ada).get(address).content.decode()
    assert made.codename in browse(ada).get(f"{address}?samples=1").content.decode()
    assert "0 incidents" in browse(ada).get(reverse("insights")).content.decode()


def test_a_group_narrows_the_figures_and_the_list_they_lead_to(
    shipped: Shipped, ada: Person, ben: Person, browse: Open
) -> None:
    there, *others = lived.live(shipped, (ada, ben), now=timezone.now(), count=3, seed=5)
    came = {"reason": Participant.Reason.GROUP, "detail": "database-guild", "since_at": there.declared_at}
    Participant.objects.update_or_create(incident=there, person=ben, defaults=came)
    narrowed = InsightFilters.read(QueryDict("group=%40Database-Guild"))
    assert list(narrowed.incidents(ada)) == [there]
    listed = looked(browse(ada), f"/{narrowed.query}")
    assert there.codename in listed
    assert not [one for one in others if one.codename in listed]


def history(**given: Any) -> IncidentHistory:
    return IncidentHistory(codename="a-b", declared_at=AT, steps=(TypeStep("major", AT),))._replace(**given)


def test_what_was_refuted_counts_until_one_holds() -> None:
    told = ("1 refuted", "2 refuted", "2 open", "3 supported", "4 refuted")
    assert of_evidence.refuted_before(history(rounds=told)) == 1  # the second was reopened, the fourth came later
    assert of_evidence.refuted_before(history(rounds=told[:2])) is None


def test_pages_of_one_person_are_counted_without_a_name() -> None:
    asked = (AskedPage("Eve Ito", "user/P1", AT, None), AskedPage("Web", "policy/P2", AT, AT + timedelta(minutes=3)))
    rows = {row.label: row for row in of_interruptions.pages([history(pages=asked)], {})}
    assert {label: (len(row.counted), row.marked) for label, row in rows.items()} == {
        of_interruptions.A_PERSON: (1, 0),
        "Web": (1, 1),
    }


def test_a_page_that_the_pager_never_opened_is_none(shipped: Shipped, ada: Person) -> None:
    at = timezone.now()
    incident = lifecycle.declare("Checkout is slow", by=ada, at=at, type=shipped["major"])
    called_off = {"status": Page.Status.RESOLVED, "withdrawn_at": at}
    known = {"pager_id": "Q1", "status": Page.Status.ACKNOWLEDGED, "answered_at": at}
    kept: list[dict[str, Any]] = [{}, called_off, known, known | called_off | {"pager_id": "Q2"}, {"via": "events"}]
    for n, values in enumerate(kept):
        about: dict[str, Any] = {"incident": incident, "target": "policy/P1", "name": "Web", "status_at": at}
        Page.objects.create(key=f"page/policy/P1/{n}", dedup_key=str(n), opened_at=at, **about | values)
    (row,) = drawn("pages", ada)
    assert (len(row.counted), row.marked) == (3, 2)


@pytest.mark.parametrize("slug", ["pages", "page-answers", "evidence"])
def test_the_address_of_a_row_leads_to_it_whatever_comes_later(slug: str) -> None:
    def rows(*names: str) -> dict[str, str]:
        asked = tuple(AskedPage(name, "policy/P", AT, AT + timedelta(minutes=3)) for name in names)
        came = [(name, False, ()) for name in names]
        return {row.label: row.key for row in FIGURES[slug].rows([history(pages=asked, evidence=came)], {})}

    before, after = rows("slack", "api"), rows("slack", "api", "otlp", "otlp", "api", "api")
    assert list(before) != list(after)[: len(before)], "they stand in another order by then"
    assert before.items() <= after.items()
    assert all(slugify(key) == key and len(key) > 5 for key in after.values())


def test_every_mark_is_found_again_by_its_place() -> None:
    times = [30.0, 61.0, 61.0, 300.0, 300.0, 300.0, 300.0, 300.0, 90_000.0]
    row = FigureRow("all", "All", tuple(CountedThing(history(), seconds) for seconds in times))
    (drawn,) = strip.chart([row]).rows
    assert not drawn.is_dots
    assert [len(one.counted) for one in drawn.marks] == [
        len(strip.slot_of(row, one.slot, [row]).counted) for one in drawn.marks
    ]
    assert sum(len(one.counted) for one in drawn.marks) == len(times)
    assert (drawn.p50, drawn.p90) == (300.0, 90_000.0)


def test_what_was_to_be_done_counts_with_what_is_done() -> None:
    owed = (OwedWork("during", 3600.0), OwedWork("during", None))
    (row,) = of_followups.followups([history(followups=owed)], {})
    assert (row.key, len(row.counted), row.marked) == ("during", 2, 1)
    assert [one.times for one in of_followups.done([history(followups=owed)], {})] == [[3600.0]]


@pytest.mark.parametrize("asked", ["until=0001-01-01", "since=9999-12-31", "until=9999-12-31", "since=0001-01-01"])
def test_any_day_there_is_can_be_asked_for(asked: str, shipped: Shipped, ada: Person, browse: Open) -> None:
    assert browse(ada).get(f"/insights/?{asked}").status_code == 200


@pytest.mark.parametrize("longest", [1, 59, 3_600, 86_400])
def test_the_first_mark_of_an_axis_says_that_shorter_times_lie_there_too(longest: float) -> None:
    (at, name), *_ = distribution.ticks(longest)
    end = distribution.axis_end(longest)
    assert {distribution.where(time, end=end) for time in (0, 1, 59, 60)} == {at}
    assert name == "up to 1 min"
