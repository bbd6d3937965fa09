"""Coming in."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.conf import settings as project
from django.test import Client
from pytest_django.fixtures import Settings

from incidents.models import Person


@pytest.fixture
def sandbox(settings: Settings) -> None:
    settings.FIREKIND = replace(project.FIREKIND, sandbox_url="http://127.0.0.1:1")


def test_an_account_comes_in_and_goes_back_to_where_it_was_going(ada: Person) -> None:
    client = Client()
    to = client.get("/declare")["Location"]
    given = {"username": "ada", "password": "of-no-use-elsewhere", "next": "/declare"}
    assert client.post(to, given)["Location"] == "/declare"
    assert client.get("/declare").status_code == 200


def test_outside_the_sandbox_nobody_can_pick_who_they_are(ada: Person) -> None:
    assert Client().post(f"/sign-in/as/{ada.pk}").status_code == 404
    assert "Ada" not in Client().get("/sign-in/").content.decode()


def test_in_the_sandbox_people_are_picked(ada: Person, sandbox: None) -> None:
    client = Client()
    assert "Ada" in client.get("/sign-in/").content.decode()
    assert client.post(f"/sign-in/as/{ada.pk}", {"next": "/declare"})["Location"] == "/declare"
    assert client.get("/declare").status_code == 200


def test_guests_and_bots_cannot_be_picked(ada: Person, sandbox: None) -> None:
    Person.objects.filter(pk=ada.pk).update(is_guest=True)
    assert Client().post(f"/sign-in/as/{ada.pk}").status_code == 404


def test_nobody_is_sent_to_another_site(ada: Person, sandbox: None) -> None:
    for elsewhere in ("https://example.com/", "//example.com", "javascript:alert(1)"):
        assert Client().post(f"/sign-in/as/{ada.pk}", {"next": elsewhere})["Location"] == "/"


def test_a_form_from_elsewhere_is_refused_in_words(ada: Person) -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post("/sign-in/", {"username": "ada"})
    assert response.status_code == 403
    assert "try again" in response.content.decode()


def test_a_fragment_that_lost_its_session_sends_the_whole_page_to_the_sign_in(db: None) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/types/"}
    response = Client().get("/", headers=headers)
    assert response["HX-Redirect"] == "/sign-in/?next=/types/"
    assert Client().post("/declare", headers=headers).status_code == 401  # or its page would take it for done


@pytest.mark.parametrize(
    ("sent_from", "then"),
    [
        ("http://testserver/types/add?like=major", "/types/add%3Flike%3Dmajor"),
        ("http://example.com/types/", "/"),
        ("", "/"),
    ],
)
def test_who_sent_a_form_after_their_session_comes_back_to_its_page(db: None, sent_from: str, then: str) -> None:
    response = Client().post("/types/add", headers={"Referer": sent_from})
    assert response["Location"] == f"/sign-in/?next={then}"
