"""What an open page fetches to stay current."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import transaction
from django.utils import timezone

from incidents import lifecycle, timeline
from incidents.models import Incident, Person
from incidents.tests.conftest import Open
from incidents.tests.test_pages_incident import page_of, shown
from incidents.views import page


def cursor(text: str) -> str:
    found = re.search(r'id="live".*?hx-get="([^"]+)"', text, re.DOTALL)
    assert found is not None
    seen = re.search(r'id="seen" name="seen" value="([^"]*)"', text)
    assert seen is not None
    return f"{found[1].replace('&amp;', '&')}&seen={seen[1].replace(' ', '+')}"


def test_nothing_new_is_no_content(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    ask = cursor(client.get(page_of(incident)).content.decode())
    response = client.get(ask)
    assert response.status_code == 204
    assert response.content == b""


def test_what_is_new_comes_with_a_new_cursor_and_is_read_out(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    client = browse(ada)
    ask = cursor(client.get(page_of(incident)).content.decode())
    lifecycle.update(incident, text="all clear in Dublin", by=ben, at=timezone.now())
    timeline.append(incident, "did", at=timezone.now(), text="posted the update")
    fragment = client.get(ask).content.decode()
    assert "all clear in Dublin" in fragment
    assert "Ben: all clear in Dublin" in fragment
    assert "<html" not in fragment
    assert client.get(cursor(fragment)).status_code == 204


def test_nobody_is_told_aloud_what_they_did_themselves(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    ask = cursor(client.get(page_of(incident)).content.decode())
    lifecycle.note(incident, text="my own", by=ada, at=timezone.now())
    assert 'id="arrived"' not in client.get(ask).content.decode()


@pytest.mark.parametrize("taken", [lifecycle.retract, lifecycle.redact])
def test_what_was_taken_back_is_not_read_out_and_what_was_edited_as_it_is_now(
    taken: Callable[..., object], incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    lifecycle.set_lead(incident, lead=ben, by=ben, at=timezone.now())
    client = browse(ada)
    ask = cursor(client.get(page_of(incident)).content.decode())
    note = lifecycle.note(incident, text="the pasword is swordfish", by=ben, at=timezone.now())
    lifecycle.edit(incident, n=note.n, text="the password is swordfish", by=ben, at=timezone.now())
    assert "Ben: the password is swordfish" in client.get(ask).content.decode()
    taken(incident, n=note.n, by=ben, at=timezone.now())
    assert "swordfish" not in client.get(ask).content.decode()


def test_no_entry_is_lost_between_what_is_shown_and_what_arrives(incident: Incident, ada: Person, browse: Open) -> None:
    for n in range(page.SHOWN + 20):
        timeline.append(incident, "noted", at=timezone.now(), by=ada, text=f"note {n}")
    client = browse(ada)
    first = client.get(page_of(incident)).content.decode()
    for n in range(5):
        timeline.append(incident, "noted", at=timezone.now(), by=ada, text=f"late {n}")
    later = client.get(cursor(first)).content.decode()
    assert shown(later)[5:] == shown(first)


def test_a_page_left_open_for_long_starts_over(
    incident: Incident, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "MOST_SHOWN", 10)
    monkeypatch.setattr(page, "SHOWN", 5)
    client = browse(ada)
    ask = cursor(client.get(page_of(incident)).content.decode())
    for n in range(20):
        timeline.append(incident, "noted", at=timezone.now(), by=ada, text=f"note {n}")
    fragment = client.get(ask).content.decode()
    assert len(shown(fragment)) == 5
    assert 'id="further"' in fragment


@pytest.mark.parametrize("since", [0, 1, 3, 5])
def test_entries_that_the_database_lost_go_from_an_open_page(
    incident: Incident, ada: Person, browse: Open, since: int
) -> None:
    """The database was restored, or failed over to a copy that lacked the last moments."""
    client = browse(ada)
    with transaction.atomic():
        for n in range(3):
            lifecycle.note(incident, text=f"of the future {n}", by=ada, at=timezone.now())
        ask = cursor(client.get(page_of(incident)).content.decode())
        transaction.set_rollback(True)
    incident.refresh_from_db()
    for n in range(since):
        lifecycle.note(incident, text=f"since then {n}", by=ada, at=timezone.now())
    fragment = client.get(ask).content.decode()
    assert shown(fragment) == shown(client.get(page_of(incident)).content.decode())
    assert "of the future" not in fragment
    assert client.get(cursor(fragment)).status_code == 204


def test_an_edit_is_shown_where_the_entry_stands(incident: Incident, ada: Person, browse: Open) -> None:
    note = lifecycle.note(incident, text="frst", by=ada, at=timezone.now())
    client = browse(ada)
    ask = cursor(client.get(page_of(incident)).content.decode())
    lifecycle.edit(incident, n=note.n, text="first", by=ada, at=timezone.now())
    fragment = client.get(ask).content.decode()
    assert "first" in fragment
    assert "frst" not in fragment


@pytest.mark.parametrize("asked", ["", "?n=x", "?n=9999999999999999999", "?n=0&from=no", "?n=0&from=2026-01-01_1"])
def test_a_cursor_that_makes_no_sense_is_answered_all_the_same(
    asked: str, incident: Incident, ada: Person, browse: Open
) -> None:
    assert browse(ada).get(page_of(incident, f"live{asked}")).status_code == 200
