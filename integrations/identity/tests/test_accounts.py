"""Our own accounts: a password, a second factor, and limits on guessing that hold across processes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.conf import settings as project
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from incidents.models import Person
from integrations.identity import tries
from integrations.identity.models import Tries

RIGHT = {"username": "ada", "password": "of-no-use-elsewhere"}
WRONG = RIGHT | {"password": "guessed"}


def come_in(client: Client, **given: str) -> str:
    """Submit the sign-in form, and return the message."""
    return client.post("/sign-in/", RIGHT | given).content.decode()


def code_of(authenticator: Authenticator, *, ahead: int = 0) -> str:
    """Return the code that an app shows now, or some steps later."""
    secret = totp.decrypt(authenticator.data["secret"])
    now = next(iter(totp.yield_hotp_counters_from_time()))
    return str(totp.format_hotp_value(totp.hotp_value(secret, now + ahead)))


@pytest.fixture
def app(ada: Person) -> Authenticator:
    """Set up an authenticator app for Ada."""
    assert ada.user is not None
    return totp.TOTP.activate(ada.user, totp.generate_totp_secret()).instance


def test_after_a_few_wrong_tries_there_is_a_pause_that_says_how_long(ada: Person) -> None:
    client = Client()
    for _ in range(5):
        assert "Wrong username or password" in come_in(client, **WRONG)
    assert "Too many attempts. Try again in" in come_in(client)


def test_the_count_is_in_the_database_and_ends_by_itself(ada: Person) -> None:
    for _ in range(5):
        come_in(Client(), **WRONG)
    cache.clear()
    assert "Too many attempts" in come_in(Client())

    Tries.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert Client().post("/sign-in/", RIGHT).status_code == 302


def test_another_address_is_not_held_up(ada: Person) -> None:
    for _ in range(6):
        come_in(Client(), **WRONG)
    assert Client().post("/sign-in/", RIGHT, REMOTE_ADDR="10.0.0.9").status_code == 302


def test_many_addresses_guess_at_one_account_no_faster(ada: Person) -> None:
    for n in range(20):
        Client().post("/sign-in/", WRONG, REMOTE_ADDR=f"10.0.0.{n}")
    assert b"Too many attempts" in Client().post("/sign-in/", RIGHT, REMOTE_ADDR="10.0.1.1").content


def test_a_browser_that_signed_in_before_is_not_locked_out_by_others(ada: Person) -> None:
    mine = Client()
    mine.post("/sign-in/", RIGHT)
    mine.post("/sign-out/")
    for n in range(21):
        Client().post("/sign-in/", WRONG, REMOTE_ADDR=f"10.0.0.{n}")

    assert mine.post("/sign-in/", RIGHT).status_code == 302


def test_tries_at_once_are_all_counted(db: None) -> None:
    counted = {tries.PAIR: "here|ada", tries.ACCOUNT: "ada"}
    waits = [tries.take(counted) for _ in range(7)]

    assert waits[:5] == [0] * 5
    assert all(waits[5:])
    assert sorted(Tries.objects.values_list("count", flat=True)) == [5, 5], "who is held up uses up nobody's account"


def test_the_session_changes_its_key_at_sign_in(ada: Person) -> None:
    client = Client()
    client.session["before"] = True
    before = client.session.session_key
    client.post("/sign-in/", RIGHT)

    cookie = client.cookies["sessionid"]
    assert cookie.value != before
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_where_local_accounts_are_off_there_is_no_form(ada: Person, settings: Settings) -> None:
    settings.FIREKIND = replace(project.FIREKIND, sign_in=replace(project.FIREKIND.sign_in, local=False))

    assert b'name="password"' not in Client().get("/sign-in/").content
    assert Client().post("/sign-in/", RIGHT).status_code == 404


def test_a_second_factor_is_asked_for_before_anything_is_shown(ada: Person, app: Authenticator) -> None:
    client = Client()
    assert client.post("/sign-in/", RIGHT | {"next": "/declare"})["Location"] == "/sign-in/code"
    assert client.get("/").status_code == 302

    assert client.post("/sign-in/code", {"code": code_of(app)})["Location"] == "/declare"
    assert client.get("/declare").status_code == 200


def test_a_code_works_once(ada: Person, app: Authenticator) -> None:
    code = code_of(app)
    first, second = Client(), Client()
    for client in (first, second):
        client.post("/sign-in/", RIGHT)

    assert first.post("/sign-in/code", {"code": code}).status_code == 302
    cache.clear()  # as in another process, which has none of this one's cache
    assert "already used" in second.post("/sign-in/code", {"code": code}).content.decode()


def test_codes_are_not_guessed(ada: Person, app: Authenticator) -> None:
    client = Client()
    client.post("/sign-in/", RIGHT)
    for n in range(5):
        client.post("/sign-in/code", {"code": f"00000{n}"})

    page = client.post("/sign-in/code", {"code": code_of(app)}).content.decode()
    assert "Try again in" in page


def test_without_a_password_there_is_no_second_step(db: None) -> None:
    assert Client().get("/sign-in/code")["Location"].startswith("/sign-in/")


def test_secrets_are_not_readable_in_the_database(ada: Person, app: Authenticator) -> None:
    stored = Authenticator.objects.get().data["secret"]

    assert totp.decrypt(stored) not in stored
    assert len(totp.decrypt(stored)) == 32


@pytest.mark.parametrize(
    "path",
    [
        "accounts/login/",
        "accounts/signup/",
        "sign-in/signup",
        "account/email/",
        "account/password/reset/",
        "slack/login/",
    ],
)
def test_nothing_else_of_the_library_is_mounted(db: None, path: str) -> None:
    assert Client().get(f"/{path}").status_code == 404


def test_the_page_says_nothing_about_incidents(ada: Person) -> None:
    page = Client().get("/sign-in/?next=/incidents/amber-otter/").content.decode()

    assert "<title>Sign in · Firekind</title>" in page
    assert "og:" not in page


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("10.0.0.1", "10.0.0.2", False),
        ("10.0.0.1", "::ffff:10.0.0.1", True),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", True),
        ("2001:db8:0:1::1", "2001:DB8:0:1:0:0:0:9", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("", "unix:", False),
    ],
)
def test_addresses_that_one_customer_has_are_counted_together(one: str, other: str, together: bool) -> None:
    assert (tries.place(one) == tries.place(other)) is together


def test_a_network_of_ipv6_guesses_no_faster_than_one_address(ada: Person) -> None:
    for n in range(tries.PAIR.most):
        Client().post("/sign-in/", WRONG, REMOTE_ADDR=f"2001:db8::{n + 1:x}")
    assert b"Too many attempts" in Client().post("/sign-in/", RIGHT, REMOTE_ADDR="2001:db8::ffff").content
    assert Client().post("/sign-in/", RIGHT, REMOTE_ADDR="2001:db8:0:1::1").status_code == 302
