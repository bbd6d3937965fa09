"""Ada, who has an account of ours, and a provider that vouches for whomever the test likes."""

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
    """Let codes of apps last for the test: each is good for half a minute, which may end at any moment."""
    counters = list(totp.yield_hotp_counters_from_time())
    monkeypatch.setattr(totp, "yield_hotp_counters_from_time", lambda: iter(counters))


@pytest.fixture(scope="session")
def _server() -> Iterator[str]:
    with serving() as issuer:
        yield issuer


@pytest.fixture
def vouching(_server: str, settings: Settings, db: None) -> Vouching:
    """Set the provider up as ours."""
    one = Provider(key="oidc", name="Acme", issuer=_server, client_id="firekind", client_secret="between us")
    settings.FIREKIND = replace(project.FIREKIND, sign_in=replace(project.FIREKIND.sign_in, providers=(one,)))
    return Vouching(_server)


@pytest.fixture
def grace(db: None) -> Person:
    """Is a member of the workspace, and has no account yet."""
    return Person.objects.create(name="Grace Hopper", chat_id="UGRACE", email="grace@acme.example")


@pytest.fixture
def ada(db: None) -> Person:
    """Has an account of ours."""
    user = User.objects.create_user("ada", password="of-no-use-elsewhere")
    return Person.objects.create(name="Ada", chat_id="UADA", email="ada@acme.example", user=user)
