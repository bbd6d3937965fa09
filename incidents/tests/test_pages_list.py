"""The list: its order, its filters, its pages, its cost."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings as project
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django.fixtures import DjangoAssertNumQueries, Settings

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Participant, Person, SavedView, Source
from incidents.reading import last_said
from incidents.search import PAGE, IncidentFilters
from incidents.tests.conftest import Open

MOST_QUERIES = 10


def names(client: Client, path: str = "/") -> list[str]:
    return re.findall(r'id="i-([a-z-]+)"', client.get(path).content.decode())


def test_open_ones_come_first_then_the_newest(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    now = timezone.now()
    made = [lifecycle.declare(f"Number {n}", by=ada, at=now - timedelta(hours=9 - n)) for n in range(4)]
    lifecycle.resolve(made[3], by=ada, at=now)
    assert names(browse(ada)) == [made[n].codename for n in (2, 1, 0, 3)]


def test_an_address_cut_after_incidents_leads_to_the_list(ada: Person, browse: Open) -> None:
    answer = browse(ada).get("/incidents/?status=active")
    assert (answer.status_code, answer["Location"]) == (302, "/?status=active")


def test_the_most_urgent_come_first(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    now = timezone.now()
    made = {
        title: lifecycle.declare(title, by=ada, at=began, type=shipped[kind], lead=lead)
        for title, kind, lead, began in (
            ("led", "internal", ada, now),
            ("customers", "isolated", ada, now),
            ("nobody leads", "internal", None, now),
            ("overdue", "major", ada, now - timedelta(hours=3)),
        )
    }
    urgent = [made[title].codename for title in ("overdue", "customers", "nobody leads", "led")]
    assert names(browse(ada)) == urgent
    assert "update overdue" in browse(ada).get("/").content.decode()
    lifecycle.update(made["overdue"], text="Rolling back", by=ada, at=now)
    page = browse(ada).get("/").content.decode()
    assert "Rolling back" in page
    assert "update overdue" not in page


@given(st.lists(st.tuples(st.sampled_from(["update", "edit", "retract", "note"]), st.integers(0, 3)), max_size=9))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_newest_update_is_the_last_one_that_still_stands(
    shipped: dict[str, IncidentType], ada: Person, history: list[tuple[str, int]]
) -> None:
    now = timezone.now()
    one, other = (lifecycle.declare(title, by=ada, at=now) for title in ("One", "Another"))
    lifecycle.update(other, text="Of the other", by=ada, at=now)
    stand: dict[int, str] = {}  # what each update says, by number
    for step, (kind, which) in enumerate(history):
        n = list(stand)[which] if which < len(stand) else None
        words = f"Step {step}"
        if kind == "update":
            stand[lifecycle.update(one, text=words, by=ada, at=now).last_n] = words
        elif kind == "note":
            lifecycle.note(one, text=words, by=ada, at=now)
        elif n is not None and kind == "edit":
            stand[lifecycle.edit(one, n=n, text=words, by=ada, at=now).about_n or 0] = words
        elif n is not None:
            lifecycle.retract(one, n=n, by=ada, at=now)
            del stand[n]
    shown = last_said.of([one, other])
    assert {pk: (said["updated"].event.n, said["updated"].text) for pk, said in shown.items()} == {
        other.pk: (2, "Of the other"),
        **({one.pk: max(stand.items())} if stand else {}),
    }
    assert {
        (pk, kind, said.text, said.at)
        for pk, some in last_said.words([one, other]).items()
        for kind, said in some.items()
    } == {(pk, kind, said.text, said.event.at) for pk, some in shown.items() for kind, said in some.items()}


def test_nothing_at_all_invites_to_declare(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    assert "All quiet." in browse(ada).get("/").content.decode()
    assert "No matches." in browse(ada).get("/?q=unheard").content.decode()


def test_filters_stand_in_the_address(
    incident: Incident, secret: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    lifecycle.set_lead(incident, lead=ben, by=ada, at=timezone.now())
    lifecycle.resolve(secret, by=ada, at=timezone.now())
    client = browse(ben)
    assert names(client, "/?status=active") == [incident.codename]
    assert names(client, "/?status=ended") == [secret.codename]
    assert names(client, "/?status=resolved") == [secret.codename]
    assert names(client, "/?type=security") == [secret.codename]
    assert names(client, "/?me=lead") == [incident.codename]
    assert set(names(client, "/?me=in")) == {incident.codename, secret.codename}
    assert names(client, "/?q=slow&status=active") == [incident.codename]
    assert names(client, "/?q=slow&status=ended") == []


@pytest.mark.parametrize("path", ["/?status=x&type=%27&me=y&after=%27", "/?after=1.2.3", "/?q=%22%27%28"])
def test_nonsense_in_the_address_is_no_error(path: str, incident: Incident, ada: Person, browse: Open) -> None:
    assert browse(ada).get(path).status_code == 200


def test_a_nul_in_the_address_is_refused(ada: Person, browse: Open) -> None:
    for path in ("/?q=a%00b", "/?type=%00", "/declare/plan?type=%00"):
        assert browse(ada).get(path).status_code == 400


def test_pages_follow_each_other_without_gaps_or_repeats(
    shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    at = timezone.now()
    made = [lifecycle.declare(f"Number {n}", by=ada, at=at) for n in range(2 * PAGE + 5)]
    for one in made[::3]:
        lifecycle.resolve(one, by=ada, at=at)
    client, path, seen = browse(ada), "/", []
    while path:
        page = client.get(path).content.decode()
        seen += re.findall(r'id="i-([a-z-]+)"', page)
        further = re.search(r'class="button" href="([^"]*after=[^"]+)"', page)
        path = further[1].replace("&amp;", "&") if further else ""
    assert len(seen) == len(set(seen)) == len(made)


def test_the_cost_does_not_grow_with_the_incidents(
    shipped: dict[str, IncidentType], ada: Person, browse: Open, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(PAGE + 3):
        lifecycle.declare(f"Number {n}", by=ada, lead=ada, at=timezone.now())
    client = browse(ada)
    for path in ("/", "/?q=number+3", "/?q=amber-otter", "/?me=in&type=ambiguous"):
        with django_assert_max_num_queries(MOST_QUERIES):
            client.get(path)


def test_a_fragment_is_the_list_alone(incident: Incident, ada: Person, browse: Open) -> None:
    fragment = browse(ada).get("/", headers={"HX-Request": "true"}).content.decode()
    assert incident.codename in fragment
    assert "<html" not in fragment
    restored = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in browse(ada).get("/", headers=restored).content.decode()


def test_an_address_keeps_what_was_not_changed() -> None:
    filters = IncidentFilters(status="active", q="slow page", after="1.2.3")
    assert filters.to(type="major") == "?status=active&type=major&q=slow+page"
    assert IncidentFilters().to() == ""


def test_the_sandbox_says_where_to_start_and_what_is_sample_data(
    settings: Settings, shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    now = timezone.now()
    sample = lifecycle.declare("Sampled", by=ada, at=now, source=Source.SAMPLE)
    lifecycle.declare("Real", by=ada, at=now)
    pages = ["/", sample.get_absolute_url()]
    assert not any("Sample data" in browse(ada).get(one).content.decode() for one in pages)
    settings.FIREKIND = replace(project.FIREKIND, sandbox_url="http://127.0.0.1:1")
    assert all("Sample data</span>" in browse(ada).get(one).content.decode() for one in pages)
    rows = browse(ada).get("/").content.decode().partition('class="rows"')[2]
    assert rows.count("Sample data") == 1
    session = browse(ada)
    assert "/incident declare" in session.get("/").content.decode()
    assert session.post("/start/hide").headers["Location"] == "/"
    assert "/incident declare" not in session.get("/").content.decode()
    assert "/incident declare" in browse(ada).get("/").content.decode(), "others are still told"


def test_filters_narrow_by_lead_person_service_group_and_day(
    incident: Incident, secret: Incident, ada: Person, ben: Person, eve: Person, browse: Open
) -> None:
    now = timezone.now()
    lifecycle.set_lead(incident, lead=ben, by=ada, at=now)
    lifecycle.serve(incident, services=["Checkout API"], by=ada, at=now)
    old = lifecycle.declare("Long ago", by=eve, at=now - timedelta(days=30))
    in_group = {"person": ada, "reason": "group", "detail": "Security", "since_at": now}
    Participant.objects.update_or_create(incident=secret, person=ada, defaults=in_group)
    day = timezone.localtime(now - timedelta(days=2)).date().isoformat()
    for asked, expected in (
        ("?lead=be", [incident]),
        ("?person=ben", [secret, incident]),
        ("?service=checkout+a", [incident]),
        ("?group=@security", [secret]),
        ("?group=secur", []),
        (f"?since={day}", [secret, incident]),
        (f"?until={day}", [old]),
        (f"?since={day}&until={day}", []),
        ("?since=nonsense&until=9999-12-31", [secret, incident, old]),
    ):
        assert set(names(browse(ben), f"/{asked}")) == {one.codename for one in expected}, asked
        assert browse(ben).get(f"/incidents.csv{asked}").content.decode().count("\n") == len(expected) + 1
    assert names(browse(eve), "/?person=ben&lead=") == [incident.codename]
    assert names(browse(eve), "/?group=security") == []


def test_a_form_that_was_sent_leaves_an_address_without_what_was_not_asked(
    incident: Incident, ada: Person, browse: Open
) -> None:
    sent = {"HX-Request": "true", "HX-Trigger": "filters"}
    answer = browse(ada).get("/?q=slow&lead=&since=&until=", headers=sent)
    assert answer["HX-Push-Url"] == "/?q=slow"
    assert "HX-Push-Url" not in browse(ada).get("/?q=slow", headers={"HX-Request": "true"})


def test_a_hit_is_shown_where_it_was_said(incident: Incident, ada: Person, browse: Open) -> None:
    now = timezone.now()
    lifecycle.note(incident, text="The planner picks a scan & more", by=ada, at=now)
    gone = lifecycle.note(incident, text="A scan of something else", by=ada, at=now)
    lifecycle.retract(incident, n=gone.n, by=ada, at=now)
    page = browse(ada).get("/?q=planners+checkout").content.decode()
    assert f"{incident.get_absolute_url()}#e2" in page
    assert "<mark>planner</mark> picks a scan &amp; more" in page
    assert "<mark>Checkout</mark> is slow" in page
    assert "something else" not in browse(ada).get("/?q=scan").content.decode()
    for odd in ("-scan", '"sequential scan"', "the", "scan -planner", "!!", "a or b"):
        assert browse(ada).get("/", {"q": odd}).status_code == 200, odd


def test_a_list_is_kept_by_whoever_named_it(incident: Incident, ada: Person, eve: Person, browse: Open) -> None:
    client = browse(ada)
    said = client.post("/views/keep", {"name": "Slow ones", "list": "?q=slow&status=active&after=1"}, follow=True)
    assert "Saved as Slow ones." in said.content.decode()
    assert 'href="/?status=active&amp;q=slow"' in client.get("/").content.decode()
    client.post("/views/keep", {"name": "Slow ones", "list": "?q=slow"})
    saved = SavedView.objects.get()
    assert (saved.person, saved.query) == (ada, "?q=slow")
    assert "Filter the list first" in client.post("/views/keep", {"name": "All"}, follow=True).content.decode()
    assert "Slow ones" not in browse(eve).get("/").content.decode()
    for person, name, becomes in (
        (eve, "Mine", "Slow ones"),
        (ada, "", "Slow ones"),
        (ada, " Quick \n ones", "Quick ones"),
    ):
        browse(person).post(f"/views/{saved.pk}/rename", {"name": name, "list": "?q=slow"})
        saved.refresh_from_db()
        assert saved.name == becomes
    client.post("/views/keep", {"name": "Other", "list": "?q=other"})
    page = client.post(f"/views/{saved.pk}/rename", {"name": "Other", "list": "?q=slow"}, follow=True)
    assert "a view named Other already" in page.content.decode()
    assert set(SavedView.objects.values_list("name", "query")) == {("Quick ones", "?q=slow"), ("Other", "?q=other")}
    SavedView.objects.get(name="Other").delete()
    browse(eve).post(f"/views/{saved.pk}/drop")
    assert SavedView.objects.exists()
    client.post(f"/views/{saved.pk}/drop")
    assert not SavedView.objects.exists()


def test_the_strip_counts_what_one_may_see(
    incident: Incident, secret: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    def strip(person: Person) -> str:
        found = re.search(r'class="open-now".*?</p>', browse(person).get("/?status=ended").content.decode(), re.DOTALL)
        return " ".join(re.sub(r"<[^>]*>", " ", found[0]).split()) if found else ""

    assert "2 open" in strip(ada)
    assert "1 Security" in strip(ada)
    assert "1 open" in strip(eve)
    assert "Security" not in strip(eve)
    assert "without a lead" in strip(eve)


def test_no_cell_of_the_export_is_run_by_a_spreadsheet(
    shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    lifecycle.declare("=HYPERLINK(1)", by=ada, at=timezone.now())
    assert ",'=HYPERLINK(1)," in browse(ada).get("/incidents.csv").content.decode()


def test_a_jump_leads_to_what_one_may_see(
    incident: Incident, secret: Incident, ben: Person, eve: Person, browse: Open
) -> None:
    def found(person: Person, q: str) -> list[str]:
        return [one["codename"] for one in browse(person).get("/jump", {"q": q}).json()["incidents"]]

    assert found(ben, "") == [secret.codename, incident.codename]
    assert found(ben, "oken lea") == [secret.codename]
    assert found(eve, "oken lea") == []
    assert found(eve, secret.codename) == []
    assert found(eve, "") == found(eve, "heckout") == [incident.codename]
