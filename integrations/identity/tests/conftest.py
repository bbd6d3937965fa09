"""Ada, who has one of our own accounts, and a provider that vouches for anyone the test chooses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.conf import settings as project
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from incidents.models import Person
from integrations.identity.providers.provider import Provider
from integrations.identity.tests.vouching import Vouching, serving


@pytest.fixture(autouse=True)
def _one_half_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep authenticator codes valid for the whole test: a code lasts half a minute, which could end at any moment."""
    counters = list(totp.yield_hotp_counters_from_time())
    monkeypatch.setattr(totp, "yield_hotp_counters_from_time", lambda: iter(counters))


@pytest.fixture(scope="session")
def _server() -> Iterator[str]:
    with serving() as issuer:
        yield issuer


@pytest.fixture
def vouching(_server: str, settings: Settings, db: None) -> Vouching:
    """Configure the provider in the settings."""
    one = Provider(key="oidc", name="Acme", issuer=_server, client_id="firekind", client_secret="between us")
    settings.FIREKIND = replace(project.FIREKIND, sign_in=replace(project.FIREKIND.sign_in, providers=(one,)))
    return Vouching(_server)


@pytest.fixture
def grace(db: None) -> Person:
    """A member of the workspace without an account."""
    return Person.objects.create(name="Grace Hopper", chat_id="UGRACE", email="grace@acme.example")


@pytest.fixture
def ada(db: None) -> Person:
    """A person with one of our own accounts."""
    user = User.objects.create_user("ada", password="of-no-use-elsewhere")
    return Person.objects.create(name="Ada", chat_id="UADA", email="ada@acme.example", user=user)
