"""On-call search: by service, schedule, escalation policy and person, on both views and without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from incidents.models import Person
from incidents.tests.conftest import Open
from workflows import ports
from workflows.models import PagerUser
from workflows.oncall import refresh
from workflows.pager_port import PagerPerson, Target, Turn
from workflows.tests.oncall.pager import LittlePager
from workflows.views.oncall import rota_search

pytestmark = pytest.mark.django_db

VIEWS = ("/oncall/", "/oncall/week/", "/oncall/week/?week=next")
SERVICES = tuple(f"svc-{n:02}" for n in range(14))


@pytest.fixture
def pager(ada: Person) -> Iterator[LittlePager]:
    """Connect a pager with two policies and a schedule; Ann is Ada here, Zoë and Łucja match no one."""
    Person.objects.filter(pk=ada.pk).update(email="ann@example.com")
    little = LittlePager(
        known=[
            PagerPerson("PANN", "Ann", "ann@example.com"),
            PagerPerson("PZOE", "Zoë Quill"),
            PagerPerson("P3", "Xi"),
        ],
        listed=[
            Target("policy", "POL", "Payments", levels=2, schedules=((), ())),
            Target("policy", "MAJ", "Major incident", levels=1, schedules=(("SCH",),)),
            Target("service", "SRV", "Checkout API", policy="POL"),
            *(Target("service", f"S{name}", name, policy="POL") for name in SERVICES),
            Target("service", "SMJ", "Ledger", policy="MAJ"),
            Target("schedule", "SCH", "Platform <leadership>"),
        ],
        rota=[
            Turn("POL", 1, "PANN", None, None),
            Turn("POL", 2, "PZOE", None, None),
            Turn("SCH", 0, "P3", None, None),
            Turn("MAJ", 1, "P3", None, None),
        ],
    )
    with ports.using(pager=little):
        refresh.keep(at=timezone.now())
        yield little


def found(page: str) -> set[str]:
    """Return the policies and schedules that a page shows, by name."""
    names = re.findall(r'<p class="name">(.*?)</p>|<th scope="row">(.*?)(?:<span|</th>)', page, re.DOTALL)
    return {unescape(re.sub("<[^>]*>", "", "".join(one))).strip() for one in names}


PAYMENTS, MAJOR, PLATFORM = "Payments", "Major incident", "Platform <leadership>"


@pytest.mark.parametrize(
    ("q", "on_now"),
    [
        ("", {PAYMENTS, MAJOR, PLATFORM}),
        ("checkout", {PAYMENTS}),  # a service
        ("API check", {PAYMENTS}),  # its words in any order
        ("svc-13", {PAYMENTS}),  # one beyond those shown
        ("ledger", {MAJOR}),
        ("PAYM", {PAYMENTS}),  # an escalation policy
        ("platform <lead", {PLATFORM}),  # a schedule
        ("ada", {PAYMENTS}),  # a person, by their name here
        ("ann", {PAYMENTS}),  # and by their name in the pager
        ("zoe", {PAYMENTS}),  # without accents
        ("ZOË quill", {PAYMENTS}),
        ("xi", {MAJOR, PLATFORM}),
        ("checkout ada", {PAYMENTS}),
        ("checkout xi", set()),
        ("zzz", set()),
    ],
)
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_on_call_is_found_by_service_schedule_policy_and_person(
    view: str, q: str, on_now: set[str], pager: LittlePager, ada: Person, browse: Open
) -> None:
    page = browse(ada).get(view, {"q": q, "week": "next"} if "next" in view else {"q": q}).content.decode()
    # In the week view, the level that pages only a schedule is in that schedule's row.
    expected = on_now if view == "/oncall/" else {PLATFORM if one == MAJOR else one for one in on_now}
    assert found(page) == expected
    assert ("No matches." in page) == (not expected)


@pytest.mark.parametrize("view", VIEWS)
def test_a_search_is_a_form_that_keeps_the_view_and_the_views_keep_the_search(
    view: str, pager: LittlePager, ada: Person, browse: Open
) -> None:
    client = browse(ada)
    path, _, week = view.partition("?")
    page = client.get(f"{path}?q=che%26ck{'&' + week if week else ''}").content.decode()
    (form,) = re.findall(r'<form class="seek".*?</form>', page, re.DOTALL)
    assert f'method="get" action="{path}"' in form
    assert re.search(r'id="q"\s+type="search" name="q" value="che&amp;ck"', form)
    assert ('name="week" value="next"' in form) == bool(week)
    assert "<button" in form, "which sends it without scripts"
    nav = page[page.index('class="segments oncall-nav"') :].partition("</nav>")[0]
    assert '"/oncall/?q=che%26ck"' in nav
    assert '"/oncall/week/?q=che%26ck"' in nav
    assert '"/oncall/people/"' in nav
    assert f'href="{path}{"?week=next" if week else ""}">Show all' in page


def test_the_weeks_keep_the_search(pager: LittlePager, ada: Person, browse: Open) -> None:
    client = browse(ada)
    this = " ".join(client.get("/oncall/week/?q=checkout").content.decode().split())
    assert 'href="?week=next&amp;q=checkout" rel="next"' in this
    following = " ".join(client.get("/oncall/week/?week=next&q=checkout").content.decode().split())
    assert 'href="/oncall/week/?q=checkout" rel="prev"' in following


def test_the_service_that_was_looked_for_is_named_first(pager: LittlePager, ada: Person, browse: Open) -> None:
    client = browse(ada)
    plain = " ".join(client.get("/oncall/").content.decode().split())
    assert "Paged by <bdi>Checkout API</bdi>, <bdi>svc-00</bdi>" in plain
    assert "svc-13" not in plain
    for view in VIEWS[:2]:
        page = " ".join(client.get(view, {"q": "svc-13"}).content.decode().split())
        assert "Paged by <bdi>svc-13</bdi>" in page


def test_the_open_page_asks_again_for_what_was_looked_for(pager: LittlePager, ada: Person, browse: Open) -> None:
    client = browse(ada)
    page = client.get("/oncall/?q=check+out").content.decode()
    assert 'hx-get="/oncall/?q=check%20out"' in page
    fragment = client.get("/oncall/?q=ledger", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert found(fragment) == {MAJOR}


def test_a_form_that_is_sent_as_it_is_typed_leaves_no_empty_field_in_the_address(
    pager: LittlePager, ada: Person, browse: Open
) -> None:
    typed = {"HX-Request": "true", "HX-Trigger": "seek"}
    for path, given_, address in (
        ("/oncall/", "?q=", "/oncall/"),
        ("/oncall/", "?q=+a++b", "/oncall/?q=a%20b"),
        ("/oncall/week/", "?q=&week=next", "/oncall/week/?week=next"),
        ("/oncall/week/", "?q=a", "/oncall/week/?q=a"),
    ):
        answer = browse(ada).get(path + given_, headers=typed)
        assert answer.headers["HX-Push-Url"] == address
        assert 'id="oncall-nav"' in answer.content.decode(), "whose links keep what is looked for"


@pytest.mark.parametrize("view", VIEWS)
def test_a_search_that_finds_nothing_says_what_to_do_next(
    view: str, pager: LittlePager, ada: Person, browse: Open
) -> None:
    path, _, week = view.partition("?")
    page = " ".join(
        browse(ada).get(path, {"q": "chekout <b>", "week": "next" if week else ""}).content.decode().split()
    )
    assert "chekout &lt;b&gt;" in page
    assert "<b>" not in page
    again = f'?{"week=next&amp;" if week else ""}q=Checkout%20API">Checkout API</a>?'
    near = " ".join(browse(ada).get(path, {"q": "chekcout", "week": "next" if week else ""}).content.decode().split())
    assert f'Did you mean <a href="{path}{again}' in near
    assert '<a href="/oncall/people/?q=chekcout">' in near, "where somebody is who is not on call"
    assert "Show all" in near
    assert "someone is on call at all times." not in near, "of which nothing is known"


def test_what_is_typed_is_cut_and_never_fails(pager: LittlePager, ada: Person, browse: Open) -> None:
    for q in ("\0", "%", "\\", "x" * 5000, "ß", "  ", "'", "{{", "é" * 300):
        for view in VIEWS:
            assert browse(ada).get(view, {"q": q}).status_code in {200, 400}, q


def test_a_search_asks_no_more_of_the_database_than_the_page(
    pager: LittlePager, ada: Person, browse: Open, django_assert_max_num_queries: object
) -> None:
    PagerUser.objects.bulk_create(PagerUser(pager_id=f"P{n}", name=f"N{n}", email=f"{n}@x") for n in range(10, 150))
    client = browse(ada)
    for view in VIEWS:
        for q in ("checkout", "zzz"):
            with django_assert_max_num_queries(22):  # type: ignore[operator]  # pytest-django types it as a class
                client.get(view, {"q": q})


NAMES = st.lists(st.text(min_size=1, max_size=12).filter(lambda one: one.strip()), min_size=1, max_size=4)


@given(NAMES, st.data())
def test_any_piece_of_any_name_finds_it_in_any_case(names: list[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(names))
    start = data.draw(st.integers(0, len(name) - 1))
    piece = name[start : data.draw(st.integers(start + 1, len(name)))]
    for typed in (piece, piece.upper(), piece.lower(), f" {piece} ", f"{name} {piece}"):
        if rota_search.folded(typed) in rota_search.folded(f"{name} {piece}"):
            assert rota_search.says(typed, names)


@given(st.text(max_size=12), NAMES)
def test_what_is_found_says_every_word(q: str, names: list[str]) -> None:
    is_found = rota_search.says(q, names)
    words = rota_search.folded(q).split()
    assert is_found == all(any(word in rota_search.folded(name) for name in names) for word in words)
