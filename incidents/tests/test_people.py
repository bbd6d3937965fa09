"""People are matched across account and chat once, by email, and pinned from then on."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import IncidentType, Person
from incidents.people import person_matching
from incidents.people.person_matching import ChatProfile

ADA = ChatProfile("U1", "Ada Okafor", "ada@example.com")


@pytest.fixture
def account(db: None) -> User:
    return User.objects.create_user("ada", email="Ada@example.com", password="of-no-use-elsewhere")


def test_an_account_and_a_chat_person_of_one_e_mail_are_one(account: User) -> None:
    person_matching.record([ADA])
    assert person_matching.of_user(account) == Person.objects.get(chat_id="U1")


def test_whoever_was_met_in_the_chat_before_it_was_read_is_joined_to_the_account(
    account: User, shipped: dict[str, IncidentType]
) -> None:
    on_the_web = person_matching.of_user(account)
    met = person_matching.by_chat_id("U1", name="ada")
    incident = lifecycle.declare("Keys", by=on_the_web, at=timezone.now(), type=shipped["security"])
    person_matching.record([ADA])
    joined = person_matching.of_user(User.objects.get(pk=account.pk))
    assert joined == Person.objects.get(pk=met.pk)
    assert (joined.name, joined.email) == ("Ada Okafor", "ada@example.com")
    assert visibility.may_see(joined, incident)


@pytest.mark.parametrize("flag", ["is_guest", "is_external", "is_bot"])
def test_the_e_mail_of_a_guest_or_a_stranger_proves_nothing(account: User, flag: str) -> None:
    mine = person_matching.of_user(account)
    flags: dict[str, Any] = {flag: True}
    person_matching.record([ChatProfile("U1", "Not Ada", "ada@example.com", **flags)])
    assert person_matching.of_user(User.objects.get(pk=account.pk)) == mine
    assert Person.objects.get(chat_id="U1").email == ""


def test_a_changed_e_mail_does_not_move_an_account(account: User) -> None:
    person_matching.record([ADA])
    assert person_matching.of_user(account) is not None
    person_matching.record(
        [ChatProfile("U1", "Ada Okafor", "new@example.com"), ChatProfile("U2", "Mallory", "ada@example.com")]
    )
    assert person_matching.of_user(User.objects.get(pk=account.pk)) == Person.objects.get(chat_id="U1")
