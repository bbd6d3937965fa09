"""Signing in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from django import forms
from django.conf import settings as project
from django.test import Client
from django.utils.html import escape
from pytest_django.fixtures import Settings

from incidents.forms import given_words
from incidents.models import Person

AREA: Final = re.compile(r'<textarea[^>]* name="(\w+)"')


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
    assert response["HX-Redirect"] == "/sign-in/?next=/types/&ended"
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


WORDS = "Pool exhausted since 14:02 <b>"


def ended(client: Client, ada: Person) -> None:
    """Let the session end while the form is open."""


def changed_in_another_tab(client: Client, ada: Person) -> None:
    """Make the form's token invalid."""
    client.handler.enforce_csrf_checks = True


def closed(client: Client, ada: Person) -> None:
    """Sign the person in, with no such incident."""
    assert ada.user is not None
    client.force_login(ada.user)


@pytest.mark.parametrize(("happens", "status"), [(ended, 401), (changed_in_another_tab, 403), (closed, 404)])
@pytest.mark.parametrize("name", given_words.NAMES)
def test_words_that_are_not_taken_come_back_to_a_browser_without_scripts(
    ada: Person, happens: Callable[[Client, Person], None], status: int, name: str
) -> None:
    client = Client()
    happens(client, ada)
    address = "/incidents/amber-otter/note"
    sent = send(client, {name: WORDS, "password": "hush-hush", "csrfmiddlewaretoken": "hush-hush"}, to=address)
    page = sent.content.decode()
    assert sent.status_code == status
    assert "no-store" in sent["Cache-Control"]
    assert escape(WORDS) in page
    assert "hush-hush" not in page
    assert (f'href="/sign-in/?next={address}"' in page) == (status == 401)


@pytest.mark.parametrize("sent_from", ["http://example.com/declare", "", "null"])
def test_a_page_of_elsewhere_has_nothing_shown_here(ada: Person, sent_from: str) -> None:
    for happens in (ended, changed_in_another_tab, closed):
        client = Client()
        happens(client, ada)
        sent = send(client, {"text": WORDS}, to="/incidents/amber-otter/note", sent_from=sent_from)
        assert escape(WORDS) not in sent.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("to", ["/declare", "/access/", "/sign-in/"])
def test_a_form_in_other_letters_than_ours_is_refused_like_any_bad_request(to: str) -> None:
    odd = "application/x-www-form-urlencoded; charset=latin-1"
    answer = Client(enforce_csrf_checks=True).post(
        to, "title=x", content_type=odd, headers={"Origin": "http://testserver"}
    )
    assert 400 <= answer.status_code < 500


def send(client: Client, given: dict[str, str], *, to: str, sent_from: str | None = None) -> Any:
    """Send a form as browsers do, from its own page unless told otherwise."""
    referer = f"http://testserver{to}" if sent_from is None else sent_from
    return client.post(
        to, urlencode(given), content_type="application/x-www-form-urlencoded", headers={"Referer": referer}
    )


def test_a_browser_with_scripts_has_kept_its_words(db: None) -> None:
    client = Client()
    client.cookies[f"{project.COOKIE_PREFIX}zone"] = "Europe/Madrid"
    assert send(client, {"title": WORDS}, to="/declare")["Location"] == "/sign-in/?next=/declare"


def test_every_field_for_sentences_is_given_back() -> None:
    fields = [one for form in every_form() for one in getattr(form, "base_fields", {}).items()]
    long = {name for name, one in fields if type(one.widget) is forms.Textarea and "readonly" not in one.widget.attrs}
    own = {name for path in (project.BASE_DIR / "templates").rglob("*.html") for name in AREA.findall(path.read_text())}
    assert "text" in long & own
    assert long | own <= set(given_words.NAMES)


def every_form(base: type[forms.BaseForm] = forms.BaseForm) -> Iterator[type[forms.BaseForm]]:
    for one in base.__subclasses__():
        if one.__module__.startswith(("incidents.", "evidence.", "workflows.", "reviews.")):
            yield one
        yield from every_form(one)
