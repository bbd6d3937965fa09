"""Signing in with a browser: by a real provider that this test starts, and by a password with a second factor."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from allauth.mfa.totp.internal import auth as totp
from playwright.sync_api import expect

from config.env import NAMES
from integrations.identity.tests.vouching import Vouching, serving
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway
from tests.browser.axe import faults_everywhere

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PEOPLE = """
from django.contrib.auth.models import User
from incidents.models import Person
Person.objects.create(name="Grace Hopper", chat_id="UGRACE", email="grace@acme.example")
Person.objects.create(name="Gus Guest", chat_id="UGUS", email="gus@elsewhere.example", is_guest=True)
for name in ("ada", "ben", "eve", "gil"):
    User.objects.create_user(name, first_name=name.title(), password="of-no-use-elsewhere")
"""
OF_THE_SANDBOX = (
    *("FIREKIND_SANDBOX_URL", "FIREKIND_PROFILED_URL", "PROFILE_SOURCES_FILE"),
    *("SLACK_", "PAGERDUTY_", "TRACKER"),
)
GRACE = {"email": "grace@acme.example", "email_verified": True}


@dataclass(frozen=True, slots=True)
class House:
    """Firekind as a company runs it: with a provider, its own accounts, and no sandbox."""

    stack: Stack
    provider: Vouching

    @property
    def at_localhost(self) -> str:
        """Its URL under the only name for which browsers let passkeys work without TLS."""
        return self.stack.base_url.replace("127.0.0.1", "localhost")


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """Open it."""
    with serving() as issuer:
        env = {"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": "firekind", "OIDC_CLIENT_SECRET": "us", "OIDC_NAME": "Acme"}
        env |= {name: "" for name in NAMES if name.startswith(OF_THE_SANDBOX)}
        with throwaway(processes=("web",), env=env) as stack:
            stack.manage("shell", "-c", PEOPLE)
            yield House(stack, Vouching(issuer))


@pytest.fixture
def seat(browser: Browser) -> Iterator[Page]:
    """Yield a page whose scripts and policy must not break."""
    context = browser.new_context()
    wrong: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if "Content Security" in said.text else None)
    yield page
    context.close()
    assert not wrong


def by_provider(page: Page, house: House, sub: str, *, then: str = "/") -> None:
    """Press the button, and sign in at the provider."""
    page.goto(f"{house.stack.base_url}/sign-in/?next={then}")
    page.get_by_role("button", name="Sign in with Acme").click()
    page.locator("input[name=sub]").fill(sub)
    page.get_by_role("button", name="Authorize").click()
    page.wait_for_url(f"{house.stack.base_url}/**")


def by_password(page: Page, house: House, name: str) -> None:
    """Expand the form, and sign in with a local account."""
    page.goto(f"{house.at_localhost}/sign-in/")
    page.get_by_text("Or sign in with a Firekind account").click()
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("of-no-use-elsewhere")
    page.get_by_role("button", name="Sign in", exact=True).click()


def signs_out(page: Page) -> None:
    """Sign out by the menu."""
    page.locator("details.who summary").click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("**/sign-in/")


def once_more(page: Page) -> None:
    """Reauthenticate."""
    expect(page.get_by_role("heading", name="Confirm it's you")).to_be_visible()
    page.get_by_label("Password").fill("of-no-use-elsewhere")
    page.get_by_role("button", name="Continue").click()


def sets_up_an_app(page: Page) -> str:
    """Set up an authenticator app, as someone who is led to it; return the secret."""
    expect(page.get_by_role("heading", name="Set up a second factor")).to_be_visible()
    page.get_by_role("link", name="Authenticator app").click()
    page.get_by_text("Enter it manually").click()
    secret = page.locator("#secret").inner_text().strip()
    page.get_by_label("Code", exact=True).fill(code(secret))
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    return secret


def code(secret: str, *, ahead: int = 0) -> str:
    """Return what an authenticator app shows; the next code if this one is about to change."""
    if (left := 30 - time.time() % 30) < 5:
        time.sleep(left)
    return str(totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30 + ahead)))


def test_a_member_comes_in_by_e_mail_once_and_by_the_providers_id_ever_after(house: House, seat: Page) -> None:
    house.provider.knows("g1", **GRACE)
    by_provider(seat, house, "g1", then="/declare")
    assert seat.url == f"{house.stack.base_url}/declare"
    expect(seat.get_by_label("You are Grace Hopper")).to_be_visible()
    signs_out(seat)

    house.provider.knows("g1", email="married@elsewhere.example", email_verified=True)
    by_provider(seat, house, "g1")
    expect(seat.get_by_label("You are Grace Hopper")).to_be_visible()


def test_who_is_not_known_is_told_what_to_do_and_nothing_else(house: House, seat: Page) -> None:
    house.provider.knows("m1", email="mallory@acme.example", email_verified=True)
    by_provider(seat, house, "m1")

    expect(seat.get_by_role("alert")).to_contain_text("Join the team's Slack workspace with that address")
    assert seat.title() == "Sign in · Firekind"


def test_a_guest_of_the_workspace_is_not_let_in_by_e_mail(house: House, seat: Page) -> None:
    house.provider.knows("u1", email="gus@elsewhere.example", email_verified=True)
    by_provider(seat, house, "u1")

    expect(seat.get_by_role("alert")).to_contain_text("is known here")


def test_a_way_back_that_this_browser_did_not_begin_opens_nothing(house: House, seat: Page) -> None:
    seat.goto(f"{house.stack.base_url}/sign-in/oidc/back?code=stolen&state=forged")

    expect(seat.get_by_role("alert")).to_contain_text("not started in this browser")
    seat.goto(f"{house.stack.base_url}/")
    assert "/sign-in/" in seat.url


def test_an_authenticator_app_is_set_up_and_then_asked_for(house: House, seat: Page) -> None:
    by_password(seat, house, "ada")
    secret = sets_up_an_app(seat)
    recovery = seat.locator("#codes").inner_text().split()
    assert len(recovery) == 10
    seat.get_by_role("link", name="I've saved them").click()
    expect(seat.get_by_label("You are Ada")).to_be_visible()
    signs_out(seat)

    by_password(seat, house, "ada")
    seat.get_by_label("Code from your authenticator app").fill("000000")
    seat.get_by_role("button", name="Sign in", exact=True).click()
    expect(seat.get_by_text("That code did not work")).to_be_visible()
    seat.get_by_label("Code from your authenticator app").fill(code(secret, ahead=1))
    seat.get_by_role("button", name="Sign in", exact=True).click()
    expect(seat.get_by_label("You are Ada")).to_be_visible()
    signs_out(seat)

    by_password(seat, house, "ada")
    seat.get_by_label("Code from your authenticator app").fill(recovery[0])
    seat.get_by_role("button", name="Sign in", exact=True).click()
    expect(seat.get_by_label("You are Ada")).to_be_visible()


def test_a_passkey_is_set_up_asked_for_and_removed(house: House, seat: Page) -> None:
    chromium = seat.context.new_cdp_session(seat)
    chromium.send("WebAuthn.enable")
    device = {"protocol": "ctap2", "transport": "internal", "hasUserVerification": True, "isUserVerified": True}
    options = {**device, "automaticPresenceSimulation": True}
    key = chromium.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]

    by_password(seat, house, "ben")
    seat.get_by_role("link", name="Passkey").click()
    seat.get_by_label("Name", exact=True).fill("my laptop")
    seat.get_by_role("button", name="Set up").click()
    expect(seat.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert chromium.send("WebAuthn.getCredentials", {"authenticatorId": key})["credentials"]
    seat.get_by_role("link", name="I've saved them").click()
    signs_out(seat)

    by_password(seat, house, "ben")
    seat.get_by_role("button", name="Use your passkey").click()
    expect(seat.get_by_label("You are Ben")).to_be_visible()

    seat.goto(f"{house.at_localhost}/account/")
    seat.get_by_role("link", name="Remove the passkey my laptop").click()
    once_more(seat)
    seat.get_by_role("button", name="Remove").click()
    expect(seat.get_by_text("That passkey was removed.")).to_be_visible()
    expect(seat.get_by_role("heading", name="Set up a second factor")).to_be_visible()


def test_a_passkey_that_is_not_at_hand_is_said_in_words(house: House, seat: Page) -> None:
    chromium = seat.context.new_cdp_session(seat)
    chromium.send("WebAuthn.enable")
    by_password(seat, house, "gil")
    seat.get_by_role("link", name="Passkey").click()
    seat.evaluate("void (navigator.credentials.create = async () => { throw new DOMException('', 'NotAllowedError') })")
    seat.get_by_label("Name", exact=True).fill("none")
    seat.get_by_role("button", name="Set up").click()

    expect(seat.get_by_role("alert")).to_contain_text("Try again")


def test_axe_finds_nothing(house: House, seat: Page) -> None:
    seat.goto(f"{house.at_localhost}/sign-in/oidc/back")
    wrong = faults_everywhere(seat)
    by_password(seat, house, "eve")
    for path in ("second-factor", "app", "key"):
        seat.goto(f"{house.at_localhost}/account/{path}")
        wrong += faults_everywhere(seat)
    seat.goto(f"{house.at_localhost}/account/second-factor")
    secret = sets_up_an_app(seat)
    wrong += faults_everywhere(seat)
    seat.goto(f"{house.at_localhost}/account/")
    wrong += faults_everywhere(seat)
    signs_out(seat)
    by_password(seat, house, "eve")
    wrong += faults_everywhere(seat)
    seat.get_by_label("Code from your authenticator app").fill(code(secret, ahead=1))
    seat.get_by_role("button", name="Sign in", exact=True).click()
    seat.goto(f"{house.at_localhost}/account/app/remove")
    wrong += faults_everywhere(seat)
    assert wrong == []
