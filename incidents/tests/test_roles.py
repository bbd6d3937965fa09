"""What each role may do, who assigns roles, and that there is always someone who can."""

from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import DjangoAssertNumQueries

from audit.models import Entry
from incidents import lifecycle, visibility
from incidents.models import Incident, Person
from incidents.models.people import Role
from incidents.people import person_matching, roles
from incidents.tests.conftest import someone

MANAGED = {"types", "rules", "groups", "match", "roles", "second"}


@pytest.mark.parametrize(
    ("role", "acts"), [(Role.RESPONDER, set()), (Role.MANAGER, MANAGED), (Role.AUDITOR, {"audit"})]
)
def test_a_role_may_do_what_its_row_says_and_nothing_else(db: None, role: Role, acts: set[str]) -> None:
    person = someone("Kim", role=role)
    assert {what for what in roles.ACTS if roles.may(person, what)} == acts


@pytest.mark.parametrize("flag", ["is_guest", "is_bot", "is_external", "deactivated"])
def test_who_may_not_join_may_do_nothing_whatever_their_role(ada: Person, flag: str) -> None:
    setattr(ada, flag, True)
    assert not any(roles.may(ada, what) for what in roles.ACTS)


@pytest.mark.parametrize("role", Role)
def test_no_role_opens_a_private_incident(secret: Incident, role: Role) -> None:
    person = someone("Kim", role=role)
    assert not visibility.may_see(person, secret)
    assert person.user is not None
    person.user.is_superuser = True
    person.user.save()
    assert not visibility.may_see(person, secret)


def test_the_account_that_runs_firekind_manages_and_may_audit_besides(ada: Person) -> None:
    boss = person_matching.of_user(User.objects.create_superuser("root", "root@example.com", "of-no-use-elsewhere"))
    assert boss is not None
    assert roles.may(boss, "types")
    assert not roles.may(boss, "audit")
    roles.give(boss, role=Role.AUDITOR, by=ada)
    boss.refresh_from_db()
    assert roles.may(boss, "types")
    assert roles.may(boss, "audit")
    assert boss in roles.holders(Role.MANAGER)


def test_whoever_may_not_is_told_whom_to_ask(ada: Person) -> None:
    assert roles.who_may("types", reader=ada) == "Only managers can change types. Ask Ada."
    someone("Grace", role=Role.MANAGER)
    assert roles.who_may("types", reader=ada) == "Only managers can change types. Ask Ada or Grace."
    someone("Hanna", role=Role.MANAGER)
    someone("Zed", role=Role.MANAGER)
    assert roles.who_may("roles", reader=ada) == "Only managers can assign roles. Ask Ada, Grace or Hanna."
    assert "there are none yet" in roles.who_may("audit", reader=ada)
    assert roles.who_may("types", reader=Person(is_guest=True)) == "Only managers can change types."


def test_a_role_that_is_given_is_written_down(ada: Person, ben: Person) -> None:
    assert roles.give(ben, role=Role.AUDITOR, by=ada)
    assert not roles.give(ben, role=Role.AUDITOR, by=ada)
    assert list(roles.holders(Role.AUDITOR)) == [ben]
    entry = Entry.objects.get(kind="role")
    assert (entry.by, entry.by_name, entry.about) == (ada.pk, "Ada", "Ben")
    assert entry.data == {"person": ben.pk, "was": "responder", "becomes": "auditor"}


def test_the_last_manager_stays(ada: Person, ben: Person) -> None:
    for role in (Role.RESPONDER, Role.AUDITOR):
        with pytest.raises(lifecycle.Refused, match="Ada is the last manager"):
            roles.give(ada, role=role, by=ada)
    roles.give(ben, role=Role.MANAGER, by=ada)
    assert roles.give(ada, role=Role.RESPONDER, by=ben)
    Person.objects.filter(pk=ada.pk).update(role=Role.MANAGER, deactivated=True)
    with pytest.raises(lifecycle.Refused, match="Ben is the last manager"):
        roles.give(ben, role=Role.RESPONDER, by=ben)


def test_whoever_runs_firekind_may_give_up_the_role_as_they_manage_all_the_same(ada: Person) -> None:
    assert ada.user is not None
    ada.user.is_superuser = True
    ada.user.save()
    assert roles.give(ada, role=Role.AUDITOR, by=ada)
    assert roles.may(Person.objects.get(pk=ada.pk), "types")


@pytest.mark.parametrize("flag", ["is_guest", "is_bot", "is_external", "deactivated"])
def test_who_may_not_join_holds_no_role_and_may_lose_theirs(ada: Person, ben: Person, flag: str) -> None:
    Person.objects.filter(pk=ben.pk).update(role=Role.MANAGER, **{flag: True})
    assert list(roles.holders(Role.MANAGER)) == [ada]
    assert roles.give(ben, role=Role.RESPONDER, by=ada)
    with pytest.raises(lifecycle.Refused, match="Ben cannot have a role"):
        roles.give(ben, role=Role.MANAGER, by=ada)


def test_an_account_that_was_closed_manages_nothing(ben: Person) -> None:
    assert ben.user is not None
    for flag, manages in ((True, True), (False, False)):
        ben.user.is_superuser, ben.user.is_active = True, flag
        ben.user.save()
        assert (Role.MANAGER in roles.held_by(ben)) == manages
        assert (ben in roles.holders(Role.MANAGER)) == manages
        assert ben not in roles.holders(Role.AUDITOR)


def test_holders_come_by_name_with_their_accounts(
    ada: Person, ben: Person, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Person.objects.filter(pk=ben.pk).update(role=Role.MANAGER, name="Aaron")
    with django_assert_num_queries(1):
        held = [(one.name, one.user.username) for one in roles.holders(Role.MANAGER) if one.user]
    assert held == [("Aaron", "ben"), ("Ada", "ada")]


def test_what_is_written_of_a_role_says_where_it_was_given_and_by_whom_if_anyone(ada: Person, ben: Person) -> None:
    roles.give(ben, role=Role.MANAGER, by=ada, where="types")
    roles.give(ben, role=Role.RESPONDER, by=None)
    first, second = Entry.objects.filter(kind="role").order_by("pk")
    assert (first.door, first.by_name, first.about) == ("types", "Ada", "Ben")
    assert (second.door != "types", second.by, second.by_name) == (True, None, "")
    assert second.data == {"person": ben.pk, "was": "manager", "becomes": "responder"}


def test_guests_never_have_a_role(ada: Person, ben: Person) -> None:
    Person.objects.filter(pk=ben.pk).update(is_guest=True)
    with pytest.raises(lifecycle.Refused, match="Ben cannot have a role"):
        roles.give(ben, role=Role.AUDITOR, by=ada)


def test_a_role_stays_with_whoever_is_joined_with_the_chat(db: None) -> None:
    user = User.objects.create_user("kim", "kim@example.com", "of-no-use-elsewhere")
    Person.objects.create(name="Kim", email="kim@example.com", user=user, role=Role.MANAGER)
    Person.objects.create(name="Kim", chat_id="UKIM")
    person_matching.record([person_matching.ChatProfile("UKIM", "Kim Lee", "kim@example.com")])
    assert [one.chat_id for one in roles.holders(Role.MANAGER)] == ["UKIM"]


def said(*words: str) -> str:
    out = StringIO()
    call_command("role", *words, stdout=out)
    return out.getvalue().strip()


def test_the_terminal_shows_and_gives_roles(db: None) -> None:
    kim = Person.objects.create(name="Kim", email="kim@example.com")
    assert said() == "Managers: nobody\nAuditors: nobody"
    assert said("KIM@example.com") == "Kim <kim@example.com>: responder"
    assert said("kim@example.com", "manager") == "Kim <kim@example.com>: manager"
    assert said() == "Managers: Kim <kim@example.com>\nAuditors: nobody"
    entry = Entry.objects.get(kind="role")
    assert (entry.by, entry.door, entry.data["person"]) == (None, "terminal", kim.pk)
    with pytest.raises(CommandError, match="last manager"):
        said("kim@example.com", "responder")


def test_the_terminal_finds_an_account_that_was_never_used(db: None) -> None:
    User.objects.create_superuser("root", "root@example.com", "of-no-use-elsewhere")
    assert said("root@example.com") == "root <root@example.com>: manager, through the account that runs Firekind"
    with pytest.raises(CommandError, match="No one is known as nobody"):
        said("nobody@example.com")
