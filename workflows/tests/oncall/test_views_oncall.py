"""The on-call pages: what they say, who sees them, and matching by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from incidents.models import Person
from incidents.tests.conftest import Open
from workflows import ports
from workflows.models import PagerRead, PagerUser, Shift
from workflows.oncall import pager_cache, refresh
from workflows.oncall.people import Matched
from workflows.pager_port import Turn
from workflows.tests.oncall.pager import DOWN, LittlePager, small

pytestmark = pytest.mark.django_db


@pytest.fixture
def pager(ada: Person) -> Iterator[LittlePager]:
    """Connect a small pager and read it: Ann is Ada's name there, and she is on call for another hour."""
    Person.objects.filter(pk=ada.pk).update(email="ann@example.com")
    now = timezone.now()
    little = small()
    hour = timedelta(hours=1)
    little.rota = [
        Turn("SCH", 0, "PANN", now - hour, now + hour),
        Turn("SCH", 0, "PBEN", now + hour, now + 2 * hour),
        Turn("POL", 1, "PBEN", None, None),
    ]
    with ports.using(pager=little):
        refresh.keep(at=now)
        yield little


def test_the_page_says_who_is_on_call_and_who_is_next(pager: LittlePager, ada: Person, browse: Open) -> None:
    page = browse(ada).get("/oncall/").content.decode()
    assert "Platform leadership" in page
    assert page.index("Major incident") < page.index("Platform leadership")
    assert "<span>Ada <span" in " ".join(page.split()), "matched people go by their name here"
    assert "not matched" in " ".join(page.split())
    assert "No one is on call." in page, "of the second level"
    assert re.search(r"Read from PagerDuty \d s ago\.", page)


@pytest.mark.parametrize("matched", [(), ("PANN",), ("PBEN",), ("PANN", "PBEN")])
@pytest.mark.parametrize("path", ["/oncall/", "/oncall/week/", "/oncall/week/?week=next"])
def test_wherever_somebody_is_named_as_on_call_it_is_said_whether_nobody_here_is_matched(
    path: str, matched: tuple[str, ...], pager: LittlePager, ada: Person, browse: Open
) -> None:
    people = {"PANN": ada, "PBEN": Person.objects.create(name="Bo")}
    pager.rota = [Turn("SCH", 0, id, None, None) for id in people] + [Turn("POL", 1, "PBEN", None, None)]
    pager.overridden = pager.rota[:1]
    pager_cache.refresh_shifts(at=timezone.now() + timedelta(minutes=16))
    for id, person in people.items():
        PagerUser.objects.filter(pager_id=id).update(person=person if id in matched else None)
    page = browse(ada).get(path).content.decode()
    said = " ".join(re.sub("<[^>]*>", " ", page[page.index("<main") :]).split())
    for id, name in (("PANN", "Ann"), ("PBEN", "Ben")):
        known = people[id].name if id in matched else name
        every = len(re.findall(rf"\b{known}\b", said))
        marked = len(re.findall(rf"\b{known}\b *,?(?: override)? not matched", said))
        assert every > 0, known
        assert marked == (0 if id in matched else every), known


def test_without_a_pager_the_page_says_what_to_set(ada: Person, browse: Open) -> None:
    for path in ("/oncall/", "/oncall/people/"):
        page = browse(ada).get(path).content.decode()
        assert "PAGERDUTY_API_KEY" in page
        assert page.count("PagerDuty is not connected") == 1


def test_a_pager_that_is_away_is_said_with_what_was_known(pager: LittlePager, ada: Person, browse: Open) -> None:
    pager.fails["turns"] = DOWN
    refresh.keep(at=timezone.now() + timedelta(minutes=1))
    page = browse(ada).get("/oncall/").content.decode()
    assert "PagerDuty has not responded since <time" in page
    assert "Showing what was known at <time" in page
    assert "<span>Ada <span" in " ".join(page.split())


def test_a_cache_that_nobody_reads_any_more_says_so(pager: LittlePager, ada: Person, browse: Open) -> None:
    PagerRead.objects.update(shifts_at=timezone.now() - timedelta(minutes=10))
    page = browse(ada).get("/oncall/").content.decode()
    assert "Read from PagerDuty 10 min ago. Updates have stopped" in page


def test_before_the_first_read_the_page_says_that(ada: Person, browse: Open) -> None:
    with ports.using(pager=small()):
        assert "has not been read yet" in browse(ada).get("/oncall/").content.decode()


def test_only_a_fragment_is_sent_to_the_open_page(pager: LittlePager, ada: Person, browse: Open) -> None:
    fragment = browse(ada).get("/oncall/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert "Platform leadership" in fragment


def test_words_of_the_pager_are_words_alone(pager: LittlePager, ada: Person, browse: Open) -> None:
    PagerUser.objects.update(name="<b>Bold</b>", email="<i>@example.com")
    Shift.objects.update(end_at=None)
    PagerRead.objects.update(failed_at=timezone.now(), failing="all", says="<b>not</b> now")
    for path in ("/oncall/", "/oncall/people/"):
        page = browse(ada).get(path).content.decode()
        assert "<b>" not in page
        assert "<i>" not in page


def test_the_user_in_whose_name_pages_are_opened_is_not_somebody_to_match(
    pager: LittlePager, ada: Person, browse: Open, settings: Any
) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, pagerduty=SimpleNamespace(sender="Ben@Example.com"))
    page = browse(ada).get("/oncall/people/").content.decode()
    assert "Firekind opens pages as this user" in page
    assert "Choose who Ben is" not in page


def test_people_are_listed_with_why_they_are_not_matched(pager: LittlePager, ada: Person, browse: Open) -> None:
    page = browse(ada).get("/oncall/people/").content.decode()
    assert "1 of 2 matched." in page
    assert "No one here has this email." in page
    assert "by email" in page
    found = browse(ada).get("/oncall/people/", {"q": "ben@"}).content.decode()
    assert "Choose who Ben is" in found
    assert "Part Ann" not in found
    assert "No matches." in browse(ada).get("/oncall/people/", {"q": "zzz"}).content.decode()


def test_somebody_is_matched_by_hand_and_parted_again(
    pager: LittlePager, ada: Person, ben: Person, browse: Open
) -> None:
    user = PagerUser.objects.get(pager_id="PBEN")
    client = browse(ada)
    page = client.get(f"/oncall/people/{user.pk}/match").content.decode()
    assert f'value="{ben.pk}" checked' in " ".join(page.split()), "the only one of that name is chosen already"
    assert client.post(f"/oncall/people/{user.pk}/match", {"person": ben.pk}).status_code == 302
    user.refresh_from_db()
    assert (user.person, user.matched, user.matched_by) == (ben, Matched.HAND, ada)
    assert "by hand, by Ada" in " ".join(client.get("/oncall/people/").content.decode().split())
    assert "Not the same person?" in client.get(f"/oncall/people/{user.pk}/part").content.decode()
    user.refresh_from_db()
    assert user.person == ben, "asking parts nobody"
    client.post(f"/oncall/people/{user.pk}/part")
    assert PagerUser.objects.filter(pk=user.pk, person=None, matched=Matched.PARTED).exists()
    assert "Unlinked by Ada" in client.get("/oncall/people/").content.decode()


@pytest.mark.parametrize("given", ["", "0", "999999", "x", "1" * 40])
def test_nobody_is_matched_with_nobody(given: str, pager: LittlePager, ada: Person, browse: Open) -> None:
    user = PagerUser.objects.get(pager_id="PBEN")
    response = browse(ada).post(f"/oncall/people/{user.pk}/match", {"person": given})
    assert response.status_code == 422
    assert "Choose who it is." in response.content.decode()


@pytest.mark.parametrize("flag", ["is_guest", "is_external", "is_bot"])
def test_guests_are_neither_offered_nor_taken(
    flag: str, pager: LittlePager, ada: Person, ben: Person, browse: Open
) -> None:
    Person.objects.filter(pk=ben.pk).update(**{flag: True})
    address = f"/oncall/people/{PagerUser.objects.get(pager_id='PBEN').pk}/match"
    assert f'value="{ben.pk}"' not in browse(ada).get(address, {"q": "Ben"}).content.decode()
    assert browse(ada).post(address, {"person": ben.pk}).status_code == 422


@pytest.mark.parametrize("flag", ["is_guest", "is_external"])
def test_to_guests_these_pages_are_absent(flag: str, pager: LittlePager, eve: Person, browse: Open) -> None:
    Person.objects.filter(pk=eve.pk).update(**{flag: True})
    client, user = browse(eve), PagerUser.objects.get(pager_id="PANN")
    for path in ("", "people/", f"people/{user.pk}/match", f"people/{user.pk}/part"):
        assert client.get(f"/oncall/{path}").status_code == 404
    assert client.post(f"/oncall/people/{user.pk}/part").status_code == 404
    user.refresh_from_db()
    assert user.person is not None
    assert 'href="/oncall/"' not in client.get("/").content.decode()


def test_the_number_of_queries_does_not_grow_with_the_account(
    pager: LittlePager, ada: Person, browse: Open, django_assert_max_num_queries: object
) -> None:
    PagerUser.objects.bulk_create(PagerUser(pager_id=f"P{n}", name=f"N{n}", email=f"{n}@x") for n in range(150))
    client = browse(ada)
    for path in ("/oncall/", "/oncall/people/"):
        with django_assert_max_num_queries(20):  # type: ignore[operator]  # pytest-django types it as a class
            client.get(path)


def test_the_week_marks_who_is_on_call_by_an_override(pager: LittlePager, ada: Person, browse: Open) -> None:
    marked = '<bdi>Ben</bdi> <span class="tag">override</span>'
    assert marked not in " ".join(browse(ada).get("/oncall/week/").content.decode().split())
    pager.overridden = [one for one in pager.rota if (one.subject, one.user) == ("SCH", "PBEN")]
    pager_cache.refresh_shifts(at=timezone.now() + timedelta(minutes=16))
    page = " ".join(browse(ada).get("/oncall/week/").content.decode().split())
    assert page.count(marked) >= 1
    assert page.count("override</span>") == page.count(marked), "Ada's own turns are none"


@pytest.mark.parametrize(
    ("schedules", "is_marked"),
    [((("SCH",), ()), True), (((), ("SCH",)), False), ((("OTHER",), ()), False), ((), False)],
)
def test_an_override_is_marked_on_each_level_that_pages_its_schedule_and_on_no_other(
    schedules: tuple[tuple[str, ...], ...], is_marked: bool, pager: LittlePager, ada: Person, browse: Open
) -> None:
    pager.listed = [replace(one, schedules=schedules) if one.id == "POL" else one for one in pager.listed]
    pager.overridden = [one for one in pager.rota if (one.subject, one.user) == ("SCH", "PBEN")]
    refresh.keep(at=timezone.now() + timedelta(hours=2))
    page = " ".join(browse(ada).get("/oncall/week/").content.decode().split())
    (level,) = [row for row in page.split("<tr>") if "Major incident" in row and "Level 1" in row]
    assert ('<bdi>Ben</bdi> <span class="tag">override</span>' in level) == is_marked


def test_the_week_says_who_takes_over_when_and_where_no_one_is(pager: LittlePager, ada: Person, browse: Open) -> None:
    page = " ".join(browse(ada).get("/oncall/week/").content.decode().split())
    assert "<strong>Platform leadership</strong>: no one from" in page
    assert "<strong>Major incident, level 2</strong>: no one now until the end of the week" in page
    assert "Major incident, level 1</strong>" not in page, "where Ben always is"
    assert '<bdi class="mine">Ada</bdi> <span class="tag">you</span>' in page
    assert page.count("<tr>") == 4, "the days, a schedule, and two levels"


def test_of_several_on_one_shift_the_week_marks_who_looks_at_it(pager: LittlePager, ada: Person, browse: Open) -> None:
    pager.rota = [Turn("SCH", 0, id, None, None) for id in ("PANN", "PBEN")]
    pager_cache.refresh_shifts(at=timezone.now() + timedelta(minutes=16))
    page = " ".join(browse(ada).get("/oncall/week/").content.decode().split())
    assert '<bdi class="mine">Ada</bdi> <span class="tag">you</span> <span class="unseen">,</span></span>' in page
    assert '<span class="named"><bdi>Ben</bdi> <a class="tag unmatched"' in page


def test_the_week_says_how_old_the_days_are_that_are_read_less_often(
    pager: LittlePager, ada: Person, browse: Open
) -> None:
    PagerRead.objects.update(shifts_until=timezone.now() + pager_cache.AHEAD - timedelta(minutes=7))
    said = "Shifts more than a day ahead were read 7 min ago."
    assert said in browse(ada).get("/oncall/week/").content.decode()
    assert said not in browse(ada).get("/oncall/").content.decode()
    pager_cache.refresh_shifts(at=timezone.now() + timedelta(minutes=16))
    assert "more than a day ahead" not in browse(ada).get("/oncall/week/").content.decode()


def test_next_week_shows_the_handover_that_this_week_does_not(pager: LittlePager, ada: Person, browse: Open) -> None:
    later = timezone.now() + timedelta(days=9)
    pager.rota = [Turn("SCH", 0, "PANN", None, later), Turn("SCH", 0, "PBEN", later, None)]
    pager_cache.refresh_shifts(at=timezone.now() + timedelta(minutes=16))
    this, following = (
        " ".join(browse(ada).get(f"/oncall/week/{asked}").content.decode().split()) for asked in ("", "?week=next")
    )
    assert "<bdi>Ben</bdi>" not in this
    days = [timezone.localtime(timezone.now() + timedelta(days=ahead)) for ahead in (6, 7, 13)]
    last, first, end = (f"{one:%a} {one.day} {one:%b}" for one in days)
    assert f'<a href="?week=next" rel="next">{first} to {end} ' in this
    assert f"From today to {last}</a>" in following
    assert this.count("Today") >= 1
    assert '<bdi class="mine">Ada</bdi>' in following
    assert "<bdi>Ben</bdi>" in following
    assert "Today" not in following
    assert f"{timezone.localtime(later):%H:%M}" in following


def test_a_level_that_pages_one_schedule_and_nobody_else_has_no_row_of_its_own(
    pager: LittlePager, ada: Person, browse: Open
) -> None:
    pager.listed = [replace(one, schedules=(("SCH",), ())) if one.id == "POL" else one for one in pager.listed]
    own = [one for one in pager.rota if one.subject == "SCH"]
    pager.rota = [*own, *(replace(one, subject="POL", level=1) for one in own)]
    refresh.keep(at=timezone.now() + timedelta(minutes=20))
    page = " ".join(browse(ada).get("/oncall/week/").content.decode().split())
    assert page.count("<tr>") == 3, "the days, the schedule, and the second level"
    assert '<span class="soft also">Major incident, level 1</span>' in page
    pager.rota += [Turn("POL", 1, "PBEN", None, None)]
    pager_cache.refresh_shifts(at=timezone.now() + timedelta(minutes=40))
    assert browse(ada).get("/oncall/week/").content.decode().count("<tr>") == 4, "somebody else is paged as well"


def test_the_page_names_the_services_that_page_a_policy(pager: LittlePager, ada: Person, browse: Open) -> None:
    page = " ".join(browse(ada).get("/oncall/").content.decode().split())
    assert "Paged by <bdi>Checkout</bdi>" in page
