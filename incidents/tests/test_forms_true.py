"""A verb's form is truthful: what it shows can be sent, and if it cannot, the page says so instead of asking."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.forms import VERBS
from incidents.lifecycle import access
from incidents.models import Followup, Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.slow

Given = Mapping[str, object]
NOW = timezone.now

# Each verb's address parameters, and what to send: valid for an incident in the right state.
RIGHT: dict[str, Callable[[Incident, Incident, Person], tuple[str, Given]]] = {
    "update": lambda *_: ("", {"text": "looking"}),
    "impact": lambda *_: ("", {"text": "carts fail"}),
    "next-step": lambda one, other, ada: ("", {"text": "roll back", "people": ada.pk}),
    "task": lambda one, other, ada: ("", {"text": "roll back", "people": ada.pk, "due_on": str(timezone.now().date())}),
    "follow-up": lambda *_: ("", {"text": "write it down"}),
    "finish": lambda one, *_: (f"?n={to_do(one)}", {"n": to_do(one)}),
    "reassign": lambda one, other, ada: (f"?n={to_do(one)}", {"n": to_do(one), "people": ada.pk}),
    "drop": lambda one, *_: (f"?n={to_do(one)}", {"n": to_do(one), "because": "not worth it"}),
    "reopen-task": lambda one, *_: (f"?n={done(one)}", {"n": done(one)}),
    "note": lambda *_: ("", {"text": "seen"}),
    "mitigate": lambda *_: ("", {}),
    "resolve": lambda *_: ("", {}),
    "reopen": lambda *_: ("", {}),
    "lead": lambda one, other, ada: ("", {"people": ada.pk}),
    "role": lambda one, other, ada: ("?role=Scribe", {"role": "Scribe", "people": ada.pk}),
    "bring": lambda one, other, ada: ("", {"people": [ada.pk]}),
    "rename": lambda *_: ("", {"title": "Checkout is down"}),
    "summary": lambda *_: ("", {"summary": "nothing goes through"}),
    "services": lambda *_: ("", {"services": "checkout"}),
    "check": lambda one, *_: (f"?item={one.policy.checklist[0]}", {"item": one.policy.checklist[0], "done_now": "on"}),
    "edit": lambda one, *_: (f"?n={noted(one)}", {"n": noted(one), "text": "seen again"}),
    "retract": lambda one, *_: (f"?n={noted(one)}", {"n": noted(one)}),
    "redact": lambda one, other, ada: (f"?n={noted(led(one, ada))}", {"n": noted(one)}),
    "duplicate": lambda one, other, ada: ("", {"of": other.codename}),
    "cancel": lambda *_: ("", {}),
    "archive": lambda *_: ("", {}),
}
OF_PRIVATE = {"fill", "let-in", "turn-away", "open-up", "publish"}  # below, on private incidents
TYPED = frozenset({"text", "because", "title", "summary", "services", "of"})
STATES = {
    "open": (),
    "mitigated": (lifecycle.mitigate,),
    "resolved": (lifecycle.resolve,),
    "cancelled": (lifecycle.cancel,),
    "reopened": (lifecycle.resolve, lifecycle.reopen),
}


def led(incident: Incident, ada: Person) -> Incident:
    """Make Ada the lead."""
    return lifecycle.set_lead(incident, lead=ada, by=ada, at=NOW())


def to_do(incident: Incident) -> int:
    """Return the number of an open follow-up."""
    found = Followup.objects.filter(incident=incident, state="open").first()
    return (found or lifecycle.add_followup(incident, text="write it down", by=None, at=NOW())).n


def done(incident: Incident) -> int:
    """Return the number of a follow-up that is done."""
    found = Followup.objects.filter(incident=incident, state="done").first()
    return (found or lifecycle.finish_followup(incident, n=to_do(incident), by=None, at=NOW())).n


def noted(incident: Incident) -> int:
    """Return the number of the note that Ada wrote."""
    return incident.events.filter(kind="noted").latest("n").n


def test_every_verb_is_tried_here() -> None:
    assert {*RIGHT, *OF_PRIVATE} == set(VERBS)


@pytest.fixture
def other(incident: Incident, ada: Person) -> Incident:
    """Return another incident that Ada can see."""
    return lifecycle.declare("Search is slow", by=ada, at=NOW())


def come_to(state: str, incident: Incident, *, by: Person) -> None:
    """Bring an incident with one note into a state."""
    lifecycle.note(incident, text="seen", by=by, at=NOW())
    for step in STATES[state]:
        step(incident, by=by, at=NOW())


@pytest.mark.parametrize("state", STATES)
def test_what_a_form_asks_is_taken_and_else_there_is_nothing_to_send(
    state: str, incident: Incident, other: Incident, ada: Person, browse: Open
) -> None:
    come_to(state, incident, by=ada)
    for verb in RIGHT:
        with transaction.atomic():
            its_form_is_true(verb, copy.copy(incident), other, ada, browse(ada))
            transaction.set_rollback(True)


@pytest.mark.parametrize("state", STATES)
def test_words_that_are_not_taken_stand_in_the_answer(
    state: str, incident: Incident, other: Incident, ada: Person, browse: Open
) -> None:
    come_to(state, incident, by=ada)
    for verb, asked in RIGHT.items():
        with transaction.atomic():
            now = copy.copy(incident)
            _, given = asked(now, other, ada)
            words = {name: "My own words" for name, value in given.items() if name in TYPED}
            words |= {"text": "My own words"} if verb in {"mitigate", "resolve", "reopen", "cancel"} else {}
            answer = browse(ada).post(f"{now.get_absolute_url()}{verb}", {**given, **words})
            assert answer.status_code == 302 or not words or "My own words" in answer.content.decode(), verb
            if verb in {"update", "note"}:  # below the timeline
                answer = browse(ada).post(f"{now.get_absolute_url()}write", {**given, **words, "kind": verb})
                assert answer.status_code == 302 or "My own words" in answer.content.decode(), verb
            transaction.set_rollback(True)


def its_form_is_true(verb: str, incident: Incident, other: Incident, ada: Person, client: Client) -> None:
    about, given = RIGHT[verb](incident, other, ada)
    address = f"/incidents/{incident.codename}/{verb}"
    asks = 'id="act-now"' in client.get(address + about).content.decode()
    answered = client.post(address, given)
    if asks:
        assert answered.headers.get("Location") == f"/incidents/{incident.codename}/", verb
    elif answered.status_code == 422:
        assert 'id="act-now"' not in answered.content.decode(), verb


def test_a_form_on_a_page_of_its_own_has_no_second_one_to_open(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    for verb in VERBS:
        address = f"/incidents/{incident.codename}/{verb}?role=Scribe&n=1&item=x"
        alone, dialog = (client.get(address, headers=one).content.decode() for one in ({}, {"HX-Request": "true"}))
        assert "hx-post" not in alone.split("<main", 1)[1], verb
        assert alone.count('id="act"') == dialog.count("hx-post") <= 1, verb


@pytest.mark.parametrize(
    "verb", ["edit", "retract", "redact", "role", "fill", "check", "let-in", "turn-away", "publish"]
)
def test_without_what_it_is_about_a_verb_asks_nothing(verb: str, secret: Incident, ada: Person, browse: Open) -> None:
    client, address = browse(ada), f"/incidents/{secret.codename}/{verb}"
    for said in (client.get(address), client.post(address, {"text": "x"})):
        page = said.content.decode()
        assert 'class="wrong"' in page
        assert 'id="act-now"' not in page


def test_who_asked_is_answered_once(secret: Incident, ada: Person, ben: Person, eve: Person, browse: Open) -> None:
    lifecycle.ask_in(secret.codename, person=eve, because="I wrote it", at=NOW())
    access.carry(at=NOW())
    n = access.waiting(secret)[0].n
    client, address = browse(ada), f"/incidents/{secret.codename}/let-in?n={n}"
    assert 'id="act-now"' in client.get(address).content.decode()
    lifecycle.turn_away(secret, n=n, by=ben, at=NOW())
    after = client.get(address).content.decode()
    assert "Ben already answered" in after
    assert 'id="act-now"' not in after


def test_a_summary_is_offered_to_who_confirms_it_alone(
    secret: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    lifecycle.open_up(secret, summary="A token was public.", by=ben, at=NOW())
    address = f"/incidents/{secret.codename}/publish"
    asked = [re.findall('id="act-now"', browse(one).get(address).content.decode()) for one in (ada, ben)]
    assert [len(one) for one in asked] == [1, 0]
