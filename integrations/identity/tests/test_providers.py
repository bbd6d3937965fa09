"""Sign-in through a provider: people it vouches for, people it does not, and forged answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from allauth.socialaccount.models import SocialAccount
from django.conf import settings as project
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from incidents.models import Person
from integrations.identity.providers.provider import Provider
from integrations.identity.tests.vouching import Vouching, asked

GRACE = {"email": "grace@acme.example", "email_verified": True, "name": "Grace Hopper"}


def test_the_first_time_somebody_is_found_by_verified_e_mail(vouching: Vouching, grace: Person) -> None:
    vouching.knows("g1", **GRACE)
    client = Client()

    assert vouching.signs_in(client, "g1", next="/declare")["Location"] == "/declare"
    assert client.get("/declare").status_code == 200
    grace.refresh_from_db()
    assert grace.user is not None
    assert not grace.user.has_usable_password()


def test_nothing_that_the_provider_said_is_kept(vouching: Vouching, grace: Person) -> None:
    vouching.knows("g1", **GRACE)
    for _ in range(2):
        vouching.signs_in(Client(), "g1")

    assert SocialAccount.objects.get().extra_data == {}


def test_later_they_are_known_by_the_providers_id_whatever_their_e_mail_says(vouching: Vouching, grace: Person) -> None:
    vouching.knows("g1", **GRACE)
    vouching.signs_in(Client(), "g1")
    vouching.knows("g1", email="somebody-else@elsewhere.example", email_verified=False)

    client = Client()
    assert vouching.signs_in(client, "g1").status_code == 302
    assert client.get("/").status_code == 200
    grace.refresh_from_db()
    assert grace.email == "grace@acme.example"
    assert User.objects.count() == 1


def test_an_address_that_is_given_to_somebody_else_opens_nothing(vouching: Vouching, grace: Person) -> None:
    vouching.knows("g1", **GRACE)
    vouching.signs_in(Client(), "g1")
    vouching.knows("g2", **GRACE)

    refused = vouching.signs_in(Client(), "g2")
    assert refused.status_code == 403
    assert "Someone else already signs in" in refused.content.decode()


def test_who_is_not_known_is_told_what_to_do(vouching: Vouching, grace: Person) -> None:
    vouching.knows("m", email="mallory@acme.example", email_verified=True)

    refused = vouching.signs_in(Client(), "m")
    assert refused.status_code == 403
    assert "Join the team&#x27;s Slack workspace" in refused.content.decode()
    assert not User.objects.exists()


def test_an_address_that_is_not_verified_proves_nothing(vouching: Vouching, grace: Person) -> None:
    vouching.knows("g1", email="grace@acme.example")

    assert "has not verified your email" in vouching.signs_in(Client(), "g1").content.decode()


def test_silence_about_addresses_is_believed_only_where_the_operator_says_so(
    vouching: Vouching, grace: Person, settings: Settings
) -> None:
    (one,) = settings.FIREKIND.sign_in.providers
    trusted = replace(settings.FIREKIND.sign_in, providers=(replace(one, vouches=True),))
    settings.FIREKIND = replace(settings.FIREKIND, sign_in=trusted)
    vouching.knows("g1", email="grace@acme.example", email_verified=False)
    assert vouching.signs_in(Client(), "g1").status_code == 403

    vouching.knows("g1", email="grace@acme.example")
    assert vouching.signs_in(Client(), "g1").status_code == 302


@pytest.mark.parametrize("kind", ["is_guest", "is_external", "is_bot", "deactivated"])
def test_guests_externals_bots_and_leavers_are_never_joined_by_e_mail(
    vouching: Vouching, grace: Person, kind: str
) -> None:
    Person.objects.filter(pk=grace.pk).update(**{kind: True})
    vouching.knows("g1", **GRACE)

    assert vouching.signs_in(Client(), "g1").status_code == 403
    assert not User.objects.exists()


def test_a_leaver_is_refused_though_the_provider_knows_them(vouching: Vouching, grace: Person) -> None:
    vouching.knows("g1", **GRACE)
    client = Client()
    vouching.signs_in(client, "g1")
    Person.objects.filter(pk=grace.pk).update(deactivated=True)

    assert client.get("/").status_code == 403
    assert "has been deactivated" in vouching.signs_in(Client(), "g1").content.decode()


def test_an_account_that_the_operator_made_is_joined(vouching: Vouching, db: None) -> None:
    made = User.objects.create_user("ops", email="ops@acme.example", password="of-no-use-elsewhere")
    vouching.knows("o", email="OPS@acme.example", email_verified=True)

    assert vouching.signs_in(Client(), "o").status_code == 302
    assert SocialAccount.objects.get().user == made


def test_a_state_of_another_browser_opens_nothing(vouching: Vouching, grace: Person) -> None:
    vouching.knows("g1", **GRACE)
    back = vouching.answers(vouching.asks(Client()), "g1")

    other = Client()
    vouching.asks(other)
    refused = other.get(back)
    assert refused.status_code == 403
    assert "not started in this browser" in refused.content.decode()
    assert other.get("/").status_code == 302


def test_a_nonce_of_another_sign_in_opens_nothing(vouching: Vouching, grace: Person) -> None:
    vouching.knows("g1", **GRACE)
    client = Client()
    mine = vouching.asks(client)
    forged = mine.replace(asked(mine, "nonce"), "a-nonce-of-somebody-else")

    refused = client.get(vouching.answers(forged, "g1"))
    assert refused.status_code == 403
    assert not User.objects.exists()


def test_a_way_back_works_once(vouching: Vouching, grace: Person) -> None:
    vouching.knows("g1", **GRACE)
    client = Client()
    back = vouching.answers(vouching.asks(client), "g1")

    assert client.get(back).status_code == 302
    client.logout()
    assert client.get(back).status_code == 403


@pytest.mark.parametrize("elsewhere", ["https://example.com/", "//example.com", "javascript:alert(1)"])
def test_nobody_is_sent_to_another_site(vouching: Vouching, grace: Person, elsewhere: str) -> None:
    vouching.knows("g1", **GRACE)

    assert vouching.signs_in(Client(), "g1", next=elsewhere)["Location"] == "/"


def test_nobody_chooses_what_a_provider_is_asked(vouching: Vouching) -> None:
    page = Client().post("/sign-in/with/oidc?process=connect&scope=admin&auth_params=prompt%3Dnone")

    assert set(asked(page.context["address"], "scope").split()) == {"openid", "profile", "email"}
    assert "prompt" not in page.context["address"]
    assert "code_challenge" in page.context["address"]


def test_whoever_changes_their_mind_is_told_that_nothing_happened(vouching: Vouching) -> None:
    client = Client()
    state = asked(vouching.asks(client), "state")

    page = client.get(f"/sign-in/oidc/back?error=access_denied&state={state}")
    assert "Nothing has changed" in page.content.decode()


def test_a_provider_that_does_not_answer_leaves_the_other_ways(settings: Settings, db: None) -> None:
    gone = Provider(key="oidc", name="Acme", issuer="http://127.0.0.1:9", client_id="x", client_secret="x")
    settings.FIREKIND = replace(project.FIREKIND, sign_in=replace(project.FIREKIND.sign_in, providers=(gone,)))

    page = Client().post("/sign-in/with/oidc")
    assert page.status_code == 503
    assert "responding" in page.content.decode()
    assert 'class="tucked" open' in page.content.decode()


def test_a_provider_that_is_not_set_up_is_not_there(db: None) -> None:
    assert Client().post("/sign-in/with/oidc").status_code == 404
    assert Client().get("/sign-in/oidc/back").status_code == 404
    assert "Sign in with" not in Client().get("/sign-in/").content.decode()
