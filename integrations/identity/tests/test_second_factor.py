"""A password alone opens nothing: someone without a second factor sets one up before anything else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.conf import settings as project
from django.test import Client
from pytest_django.fixtures import Settings

from incidents.models import Person
from integrations.identity.tests.test_accounts import RIGHT

PAGE = "/account/second-factor"


@pytest.fixture(autouse=True)
def _needed(settings: Settings) -> None:
    settings.FIREKIND = replace(project.FIREKIND, sign_in=replace(project.FIREKIND.sign_in, second_factor=True))


def came_in(*, then: str = "/") -> Client:
    """Sign in with a password, on the way to a page."""
    client = Client()
    assert client.post("/sign-in/", RIGHT | {"next": then})["Location"] == then
    return client


@pytest.mark.parametrize("path", ["/", "/declare", "/account/", "/tokens/", "/people", "/nowhere", "/api/v1/incidents"])
def test_no_page_opens_before(ada: Person, path: str) -> None:
    client = came_in()
    for answer in (client.get(path), client.post(path)):
        assert answer["Location"] == PAGE
    assert client.get(path, headers={"HX-Request": "true"})["HX-Redirect"] == PAGE
    assert "Set up a second factor" in client.get(path, follow=True).content.decode()


def test_the_password_is_not_asked_for_twice_and_one_goes_on_to_where_one_was_going(ada: Person) -> None:
    client = came_in(then="/declare")
    secret = client.get("/account/app").context["form"].secret
    code = totp.format_hotp_value(totp.hotp_value(secret, next(iter(totp.yield_hotp_counters_from_time()))))
    assert client.post("/account/app", {"code": code})["Location"] == "/account/codes"
    assert PAGE in client.get("/account/codes").content.decode()

    assert client.get(PAGE)["Location"] == "/declare"
    assert client.get("/declare").status_code == 200
    assert client.get(PAGE)["Location"] == "/account/"


def test_whoever_removes_the_last_one_sets_up_another(ada: Person) -> None:
    assert ada.user is not None
    client = came_in()
    totp.TOTP.activate(ada.user, totp.generate_totp_secret())
    assert client.get("/").status_code == 200

    client.post("/account/app/remove")
    assert client.get("/")["Location"] == PAGE


def test_one_can_leave_without(ada: Person) -> None:
    client = came_in()
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert client.get("/")["Location"].startswith("/sign-in/")


def test_who_comes_by_a_provider_has_them_there(ada: Person) -> None:
    assert ada.user is not None
    client = came_in()
    client.force_login(ada.user)
    assert client.get("/").status_code == 200


def test_in_the_sandbox_nobody_needs_one(ada: Person, settings: Settings) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, sandbox_url="http://127.0.0.1:9")
    assert came_in().get("/").status_code == 200
