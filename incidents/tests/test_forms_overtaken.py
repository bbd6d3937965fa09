"""A form that shows current text never overwrites unseen what others changed while it was open."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.forms import VERBS
from incidents.forms.verb import TYPED
from incidents.models import Event, Incident, Person
from incidents.tests.conftest import Open

HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
SAID_AGAIN = {"next-step"}  # a new entry each time: sent twice, the form shows that it was said
MINE, THEIRS = "what Ada typed", "what Ben typed"


@pytest.fixture
def filled(incident: Incident, ada: Person, ben: Person) -> Incident:
    """Return an incident led by Ben, in which every form has text to show."""
    lifecycle.set_lead(incident, lead=ben, by=ben, at=timezone.now())
    lifecycle.describe(incident, summary="Nothing goes through", by=ada, at=timezone.now())
    lifecycle.serve(incident, services=["checkout"], by=ada, at=timezone.now())
    lifecycle.state_next_step(incident, text="Roll back", by=ada, at=timezone.now())
    lifecycle.note(incident, text="Seen", by=ada, at=timezone.now())
    incident.refresh_from_db()
    return incident


def about(incident: Incident) -> str:
    return f"?n={Event.objects.get(incident=incident, kind='noted').n}"


def words_of(verb: str, incident: Incident, person: Person) -> str:
    """Return the field of a verb's form that shows current text, or an empty string."""
    n = Event.objects.get(incident=incident, kind="noted").n
    form = VERBS[verb](incident=incident, person=person, asked={"n": n})
    shown = [one.name for one in form.visible_fields() if isinstance(one.field.widget, TYPED) and one.value()]
    return shown[0] if shown else ""


def opened(client: Client, address: str) -> dict[str, str]:
    """Return the hidden fields of a form, as its page shows it."""
    page = client.get(address).content.decode().partition('id="act"')[2]
    return {name: unescape(value) for name, value in HIDDEN.findall(page) if name != "csrfmiddlewaretoken"}


def test_what_others_wrote_meanwhile_is_shown_before_it_is_written_over(
    filled: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    tried = 0
    for verb in VERBS:
        if not (field := words_of(verb, filled, ada)):
            continue
        tried += 1
        address = f"{filled.get_absolute_url()}{verb}{about(filled)}"
        client, other = browse(ada), browse(ben)
        mine, theirs = opened(client, address), opened(other, address)
        assert other.post(address, {**theirs, field: THEIRS}).status_code == 302, verb
        before = Event.objects.filter(incident=filled).count()
        answer = client.post(address, {**mine, field: MINE})
        page = unescape(answer.content.decode())
        assert answer.status_code == 422, verb
        assert "This changed while you were writing: Ben" in page, verb
        assert THEIRS in page, verb
        assert MINE in page, verb
        assert Event.objects.filter(incident=filled).count() == before, verb
        again = dict(HIDDEN.findall(page.partition('id="act"')[2]))
        assert client.post(address, {**mine, "since": again["since"], field: MINE}).status_code == 302, verb
    assert tried >= 4


def test_what_is_sent_twice_is_done_once_and_not_refused(filled: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    for verb in VERBS:
        if verb in SAID_AGAIN or not (field := words_of(verb, filled, ada)):
            continue
        address = f"{filled.get_absolute_url()}{verb}{about(filled)}"
        sent = {**opened(client, address), field: MINE}
        assert client.post(address, sent).status_code == 302, verb
        before = Event.objects.filter(incident=filled).count()
        assert client.post(address, sent).status_code == 302, verb
        assert Event.objects.filter(incident=filled).count() == before, verb
