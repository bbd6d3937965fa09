"""An email address matches letter for letter: no look-alike, and no mix of two answers."""

from __future__ import annotations

import itertools
import string
import unicodedata
from functools import cache
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from incidents.models import Person
from incidents.people import emails, person_matching
from incidents.people.person_matching import ChatProfile
from integrations.identity.providers import claims, joining
from integrations.identity.providers.provider import Provider
from integrations.identity.tests.vouching import Vouching
from workflows.models import PagerUser
from workflows.oncall import callees, people
from workflows.tickets import news

GRACE = "grace-kis@acme.example"
ONE = Provider(key="oidc", name="Acme", issuer="https://id.acme.example", client_id="x", client_secret="x")


def _folds(sign: str) -> set[str]:
    return {sign.lower(), sign.upper().lower(), sign.casefold(), unicodedata.normalize("NFKC", sign).casefold()}


@cache
def look_alikes() -> list[str]:
    """Return Grace's address with one letter replaced, by each Unicode character that some folding treats as it."""
    signs = [chr(code) for code in range(128, 0x20000) if _folds(chr(code)) & set(string.ascii_lowercase + "@.-")]
    places = {letter: GRACE.index(letter) for letter in GRACE}
    swapped = {
        GRACE[: places[to]] + sign + GRACE[places[to] + 1 :] for sign in signs for to in _folds(sign) & places.keys()
    }
    return sorted(swapped)


FEW = [GRACE.replace(letter, sign, 1) for letter, sign in zip("iskg", "\u0131\u017f\u212a\uff47", strict=True)]


def test_every_folding_there_is_was_thought_of() -> None:
    assert len(look_alikes()) > 100
    assert {*FEW} < {*look_alikes()}


def test_no_look_alike_is_the_address_and_every_case_is() -> None:
    assert not [one for one in look_alikes() if emails.same(one, GRACE) or emails.same(one, one)]
    assert emails.same(GRACE.upper(), f" {GRACE} ")
    assert not emails.same("", "")


@pytest.fixture
def grace(db: None) -> Person:
    """A member of the workspace."""
    return Person.objects.create(name="Grace", chat_id="UGRACE", email=GRACE)


def claimed(email: str, sub: str = "g1") -> dict[str, Any]:
    """Return the claims of a provider that verified an address."""
    return {"sub": sub, "email": email, "email_verified": True}


@pytest.mark.slow
def test_no_look_alike_signs_in_as_somebody(grace: Person) -> None:
    for one in look_alikes():
        with pytest.raises(joining.SignInRefused, match="beyond plain ASCII"):
            joining.user_of(ONE, claimed(one))
    assert not User.objects.exists()
    joining.user_of(ONE, claimed(GRACE.upper()))
    grace.refresh_from_db()
    assert grace.user is not None


@pytest.mark.parametrize("stored", FEW)
def test_who_has_a_look_alike_is_not_found_by_the_real_one(db: None, stored: str) -> None:
    mallory = Person.objects.create(name="Mallory", chat_id="UMAL", email=stored)
    made = User.objects.create_user("mal", email=stored)
    assert person_matching.by_email(GRACE) is None
    assert emails.having(User.objects.all(), GRACE) == []
    with pytest.raises(joining.SignInRefused, match="known here"):
        joining.user_of(ONE, claimed(GRACE))
    assert callees._named({GRACE}) == {}
    person_matching.of_user(made)
    mallory.refresh_from_db()
    assert mallory.user is None
    with pytest.raises(CommandError):
        call_command("role", GRACE, stdout=StringIO())
    with pytest.raises(CommandError):
        call_command("evidence_token", GRACE, stdout=StringIO())


@pytest.mark.parametrize("email", FEW)
def test_no_look_alike_of_the_workspace_or_the_pager_is_joined(grace: Person, email: str) -> None:
    PagerUser.objects.create(pager_id="PMAL", name="Mallory", email=email)
    people.join(at=timezone.now())
    assert PagerUser.objects.get().person is None

    account = User.objects.create_user("grace", email="grace@home.example")
    alone = Person.objects.create(name="Grace", email="grace-kis@home.example", user=account)
    person_matching.record([ChatProfile("UMAL", "Mallory", email=email.replace("acme", "home"))])
    alone.refresh_from_db()
    assert alone.chat_id is None


@pytest.mark.parametrize("email", FEW)
def test_no_look_alike_in_the_tracker_is_given_what_is_somebodys(grace: Person, email: str) -> None:
    tracker = Mock(spec=["email"], **{"email.return_value": email})
    assert news.known({"owner": "mallory"}, tracker) == {}
    tracker.email.return_value = GRACE.upper()
    assert news.known({"owner": "grace"}, tracker) == {"owner": "grace"}


def test_case_still_matters_nowhere(grace: Person) -> None:
    PagerUser.objects.create(pager_id="PGRA", name="Grace", email=GRACE.upper())
    people.join(at=timezone.now())
    assert PagerUser.objects.get().person == grace
    assert person_matching.by_email(GRACE.title()) == grace


SAYS: list[dict[str, Any]] = [
    {},
    *({"email": email} for email in ("a@x", "b@x")),
    *({"email": email, "email_verified": yes} for email in ("a@x", "b@x") for yes in (True, False)),
    {"email_verified": True},
]


@pytest.mark.parametrize(("signed", "asked"), list(itertools.product(SAYS, SAYS)))
def test_what_is_said_of_an_address_comes_from_where_the_address_does(
    signed: dict[str, Any], asked: dict[str, Any]
) -> None:
    told = claims.believed(signed, asked)
    assert told in (signed, asked)
    if told.get("email_verified") and "email" in told:
        assert told in [one for one in (signed, asked) if one.get("email") == told["email"]]
    if signed.keys() >= {"email", "email_verified"}:
        assert told == signed, "what is signed comes first"


def test_a_verified_address_of_the_token_does_not_verify_that_of_user_info(
    vouching: Vouching, grace: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    from integrations.identity.providers.openid import Exchange

    def asked(self: Exchange, token: str) -> dict[str, Any]:
        return {"sub": "m", "email": GRACE}

    monkeypatch.setattr(Exchange, "_fetch_user_info", asked)
    vouching.knows("m", email_verified=True)
    from django.test import Client

    refused = vouching.signs_in(Client(), "m")
    assert refused.status_code == 403
    assert not User.objects.exists()


def test_who_was_pinned_stays_who_they_are_whatever_address_is_claimed(grace: Person) -> None:
    mine = joining.user_of(ONE, claimed(GRACE))
    Person.objects.create(name="Ada", chat_id="UADA", email="ada@acme.example")
    for email in ("ada@acme.example", FEW[0], ""):
        assert joining.user_of(ONE, claimed(email)) == mine
