"""A verb's form on its own page without scripts: errors are in the form, it counts once, and is not offered again."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.tests.conftest import Open
from incidents.tests.test_forms_true import RIGHT, Given

pytestmark = pytest.mark.slow

NOW = timezone.now
# Input that each form refuses with an error at a field.
WRONG: dict[str, Sequence[Given]] = {
    "update": [{"text": " "}],
    "note": [{"text": " "}],
    "task": [{"text": " "}],
    "follow-up": [{"text": " "}],
    "edit": [{"text": " "}],
    "bring": [{"people": []}],
    "rename": [{"title": " "}],
    "services": [{"services": "x" * 81}],
    "duplicate": [{"of": "no-such-one"}],
}
AFTERWARDS = {"reopen", "archive"}  # verbs of an incident that has ended
ENDING = {
    "mitigate",
    "resolve",
    "reopen",
    "archive",
    "cancel",
    "duplicate",
    "finish",
    "drop",
    "reopen-task",
}  # once is enough


def only(content: bytes, what: str) -> bool:
    """Return whether a page has exactly one of these and no open dialog over it."""
    page = content.decode()
    return page.count(what) == 1 and not re.search("<dialog[^>]* open", page)


def test_a_form_is_sent_once_and_is_not_offered_again_where_that_makes_no_sense(
    incident: Incident, ada: Person, browse: Open
) -> None:
    other = lifecycle.declare("Search is slow", by=ada, at=NOW())
    lifecycle.note(incident, text="seen", by=ada, at=NOW())
    for verb in RIGHT:
        with transaction.atomic():
            one = copy.copy(incident)
            if verb in AFTERWARDS:
                lifecycle.resolve(one, by=ada, at=NOW())
            about, given = RIGHT[verb](one, other, ada)
            is_sent_once(verb, about, given, here=incident.get_absolute_url(), client=browse(ada))
            transaction.set_rollback(True)


def is_sent_once(verb: str, about: str, given: Given, *, here: str, client: Client) -> None:
    address = f"{here}{verb}{about}"
    assert only(client.get(address).content, 'id="act"'), verb
    for wrong in WRONG.get(verb, ()):
        refused = client.post(address, {**given, **wrong})
        assert refused.status_code == 422, verb
        assert only(refused.content, 'id="act"'), verb
        assert "errorlist" in refused.content.decode(), verb
    answered = client.post(address, given, follow=True)
    assert answered.redirect_chain == [(here, 302)], verb
    assert only(answered.content, 'class="said"'), verb
    assert client.get(address).content.decode().count('id="act"') == (verb not in ENDING), verb


def test_somebody_is_looked_for_and_nothing_is_sent_yet(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    client = browse(ada)
    for verb in ("lead", "role", "bring"):
        about, given = RIGHT[verb](incident, incident, ben)
        address = f"{incident.get_absolute_url()}{verb}{about}"
        found = client.post(address, {**given, "people": "", "q": "Be", "find": "1"})
        assert only(found.content, 'id="act"'), verb
        assert "errorlist" not in found.content.decode(), verb
        assert re.search(rf'name="people"[^>]*value="{ben.pk}"', found.content.decode()), verb
    assert not incident.events.exclude(kind="declared").exists()
