"""Who may keep reading a live page, according to the database."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection

from incidents.live import watching
from incidents.live.watching import Viewer
from incidents.models import Incident, Person
from incidents.tests.conftest import Open


@pytest.fixture(autouse=True)
def kept_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the connection, because the test shares it."""
    monkeypatch.setattr(watching, "let_go", lambda: None)


def reader(person: Person, browse: Open) -> Viewer:
    return Viewer(person.pk, browse(person).session.session_key or "")


def test_access_is_asked_of_the_database(secret: Incident, ada: Person, eve: Person, browse: Open) -> None:
    member, outsider = reader(ada, browse), reader(eve, browse)
    assert watching.allowed_of(secret.pk, frozenset({member, outsider})) == {member}
    assert connection.connection is not None


def test_whoever_leaves_reads_no_more(secret: Incident, ada: Person, browse: Open) -> None:
    member = frozenset({reader(ada, browse)})
    assert watching.allowed_of(secret.pk, member) == member
    Person.objects.filter(pk=ada.pk).update(deactivated=True)
    assert watching.allowed_of(secret.pk, member) == set()


def test_whoever_signs_out_reads_no_more_in_that_browser(secret: Incident, ada: Person, browse: Open) -> None:
    left, kept = browse(ada), browse(ada)
    here, there = (Viewer(ada.pk, one.session.session_key or "") for one in (left, kept))
    left.logout()
    assert watching.allowed_of(secret.pk, frozenset({here, there})) == {there}


def test_an_account_that_is_closed_reads_no_more(secret: Incident, ada: Person, browse: Open) -> None:
    member = frozenset({reader(ada, browse)})
    assert ada.user is not None
    User.objects.filter(pk=ada.user.pk).update(is_active=False)
    assert watching.allowed_of(secret.pk, member) == set()
