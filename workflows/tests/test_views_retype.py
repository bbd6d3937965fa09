"""Retype in the browser: the plan first, then the change; without any script."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from incidents.policies import types
from workflows.models import Group
from workflows.planning.wording import privacy_notes
from workflows.reconcile import retyping

Open = Callable[[Person], Client]


def hidden(page: str) -> dict[str, list[str]]:
    """Return the fields of the confirmation form, as a browser would send it."""
    form = re.search(r'<form id="confirm".*?</form>', page, re.DOTALL)
    assert form is not None
    found: dict[str, list[str]] = {}
    picked = re.findall(r'<input [^>]*form="confirm" name="(\w+)"\s+value="([^"]*)" checked>', page)
    for name, value in [*re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form[0]), *picked]:
        found.setdefault(name, []).append(value)
    return found


def retype_page(incident: Incident, asked: str = "") -> str:
    return f"/incidents/{incident.codename}/retype{asked}"


def test_a_type_is_picked_the_plan_is_read_and_confirmed(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    picking = client.get(retype_page(incident)).content.decode()
    assert "Nothing happens until you confirm" in picking
    assert 'value="major"' in picking
    page = client.get(retype_page(incident, "?to=major")).content.decode()
    assert "Retype to Major" in page
    given = hidden(page) | {"because": ["customers write"]}
    assert client.post(retype_page(incident), given)["Location"] == incident.get_absolute_url()
    incident.refresh_from_db()
    assert incident.type.slug == "major"
    assert incident.events.get(kind="retyped").text == "customers write"


def test_a_plan_that_changed_meanwhile_is_shown_instead(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    given = hidden(client.get(retype_page(incident, "?to=major")).content.decode())
    given["digest"] = ["0123456789abcdef"]
    response = client.post(retype_page(incident), given | {"because": ["as I said"]})
    said = response.content.decode()
    assert response.status_code == 422
    assert "The plan changed after you opened this page. Nothing was done." in said
    assert "as I said" in said
    incident.refresh_from_db()
    assert incident.type.slug == "ambiguous"
    assert client.post(retype_page(incident), hidden(said)).status_code == 302


# What may happen while someone reads a plan towards Major, with the exact words that report it.
MEANWHILE = {
    "retype": "<p>Ben retyped it from Ambiguous to Isolated after you opened this page.",
    "lead": "<strong>Ben</strong> took the lead",
    "entry": "<strong>Ben</strong> carts fail",
    "person": "<strong>Ben</strong> brought in Eve",
    "group": "The group @support changed.",
    "type": "The type you chose was edited.",
}
ALSO = {"lead": "The people in this incident changed.", "person": "The people in this incident changed."}


def happen(what: str, incident: Incident, *, ben: Person, eve: Person) -> None:
    now = timezone.now()
    types_now = {one.slug: one for one in IncidentType.objects.select_related("current")}
    match what:
        case "retype":
            lifecycle.retype(incident, to=types_now["isolated"], by=ben, at=now)
        case "lead":
            lifecycle.set_lead(incident, lead=ben, by=ben, at=now)
        case "entry":
            lifecycle.note(incident, text="carts fail", by=ben, at=now)
        case "person":
            lifecycle.bring_in(incident, people=[eve], by=ben, at=now)
        case "group":
            Group.objects.filter(handle="support").update(members=[eve.chat_id])
        case "type":
            major = types_now["major"]
            types.edit(major, policy=replace(major.policy, update_every_min=7), by=None, at=now)


@pytest.mark.usefixtures("workspace")
@pytest.mark.parametrize("several", [few for n in range(3) for few in combinations(MEANWHILE, n)] + [tuple(MEANWHILE)])
def test_a_refused_retype_names_what_changed_and_nothing_that_did_not(
    several: tuple[str, ...],
    incident: Incident,
    ada: Person,
    ben: Person,
    eve: Person,
    browse: Open,
) -> None:
    client = browse(ada)
    given = hidden(client.get(retype_page(incident, "?to=major")).content.decode())
    for what in several:
        happen(what, incident, ben=ben, eve=eve)
    response = client.post(retype_page(incident), given | {"digest": ["0123456789abcdef"]})
    said = response.content.decode()
    alert = said[said.index('role="alert"') : said.index('<header class="summed">')]
    named = {what for what, words in MEANWHILE.items() if words in html.unescape(alert)}
    assert (response.status_code, named) == (422, set(several))
    assert "after you opened this page. Nothing was done. This is what your retype would do now:" in alert
    assert alert.count("<li>") == len(set(several) - {"retype"}) + bool(set(several) & ALSO.keys())
    assert "Nobody wrote" not in said


def test_somebody_else_gave_it_the_same_type_first(
    incident: Incident, shipped: dict[str, IncidentType], ada: Person, ben: Person, browse: Open
) -> None:
    client = browse(ada)
    given = hidden(client.get(retype_page(incident, "?to=major")).content.decode())
    lifecycle.retype(incident, to=shipped["major"], by=ben, at=timezone.now())
    response = client.post(retype_page(incident), given)
    assert response.status_code == 422
    says = "Ben retyped it from Ambiguous to Major after you opened this page. Nothing was done. It is Major now."
    assert says in html.unescape(response.content.decode()).replace("\u2068", "").replace("\u2069", "")


def test_a_form_that_is_sent_twice_leads_to_what_it_did(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    """Clicked twice, or resent by the browser: saying that nothing was done would be untrue."""
    client = browse(ada)
    given = hidden(client.get(retype_page(incident, "?to=major")).content.decode())
    for _ in range(3):
        assert client.post(retype_page(incident), given)["Location"] == incident.get_absolute_url()
    assert incident.events.filter(kind="retyped").count() == 1
    theirs = client.post(retype_page(incident), given | {"to": ["isolated"]})
    assert theirs.status_code == 422
    assert browse(ben).post(retype_page(incident), given).status_code == 422


def test_a_refusal_for_another_reason_says_nothing_of_what_happened_meanwhile(
    incident: Incident, ada: Person, browse: Open
) -> None:
    client = browse(ada)
    given = hidden(client.get(retype_page(incident, "?to=major")).content.decode())
    response = client.post(retype_page(incident), given | {"because": ["x" * 20_000]})
    assert response.status_code == 422
    assert "after you opened" not in response.content.decode()


def test_the_steps_come_before_what_turning_private_means(incident: Incident, ada: Person, browse: Open) -> None:
    page = browse(ada).get(retype_page(incident, "?to=security")).content.decode()
    order = (
        "It turns private, for good",
        "<h3>What cannot be undone",
        "Who is coming along?",
        "move the convers",
        'id="means"',
    )
    places = [page.index(one) for one in order]
    assert places == sorted(places)
    assert page.count("It stays private from then on") == 1


@pytest.mark.parametrize("to", ["internal", "major", "security"])
def test_the_sum_of_the_plan_comes_before_everything_else_of_it(
    to: str, incident: Incident, ada: Person, browse: Open
) -> None:
    page = browse(ada).get(retype_page(incident, f"?to={to}")).content.decode()
    asked = page[page.index('id="asked"') :]
    plan = retyping.preview(incident, to=IncidentType.objects.select_related("current").get(slug=to), by=ada)
    at = asked.index(plan.in_short)
    assert not [tag for tag in ("<form", "<li", "<button") if tag in asked[:at]]
    assert asked.count(plan.in_short) == 1, "and is not repeated at their end"


def test_an_answer_without_the_plan_is_not_taken(incident: Incident, ada: Person, browse: Open) -> None:
    response = browse(ada).post(retype_page(incident), {"to": "major"})
    assert response.status_code == 422
    incident.refresh_from_db()
    assert incident.type.slug == "ambiguous"


def test_a_retype_offers_the_plan_back_where_that_loses_nothing(
    incident: Incident, shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    client = browse(ada)

    def retyped(to: str) -> str:
        given = hidden(client.get(retype_page(incident, f"?to={to}")).content.decode())
        return client.post(retype_page(incident), given, follow=True).content.decode()

    said = retyped("major")
    assert "<strong>Retyped from Ambiguous to Major</strong>" in said
    assert f'<a href="{retype_page(incident, "?to=ambiguous")}">Undo</a>' in said
    assert "under way" not in said
    assert "Retype to Ambiguous" in client.get(retype_page(incident, "?to=ambiguous")).content.decode()
    ambiguous = IncidentType.objects.get(slug="ambiguous")
    types.edit(ambiguous, policy=replace(ambiguous.policy, private=True), by=None, at=timezone.now())
    now = client.get(incident.get_absolute_url()).content.decode()
    assert "<strong>Retyped from Ambiguous to Major</strong>" in now
    assert ">Undo</a>" not in now, "people would be shut out, for good"
    IncidentType.objects.filter(slug="major").update(archived_at=timezone.now())
    assert ">Undo</a>" not in retyped("internal"), "the type it had is not to be chosen any more"
    assert ">Undo</a>" not in retyped("security"), "people were shut out"


def test_somebody_else_retyped_it_first(incident: Incident, ada: Person, ben: Person, browse: Open) -> None:
    client = browse(ada)
    given = hidden(client.get(retype_page(incident, "?to=major")).content.decode())
    to = IncidentType.objects.select_related("current").get(slug="isolated")
    lifecycle.retype(incident, to=to, by=ben, at=timezone.now())
    response = client.post(retype_page(incident), given)
    assert response.status_code == 422
    incident.refresh_from_db()
    assert incident.type.slug == "isolated"


def test_towards_a_private_type_those_who_come_along_are_picked(
    incident: Incident, ada: Person, ben: Person, eve: Person, browse: Open
) -> None:
    lifecycle.bring_in(incident, people=[ben, eve], by=ada, at=timezone.now())
    client = browse(ada)
    page = client.get(retype_page(incident, f"?to=security&bring={ben.pk}")).content.decode()
    assert "Who is coming along?" in page
    assert "Only the people named here can see" in page
    assert "What closes immediately" in page
    assert privacy_notes.GLASS in page
    assert "What cannot be undone" in page
    assert hidden(page)["bring"] == [str(ben.pk)]
    assert client.post(retype_page(incident), hidden(page)).status_code == 302
    assert browse(ben).get(incident.get_absolute_url()).status_code == 200
    assert browse(eve).get(incident.get_absolute_url()).status_code == 404


@pytest.mark.parametrize("button", ["refresh", "count"])
def test_without_scripts_looking_again_keeps_all_that_was_chosen(
    button: str, incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    lifecycle.bring_in(incident, people=[ben], by=ada, at=timezone.now())
    client = browse(ada)
    given = hidden(client.get(retype_page(incident, "?to=security")).content.decode())
    chosen = {"bring": [str(ben.pk)], "stay_out": ["1"], "because": ["as I said"]}
    response = client.post(retype_page(incident), given | chosen | {button: ["1"]})
    page = response.content.decode()
    assert response.status_code == 200
    assert "as I said" in page
    assert ("count messages" in page) == (button == "count")
    assert "The plan changed" not in page
    found = hidden(page)
    assert {name: found[name] for name in ("to", "bring", "stay_out")} == {"to": ["security"]} | {
        name: chosen[name] for name in ("bring", "stay_out")
    }
    incident.refresh_from_db()
    assert incident.type.slug == "ambiguous"
    assert client.post(retype_page(incident), found).status_code == 302


def test_whoever_is_picked_and_not_in_the_plan_yet_is_not_left_behind(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    lifecycle.bring_in(incident, people=[ben], by=ada, at=timezone.now())
    client = browse(ada)
    given = hidden(client.get(retype_page(incident, "?to=security")).content.decode())
    response = client.post(retype_page(incident), given | {"bring": [str(ben.pk)]})
    assert response.status_code == 422
    assert "The plan changed" in response.content.decode()
    assert hidden(response.content.decode())["bring"] == [str(ben.pk)]


def test_those_who_stay_in_are_named_and_the_one_who_asks_is_asked(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    lifecycle.bring_in(incident, people=[ben], by=ada, at=timezone.now())
    lifecycle.set_lead(incident, lead=ben, by=ben, at=timezone.now())
    page = browse(ada).get(retype_page(incident, "?to=security")).content.decode()
    assert "Ben (leads)" in page
    assert "you (" not in page
    assert "And you?" in page


def test_nobody_is_brought_along_who_does_not_respond(
    incident: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    page = browse(ada).get(retype_page(incident, f"?to=security&bring={eve.pk}")).content.decode()
    assert "bring" not in hidden(page)


@pytest.mark.parametrize("to", ["ambiguous", "no-such", "archived"])
def test_types_that_cannot_be_taken_show_no_plan(to: str, incident: Incident, ada: Person, browse: Open) -> None:
    IncidentType.objects.filter(slug="internal").update(slug="archived", archived_at=timezone.now())
    page = browse(ada).get(retype_page(incident, f"?to={to}")).content.decode()
    assert 'id="confirm"' not in page


def test_what_is_over_is_not_retyped(incident: Incident, ada: Person, browse: Open) -> None:
    lifecycle.resolve(incident, by=ada, at=timezone.now())
    response = browse(ada).get(retype_page(incident, "?to=major"), follow=True)
    assert "reopen it before you retype it" in response.content.decode()


def test_a_fragment_is_the_plan_alone(incident: Incident, ada: Person, browse: Open) -> None:
    fragment = browse(ada).get(retype_page(incident, "?to=major"), headers={"HX-Request": "true"}).content.decode()
    assert "Retype to Major" in fragment
    assert "<html" not in fragment


def test_the_declare_page_can_ask_for_a_plan(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    client = browse(ada)
    assert "Security" in client.get("/declare/plan?type=security").content.decode()
    assert client.get("/declare/plan?type=no-such").status_code == 404


def test_no_choice_of_a_private_incident_looks_public(secret: Incident, ada: Person, browse: Open) -> None:
    page = browse(ada).get(retype_page(secret)).content.decode()
    cards = re.findall(r'<label class="kind .*?</label>', page, re.DOTALL)
    assert len(cards) == IncidentType.objects.usable().count()
    assert all("Private" in card for card in cards)


def test_choices_of_a_public_incident_say_which_is_private(incident: Incident, ada: Person, browse: Open) -> None:
    page = browse(ada).get(retype_page(incident)).content.decode()
    cards = re.findall(r'<label class="kind .*?</label>', page, re.DOTALL)
    assert ['value="security"' in card for card in cards] == ["Private" in card for card in cards]


def test_a_plan_towards_a_public_type_says_at_its_head_that_it_stays_private(
    secret: Incident, incident: Incident, ada: Person, browse: Open
) -> None:
    heads = [browse(ada).get(f"{retype_page(one)}?to=major").content.decode() for one in (secret, incident)]
    assert ["It stays private." in head for head in heads] == [True, False]


@pytest.mark.parametrize("slug", ["ambiguous", "internal", "time-bomb", "isolated", "major"])
def test_a_private_incidents_plan_opens_and_announces_nothing(
    slug: str, secret: Incident, shipped: dict[str, IncidentType], ada: Person
) -> None:
    plan = retyping.preview(secret, to=shipped[slug], by=ada)
    assert [note for note in plan.notes if "stay private" in note.text]
    assert not [line for line in plan.lines if "announce" in line.text]


def test_of_all_that_happened_meanwhile_the_newest_is_said_and_the_rest_counted(
    incident: Incident, shipped: dict[str, IncidentType], ada: Person, ben: Person, browse: Open
) -> None:
    client = browse(ada)
    given = hidden(client.get(retype_page(incident, "?to=major")).content.decode())
    lifecycle.retype(incident, to=shipped["isolated"], by=ben, at=timezone.now())
    for n in range(9):
        lifecycle.note(incident, text=f"note {n} of Ben", by=ben, at=timezone.now())
    alert = client.post(retype_page(incident), given).content.decode()
    assert "Ben retyped it from Ambiguous to Isolated" in html.unescape(alert)
    assert [n for n in range(9) if f"note {n} of Ben" in alert] == [4, 5, 6, 7, 8]
    assert "And 4 more on the timeline." in alert
