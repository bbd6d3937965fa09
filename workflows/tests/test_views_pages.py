"""Who was paged and the status of that, and paging someone from the incident's page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from incidents import lifecycle
from incidents.models import Event, Incident, IncidentType, Person
from workflows import ports
from workflows.models import Effect, Page, PagerRead, PagerTarget, PagerUser, Resource, Shift
from workflows.status import page_status
from workflows.tests.oncall.pager import LittlePager
from workflows.tests.test_views_progress import _effect
from workflows.tests.test_views_retype import Open

HTMX = {"HX-Request": "true"}
DIALOG = HTMX | {"HX-Target": "dialog"}


@pytest.fixture(autouse=True)
def pager(ben: Person) -> Iterator[None]:
    """A pager that was read: Ben is on call for major incidents, no one for checkout."""
    now = timezone.now()
    PagerRead.objects.create(directory_at=now, shifts_at=now)
    PagerTarget.objects.create(pager_id="PPOL1", kind="policy", name="Major incidents", service_id="PSVC1", levels=2)
    PagerTarget.objects.create(pager_id="PPOL2", kind="policy", name="No one", service_id="PSVC1", levels=1)
    PagerTarget.objects.create(pager_id="PSVC1", kind="service", name="Checkout", policy_id="PPOL2", service_id="PSVC1")
    PagerUser.objects.create(pager_id="PBEN", name="Ben", person=ben, matched="email")
    Shift.objects.create(subject="PPOL1", level=1, user="PBEN", start_at=now - timedelta(hours=1))
    with ports.using(pager=LittlePager()):
        yield


def url(incident: Incident, more: str = "") -> str:
    return f"/incidents/{incident.codename}/pages{more}"


def paged(incident: Incident, **values: object) -> Page:
    """A page that was opened two minutes ago."""
    at = timezone.now() - timedelta(minutes=2, seconds=5)
    target = str(values.pop("target", "policy/PPOL1"))
    given = {"key": f"page/{target}", "name": "Major incidents", "status": "triggered", "dedup_key": target}
    return Page.objects.create(incident=incident, target=target, opened_at=at, status_at=at, **(given | values))


def asked(incident: Incident) -> list[tuple[str, str]]:
    """Who people asked to page, and why."""
    events = Event.objects.filter(incident=incident, kind="paged").order_by("n")
    return [(event.data["target"], event.text) for event in events]


def token(page: str) -> str:
    """The page's digest of who it showed."""
    return page.split('name="shown" value="', 1)[1].split('"', 1)[0]


def test_everybody_who_can_be_paged_is_offered_by_kind_with_who_that_is_now(
    incident: Incident, ada: Person, browse: Open
) -> None:
    page = browse(ada).get(url(incident)).content.decode()
    assert '<optgroup label="Escalation policies">' in page
    assert "Major incidents (pages Ben)" in page
    assert "Checkout (no one is on call)" in page
    assert '<optgroup label="People">' in page
    assert "No one has been paged for this incident yet." in page


def test_without_a_script_who_would_be_rung_is_a_step_of_its_own(incident: Incident, ada: Person, browse: Open) -> None:
    client, given = browse(ada), {"target": "policy/PPOL1", "because": "payments fail"}
    shown = client.post(url(incident), given | {"look": "1"})
    assert shown.status_code == 200
    page = shown.content.decode()
    assert "pages Ben now." in page
    assert "payments fail" in page, "what was written stays"
    assert asked(incident) == []
    done = client.post(url(incident), given | {"shown": token(page)}, follow=True).content.decode()
    assert "Requested: page Major incidents (pages Ben)." in done
    assert asked(incident) == [("policy/PPOL1", "payments fail")]


def test_nobody_is_paged_before_it_was_shown_who_that_is(incident: Incident, ada: Person, browse: Open) -> None:
    client, given = browse(ada), {"target": "policy/PPOL1"}
    page = client.post(url(incident), given).content.decode()
    assert "pages Ben now." in page
    other = client.post(url(incident), {"target": "service/PSVC1", "shown": token(page)}).content.decode()
    assert "no one is on call now." in other
    assert "Who would be paged has changed" not in other
    assert asked(incident) == []


def test_a_hand_over_while_it_is_read_is_shown_first(
    incident: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    client, given = browse(ada), {"target": "policy/PPOL1"}
    page = client.post(url(incident), given | {"look": "1"}).content.decode()
    PagerUser.objects.create(pager_id="PEVE", name="Eve", person=eve, matched="email")
    Shift.objects.update(user="PEVE")
    again = client.post(url(incident), given | {"shown": token(page)}).content.decode()
    assert "Who would be paged has changed" in again
    assert "pages Eve now." in again
    assert asked(incident) == []
    client.post(url(incident), given | {"shown": token(again)})
    assert asked(incident) == [("policy/PPOL1", "")]


def test_in_a_dialog_choosing_shows_and_confirming_closes(incident: Incident, ada: Person, browse: Open) -> None:
    client, given = browse(ada), {"target": "user/PBEN", "because": ""}
    dialog = client.get(url(incident), headers=DIALOG).content.decode()
    assert "Page someone</h2>" in dialog
    assert "<html" not in dialog
    form = client.post(url(incident), given | {"look": "1"}, headers=HTMX).content.decode()
    assert form.startswith("<!--firekind-->")
    assert "<html" not in form
    assert "is paged, on call or not." in form
    done = client.post(url(incident), given | {"shown": token(form)}, headers=HTMX)
    assert done.status_code == 204
    assert "firekind:did" in done["HX-Trigger"]
    assert asked(incident) == [("user/PBEN", "")]


def test_a_form_that_is_sent_twice_pages_once_though_the_page_has_ended_meanwhile(
    incident: Incident, ada: Person, browse: Open
) -> None:
    client, given = browse(ada), {"target": "user/PBEN", "because": "payments fail"}
    form = client.post(url(incident), given | {"look": "1"}, headers=HTMX).content.decode()
    confirmed = given | {"shown": token(form), "since": form.split('name="since" value="', 1)[1].split('"', 1)[0]}
    assert client.post(url(incident), confirmed, headers=HTMX).status_code == 204
    paged(incident, target="user/PBEN", status="resolved")
    again = client.post(url(incident), confirmed, headers=HTMX)
    assert again.status_code == 422
    assert "This changed while you were writing: Ada" in again.content.decode()
    assert asked(incident) == [("user/PBEN", "payments fail")]
    since = again.content.decode().split('name="since" value="', 1)[1].split('"', 1)[0]
    assert client.post(url(incident), confirmed | {"since": since}, headers=HTMX).status_code == 204
    assert len(asked(incident)) == 2, "having read it, they may"


def test_standing_alone_it_begins_anew(incident: Incident, ada: Person, browse: Open) -> None:
    client, given = browse(ada), {"target": "user/PBEN", "because": ""}
    here = HTMX | {"HX-Current-URL": f"http://testserver{url(incident)}"}
    form = client.post(url(incident), given | {"look": "1"}, headers=here).content.decode()
    assert client.post(url(incident), given | {"shown": token(form)}, headers=here)["HX-Redirect"] == url(incident)
    assert "Requested: page Ben." in client.get(url(incident)).content.decode()


@pytest.mark.parametrize("status", Page.Status.values)
def test_a_page_pages_someone_only_until_it_is_answered(status: str, incident: Incident) -> None:
    paged(incident, status=status, pager_id="PI1", rings="pages Ben and Eve")
    (line,) = page_status.of(incident).lines
    unanswered = status in {Page.Status.OPENING, Page.Status.TRIGGERED}
    assert line.rings == ("pages Ben and Eve" if unanswered else "paged Ben and Eve")


CALLED_OFF = {"status": "resolved", "withdrawn_at": timezone.now(), "target": "policy/PPOL2"}
RESOLVED = {"status": "resolved", "pager_id": "PI1"}
FAILED = {"thing": "page/policy/PPOL3", "key": "page/policy/PPOL3#1", "kind": "page", "state": "failed"}
WAITING = {"thing": "page/policy/PPOL4", "key": "page/policy/PPOL4#1", "kind": "page"}


@pytest.mark.parametrize(
    ("pages", "effects", "says"),
    [
        ([], [], ""),
        ([RESOLVED], [], "all resolved"),
        ([CALLED_OFF], [], "none open"),
        ([RESOLVED, CALLED_OFF], [], "none open"),
        ([RESOLVED], [WAITING], "1 pending"),
        ([], [WAITING, FAILED], "1 pending · 1 failed"),
        ([{}, CALLED_OFF], [FAILED], "1 open · 1 failed"),
    ],
)
def test_pages_are_all_resolved_only_when_each_of_them_is(
    pages: list[dict[str, object]], effects: list[dict[str, object]], says: str, incident: Incident
) -> None:
    for page in pages:
        paged(incident, **page)
    for effect in effects:
        _effect(incident, **effect)
    assert page_status.of(incident).summary == says


def test_a_page_that_is_open_is_said_and_not_asked_for_again(incident: Incident, ada: Person, browse: Open) -> None:
    client, given = browse(ada), {"target": "policy/PPOL1"}
    paged(incident, status="acknowledged", status_by="Ben")
    page = client.post(url(incident), given | {"look": "1"}).content.decode()
    assert "was already paged: acknowledged by Ben." in " ".join(page.split())
    wrong = client.post(url(incident), given | {"shown": token(page)})
    assert (wrong.status_code, asked(incident)) == (422, [])
    assert "acknowledged by Ben." in wrong.content.decode()


@pytest.mark.parametrize("target", ["", "policy/NONE", "user/PX"])
def test_nobody_else_can_be_paged(target: str, incident: Incident, ada: Person, browse: Open) -> None:
    wrong = browse(ada).post(url(incident), {"target": target, "shown": f"{target} 0"})
    assert (wrong.status_code, asked(incident)) == (422, [])


def test_each_page_says_whom_how_it_stands_and_who_was_rung(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    seen = {"url": "https://pager.example/incidents/1", "number": 7, "rings": "pages Ben and Night desk"}
    paged(incident, because="payments fail", asked_by=ada, **seen)
    paged(incident, target="service/PSVC1", name="Checkout", status="acknowledged", status_by="Eve", via="events")
    paged(incident, target="user/PBEN", name="Ben", status="resolved", status_by="Firekind")
    panel = browse(ada).get(url(incident), headers=HTMX).content.decode()
    text = " ".join(panel.split())
    assert "paging for <span data-since=" in text
    assert ">2 min</span>" in text
    assert "Pages Ben and Night desk" in text
    assert "Requested by Ada: <q>payments fail</q>" in text
    assert 'href="https://pager.example/incidents/1"' in text
    assert "acknowledged by Eve" in text
    assert "through the fallback" in text
    assert "resolved by Firekind" in text
    assert "2 open" in text


def test_what_keeps_a_page_from_being_opened_stands_beside_it(incident: Incident, ada: Person, browse: Open) -> None:
    paged(incident, status="opening")
    values = {"thing": "page/policy/PPOL1", "key": "page/policy/PPOL1#1", "kind": "page", "method": "pager.ring"}
    failed = Effect.State.FAILED
    effect = _effect(incident, **values, sentence="page Major incidents", state=failed, error="The key was refused.")
    other = {"thing": "page/service/PSVC1", "key": "page/service/PSVC1#1", "kind": "page", "method": "pager.ring"}
    _effect(incident, **other, sentence="page Checkout", needs=[])
    page = browse(ada).get(url(incident)).content.decode()
    assert "being opened" in page
    assert "The key was refused." in page
    assert f"/retry/{effect.pk}" in page
    assert "Page Checkout" in page


def test_while_nothing_moves_nothing_is_sent_again(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    page = paged(incident)
    seen = client.get(url(incident)).content.decode().split("?seen=")[1][:16]
    assert client.get(url(incident, f"?seen={seen}"), headers=HTMX).status_code == 204
    Page.objects.filter(pk=page.pk).update(status="acknowledged", status_by="Ben")
    assert client.get(url(incident, f"?seen={seen}"), headers=HTMX).status_code == 200


def test_without_a_pager_the_panel_is_away_and_the_page_says_how_one_is_connected(
    incident: Incident, ada: Person, browse: Open
) -> None:
    client = browse(ada)
    with ports.using():
        assert "PAGERDUTY_API_KEY" in client.get(url(incident)).content.decode()
        panel = client.get(url(incident), headers=HTMX).content.decode()
        assert '<section id="pages" class="panel"></section>' in "".join(panel.splitlines()).replace("  ", "")
        client.post(url(incident), {"target": "policy/PPOL1"})
    assert asked(incident) == []


def test_after_the_end_nobody_is_paged(incident: Incident, ada: Person, browse: Open) -> None:
    lifecycle.resolve(incident, text="", by=ada, at=timezone.now())
    client = browse(ada)
    assert "Reopen it to page someone" in client.get(url(incident)).content.decode()
    client.post(url(incident), {"target": "policy/PPOL1"})
    assert asked(incident) == []


def test_a_guest_sees_how_it_stands_and_pages_nobody(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    paged(incident)
    lifecycle.joined(incident, person=ben, room=1, inviter=None, at=timezone.now())
    Person.objects.filter(pk=ben.pk).update(is_guest=True)
    client = browse(ben)
    page = client.get(url(incident)).content.decode()
    assert "Major incidents" in page
    assert "<select" not in page
    client.post(url(incident), {"target": "policy/PPOL1"})
    assert asked(incident) == []


def test_an_outsider_finds_nothing(secret: Incident, eve: Person, browse: Open) -> None:
    client = browse(eve)
    assert client.get(url(secret)).status_code == 404
    assert client.post(url(secret), {"target": "policy/PPOL1"}).status_code == 404


def test_a_pager_that_was_never_read_says_so(incident: Incident, ada: Person, browse: Open) -> None:
    PagerTarget.objects.all().delete()
    PagerUser.objects.all().delete()
    assert "nothing has loaded from PagerDuty" in browse(ada).get(url(incident)).content.decode()


def test_the_timeline_asks_for_the_end_until_it_came(incident: Incident, ada: Person, browse: Open) -> None:
    at, data = timezone.now(), {"ask": "resolve", "url": "https://pager.example/1"}
    lifecycle.remark(incident, "page", by=ada, at=at, text="resolved the page to Major incidents", data=data)
    page = browse(ada).get(f"/incidents/{incident.codename}/").content.decode()
    assert "<strong>Ada</strong> resolved the page to Major incidents" in " ".join(page.split())
    assert "Resolve the incident" in page
    assert 'href="https://pager.example/1"' in page
    lifecycle.remark(incident, "page", by=ada, at=at, text="acknowledged the page to Checkout")
    lifecycle.remark(incident, "alert", by=None, at=at, text="12 alerts so far")
    lifecycle.resolve(incident, text="", by=ada, at=at)
    assert "Resolve the incident" not in browse(ada).get(f"/incidents/{incident.codename}/").content.decode()


def test_whoever_is_missing_is_chosen_where_it_is_said(
    shipped: dict[str, IncidentType], secret: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    client, role = browse(ada), "Platform leadership"
    says = f"No one is {role}: @platform-leadership has no one who can be invited. Choose someone."
    Resource.objects.create(incident=secret, key=f"gap/one-of/{role}", kind="gap", label=says, since_at=timezone.now())
    plan = client.get(f"/incidents/{secret.codename}/progress").content.decode()
    address = f"/incidents/{secret.codename}/fill?role=Platform%20leadership"
    assert "Choose who" in plan
    assert address in plan
    form = client.get(address).content.decode()
    assert f'value="{role}"' in form
    assert "Nobody" not in form, "somebody must be"
    assert "Nobody" not in client.get("/people?must=1&q=e").content.decode()
    act = address.partition("?")[0]
    assert client.post(act, {"role": role, "people": ""}).status_code == 422
    assert client.post(act, {"role": role, "people": str(eve.pk)}).status_code == 302
    secret.refresh_from_db()
    assert secret.role_holder_id(role) == eve.pk


@pytest.mark.parametrize(
    ("values", "waits"),
    [
        ([{"status": "opening"}], True),
        ([{"status": "triggered"}], True),
        ([{"status": "triggered", "withdrawn_at": timezone.now()}], False),
        ([{"status": "acknowledged"}], False),
        ([{"status": "resolved"}], False),
        ([{"status": "acknowledged"}, {"status": "triggered", "target": "service/PSVC1"}], True),
        ([], False),
    ],
)
def test_the_list_puts_a_page_that_nobody_acknowledged_before_what_is_newer(
    incident: Incident, ada: Person, browse: Open, values: list[dict[str, object]], waits: bool
) -> None:
    newer = lifecycle.declare("Search is slow", by=ada, at=timezone.now())
    for one in values:
        paged(incident, **one)
    page = browse(ada).get("/").content.decode()
    rows = [row.split('"', 1)[0] for row in page.split('id="i-')[1:]]
    first = incident if waits else newer
    assert rows[0] == first.codename
    assert page.count("page not acknowledged") == waits


def test_the_list_reads_which_pages_wait_in_one_query(
    incident: Incident, ada: Person, browse: Open, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    others = [lifecycle.declare(f"Search is slow {n}", by=ada, at=timezone.now()) for n in range(3)]
    for one in (incident, *others):
        paged(one, dedup_key=one.codename)
    with django_assert_num_queries(1):
        assert page_status.unanswered([incident.pk, others[0].pk]) == {incident.pk, others[0].pk}
