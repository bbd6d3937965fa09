"""Who is who: what the workspace says about its people, what accounts add, and when two become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser, User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from incidents import lifecycle, visibility
from incidents.lifecycle import circle
from incidents.models import AccessRequest, Incident, IncidentType, Knock, Participant, Person, SavedView
from incidents.models.people import Role
from incidents.people import emails, person_matching, same_person
from incidents.people.accounts import AccountBackend
from incidents.people.person_matching import ChatProfile

ADA = ChatProfile("U1", "Ada Okafor", "ada@example.com")
FLAGS = ["is_guest", "is_bot", "is_external", "deactivated"]


def account(name: str = "ada", email: str = "Ada@Example.com", **given: str) -> User:
    return User.objects.create_user(name, email=email, password="of-no-use-elsewhere", **given)


def known(chat_id: str = "U1") -> Person:
    return Person.objects.get(chat_id=chat_id)


def test_whoever_is_met_before_the_workspace_was_read_has_a_name_at_least(db: None) -> None:
    assert person_matching.by_chat_id("U9").name == "U9"
    assert person_matching.by_chat_id("U8", name="ben").name == "ben"
    assert person_matching.by_chat_id("U8", name="another").name == "ben"
    assert Person.objects.count() == 2


ADDRESSES = ("ann@example.com", "ben@example.com", "Ann@example.com", "")


@pytest.mark.django_db
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.permutations(ADDRESSES), after=st.permutations([*ADDRESSES, "eve@example.com"]))
@example(before=ADDRESSES, after=["ben@example.com", "ann@example.com", "", ""])
def test_an_address_is_whose_the_workspace_says_it_is_now(before: Sequence[str], after: Sequence[str]) -> None:
    """One reading of everyone is enough, even if people swap addresses or one takes over another's."""
    with transaction.atomic():
        for said in (before, after):
            people = [ChatProfile(f"U{n}", f"P{n}", email=said[n]) for n in range(4)]
            person_matching.record(people)
            has = dict(Person.objects.filter(chat_id__in=["U0", "U1", "U2", "U3"]).values_list("chat_id", "email"))
            for key in {one.email.lower() for one in people if one.email}:
                whose = [one.chat_id for one in people if one.email.lower() == key]
                assert [id for id in whose if has[id].lower() == key], "no one has this address"
            assert all(has[one.chat_id] in {"", one.email} for one in people)
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    ("email", "found"),
    [("ada@example.com", True), (" ADA@example.COM ", True), ("", False), ("  ", False), ("a@b", False)],
)
def test_an_e_mail_is_found_whatever_its_case_and_an_empty_one_never(db: None, email: str, found: bool) -> None:
    Person.objects.create(name="Nobody")
    person_matching.record([ADA])
    assert (person_matching.by_email(email) == known()) is found
    assert (person_matching.by_email(email) is None) is not found


@pytest.mark.parametrize("field", [*FLAGS, "name", "email"])
def test_what_the_workspace_says_of_someone_is_written_and_is_news_until_it_is(db: None, field: str) -> None:
    assert person_matching.is_news(ADA)
    person_matching.record([ADA])
    assert not person_matching.is_news(ADA)
    changed = replace(ADA, **{field: True if field in FLAGS else "new@example.com"})  # type: ignore[arg-type]  # by name
    assert person_matching.is_news(changed)
    person_matching.record([changed])
    assert getattr(known(), field) == getattr(changed, field)
    assert not person_matching.is_news(changed)
    assert Person.objects.count() == 1


def test_only_what_changed_is_written_and_nobody_is_deleted(db: None) -> None:
    ben = ChatProfile("U2", "Ben", "ben@example.com")
    person_matching.record([ADA, ben])
    person_matching.record([replace(ben, name="Benjamin")])
    assert dict(Person.objects.values_list("chat_id", "name")) == {"U1": "Ada Okafor", "U2": "Benjamin"}
    with CaptureQueriesContext(connection) as asked:
        person_matching.record([])
        person_matching.record([ADA])
    assert not [one["sql"] for one in asked if not one["sql"].startswith("SELECT")]
    assert Person.objects.count() == 2


def test_what_is_ours_alone_stays_when_the_workspace_says_something_new(db: None) -> None:
    person_matching.record([ADA])
    Person.objects.update(role=Role.AUDITOR, user=account("other", ""))
    person_matching.record([replace(ADA, name="Ada O.")])
    assert (known().name, known().role, known().user is None) == ("Ada O.", Role.AUDITOR, False)


def test_an_e_mail_that_two_say_is_theirs_belongs_to_whoever_had_it_first(db: None) -> None:
    person_matching.record([ADA, ChatProfile("U2", "Mallory", "ADA@example.com")])
    assert (known("U1").email, known("U2").email) == ("ada@example.com", "")
    person_matching.record([ChatProfile("U3", "Eve", "Ada@example.com")])
    assert known("U3").email == ""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("ada@example.com", " ADA@Example.com ", True),
        ("ada@example.com", "ada@example.org", False),
        ("", "", False),
        ("ad\u0131@example.com", "ad\u0131@example.com", False),  # no one's address has a dotless i
        ("ada@example.com", "\uff41da@example.com", False),
        ("kim@example.com", "\u212aim@example.com", False),
    ],
)
def test_addresses_are_one_by_plain_letters_alone(db: None, one: str, other: str, same: bool) -> None:
    assert emails.same(one, other) is same
    assert emails.same(other, one) is same
    person = Person.objects.create(name="Ada", email=one.strip())
    assert emails.having(Person.objects.all(), other) == ([person] if same else [])


# accounts


def test_nobody_is_behind_no_account_nor_one_that_was_closed(db: None) -> None:
    assert person_matching.of_user(AnonymousUser()) is None
    user = account()
    user.is_active = False
    assert person_matching.of_user(user) is None
    assert not Person.objects.exists()


def test_a_leaver_is_nobody_whatever_their_account_says(db: None) -> None:
    user = account()
    person_matching.record([replace(ADA, deactivated=True)])
    assert person_matching.of_user(user) is None


@pytest.mark.parametrize(("first", "last", "name"), [("Ada", "Okafor", "Ada Okafor"), ("", "", "ada")])
def test_an_account_that_nobody_knows_is_a_person_of_its_own(db: None, first: str, last: str, name: str) -> None:
    user = account(first_name=first, last_name=last)
    person = person_matching.of_user(user)
    assert person is not None
    assert (person.name, person.email, person.chat_id, person.user) == (name, user.email, None, user)
    assert person_matching.of_user(User.objects.get(pk=user.pk)) == person
    assert Person.objects.count() == 1


@pytest.mark.parametrize("flag", ["", "is_guest", "is_external", "taken"])
def test_an_account_is_joined_by_e_mail_with_someone_of_the_house_who_has_none_yet(db: None, flag: str) -> None:
    person_matching.record([replace(ADA, **{flag: True}) if flag.startswith("is_") else ADA])  # type: ignore[arg-type]
    if flag == "taken":
        Person.objects.update(user=account("first", ""))
    found = person_matching.of_user(account())
    assert found is not None
    assert (found == known()) == (flag == "")
    if flag == "":
        assert known().user == found.user
    else:
        assert found.email == "", "it belongs to somebody already"


def test_the_backend_gives_active_accounts_with_their_person_alone(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    user = account()
    Person.objects.create(name="Ada", user=user)
    backend = AccountBackend()
    with django_assert_num_queries(1):
        found = backend.get_user(user.pk)
        assert found is not None
        assert found.person.name == "Ada"
    assert backend.get_user(user.pk + 1) is None
    get_user_model().objects.update(is_active=False)
    assert backend.get_user(user.pk) is None


# two become one


def met(email: str = "Ada@example.com", **given: object) -> tuple[Person, Person]:
    """Return a person with an account of that email, and one that the chat met before."""
    ours = person_matching.of_user(account("on-the-web", email))
    assert ours is not None
    theirs = person_matching.by_chat_id("U1", name="ada")
    Person.objects.filter(pk=theirs.pk).update(**given)
    return ours, theirs


@pytest.mark.parametrize(
    ("ours", "theirs", "role"),
    [
        (Role.RESPONDER, Role.MANAGER, Role.MANAGER),
        (Role.AUDITOR, Role.RESPONDER, Role.AUDITOR),
        (Role.AUDITOR, Role.MANAGER, Role.AUDITOR),
        (Role.RESPONDER, Role.RESPONDER, Role.RESPONDER),
    ],
)
def test_account_and_role_go_to_whoever_the_chat_knows(db: None, ours: Role, theirs: Role, role: Role) -> None:
    web, chat = met(role=theirs)
    Person.objects.filter(pk=web.pk).update(role=ours)
    user = web.user
    person_matching.record([ADA])
    assert (known().pk, known().role, known().user, known().email) == (chat.pk, role, user, "ada@example.com")
    web.refresh_from_db()
    assert (web.user, web.email, web.role) == (None, "", Role.RESPONDER)


def test_what_the_account_took_part_in_comes_along_but_where_both_did(incident: Incident, secret: Incident) -> None:
    web, chat = met()
    lifecycle.bring_in(secret, people=[web], by=None, at=timezone.now())
    lifecycle.bring_in(incident, people=[web, chat], by=None, at=timezone.now())
    person_matching.record([ADA])
    assert visibility.may_see(known(), secret)
    assert Participant.objects.filter(incident=incident, person=chat).count() == 1
    assert list(Participant.objects.filter(person=web).values_list("incident", flat=True)) == [incident.pk]


def test_who_led_declared_or_had_a_role_still_does_once_both_are_one(
    shipped: dict[str, IncidentType], incident: Incident
) -> None:
    web, chat = met()
    now = timezone.now()
    mine = lifecycle.declare("Slow", by=web, at=now, type=shipped["ambiguous"])
    lifecycle.set_lead(mine, lead=web, by=web, at=now)
    lifecycle.set_role(mine, role="scribe", holder=web, by=web, at=now)
    lifecycle.bring_in(incident, people=[chat], by=None, at=now)
    lifecycle.set_lead(incident, lead=web, by=web, at=now)
    person_matching.record([ADA])
    for one in (mine, incident):
        one.refresh_from_db()
        assert one.lead == chat
    assert (mine.declared_by, mine.roles) == (chat, {"scribe": chat.pk})
    lifecycle.retype(mine, to=shipped["security"], by=None, at=now)
    assert visibility.may_see(known(), mine)


def test_nothing_but_what_was_written_refers_to_a_record_that_is_gone(db: None) -> None:
    """Every part of the product must refer to the remaining person."""
    with connection.cursor() as cursor:
        cursor.execute("""
            SELECT c.conrelid::regclass::text, a.attname FROM pg_constraint c
              JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
             WHERE c.contype = 'f' AND c.confrelid = 'incidents_person'::regclass
        """)
        refer = set(cursor.fetchall())
    moved = {(field.model._meta.db_table, field.column) for field in same_person.references()}
    assert refer - moved == {("incidents_event", "by_id")}, "of an entry the database refuses to change it"
    assert moved <= refer


def test_where_both_have_one_of_what_nobody_has_twice_that_of_the_chat_stays(db: None) -> None:
    web, chat = met()
    for person in (web, chat):
        SavedView.objects.create(person=person, name="Mine", query=f"q={person.pk}")
        Knock.objects.create(person=person, at=timezone.now())
    SavedView.objects.create(person=web, name="Other", query="")
    person_matching.record([ADA])
    assert set(SavedView.objects.filter(person=chat).values_list("name", "query")) == {
        ("Mine", f"q={chat.pk}"),
        ("Other", ""),
    }
    assert Knock.objects.filter(person=chat).count() == 1


def test_whoever_was_chosen_for_a_role_still_is(secret: Incident) -> None:
    web, chat = met()
    lifecycle.bring_in(secret, people=[web], by=None, at=timezone.now())
    for person in (chat, web):
        choice = circle.RoleChoice("Security lead", person.pk, "Ada", "on call for Security lead")
        admission = circle.Admission(choices=(choice,))
        circle.admit(secret, admission, by=None, at=timezone.now(), source="system")
    person_matching.record([ADA])
    chosen = circle.choices(secret.events.filter(kind__in=circle.CHOOSING).order_by("n"))
    assert chosen[-1].data["person"] == chat.pk
    assert len(chosen) == 3
    person_matching.record([ADA])
    assert secret.events.filter(kind="chosen").count() == 3


def test_who_asked_for_access_under_both_is_still_one(secret: Incident) -> None:
    web, chat = met()
    for person in (web, chat):
        AccessRequest.objects.create(
            incident=secret, person=person, n=person.pk, asked_at=timezone.now(), because="Mine"
        )
    person_matching.record([ADA])
    assert AccessRequest.objects.filter(person=chat, let_in=None).count() == 1
    assert known().pk == chat.pk


def test_who_is_known_by_e_mail_alone_is_pinned_once(db: None) -> None:
    person = Person.objects.create(name="Ada", email="ADA@example.com")
    other = Person.objects.create(name="Nameless")
    person_matching.record([ChatProfile("U0", "Before"), ADA])
    assert known().pk == person.pk
    other.refresh_from_db()
    assert other.chat_id is None
    person_matching.record([ChatProfile("U2", "Mallory", "ada@example.com")])
    assert known().pk == person.pk
    assert known("U2").email == ""


def test_several_are_pinned_though_one_of_them_is_not_in_the_workspace(db: None) -> None:
    for name in ("a", "ada", "zoe"):
        Person.objects.create(name=name, email=f"{name}@example.com")
    person_matching.record([ADA, ChatProfile("U7", "Zoe", "zoe@example.com")])
    assert Person.objects.count() == 3
    assert {one.email for one in Person.objects.exclude(chat_id=None)} == {"ada@example.com", "zoe@example.com"}


def test_whoever_has_an_account_of_their_own_is_not_joined_with_another(db: None) -> None:
    web, chat = met(user=account("boss", ""))
    person_matching.record([ADA])
    web.refresh_from_db()
    chat.refresh_from_db()
    assert (web.email, web.chat_id, chat.email) == ("Ada@example.com", None, "")
    assert web.user != chat.user


# other ids, as in another workspace


def moved(before: ChatProfile, *now: ChatProfile) -> Person:
    """Return a known person after the workspace has changed to only these people."""
    person_matching.record([before])
    person = known(before.chat_id)
    person_matching.follow([*now])
    person_matching.record([*now])
    person.refresh_from_db()
    return person


@pytest.mark.parametrize("email", ["ada@example.com", "ADA@Example.com"])
def test_whoever_has_an_address_in_another_workspace_is_the_same_person(db: None, email: str) -> None:
    assert moved(ADA, ChatProfile("U9", "Ada Okafor", email)).chat_id == "U9"


@pytest.mark.parametrize("email", ["", "ben@example.com", "ad\u00e0@example.com", "ada@example.com.evil"])
def test_nobody_else_is(db: None, email: str) -> None:
    assert moved(ADA, ChatProfile("U9", "Ada Okafor", email)).chat_id == "U1"


@pytest.mark.parametrize("field", FLAGS)
@pytest.mark.parametrize("there", [False, True])
def test_an_address_of_a_leaver_or_of_who_is_no_member_makes_nobody_the_same(db: None, field: str, there: bool) -> None:
    """A leaver's address may be given to a newcomer, who must not get what the leaver could see and do."""
    newcomer = ChatProfile("U9", "Ada Okafor", ADA.email)
    odd = {field: True}
    before, now = (ADA, replace(newcomer, **odd)) if there else (replace(ADA, **odd), newcomer)  # type: ignore[arg-type]  # by name
    assert moved(before, now).chat_id == "U1"
    assert known("U9").pk != known("U1").pk


def test_someone_known_by_another_address_is_not_made_one_with_who_had_this_one(secret: Incident) -> None:
    """Ben, who was here all along, takes Ada's address once she is not listed any more."""
    ben = ChatProfile("U9", "Ben", "ben@example.com")
    person_matching.record([ADA, ben])
    other = known("U9")
    lifecycle.bring_in(secret, people=[known()], by=None, at=timezone.now())
    now = [replace(ben, email=ADA.email)]
    assert person_matching.follow(now) == {}
    person_matching.record(now)
    assert known("U9") == other
    assert not visibility.may_see(other, secret)


def test_several_people_with_other_ids_are_followed_in_as_many_queries_as_two(db: None) -> None:
    def asked(count: int) -> int:
        Person.objects.all().delete()
        person_matching.record([ChatProfile(f"U{n}", f"p{n}", f"p{n}@example.com") for n in range(count)])
        with CaptureQueriesContext(connection) as queries:
            ids = person_matching.follow([ChatProfile(f"W{n}", f"p{n}", f"p{n}@example.com") for n in range(count)])
        assert ids == {f"U{n}": f"W{n}" for n in range(count)}
        assert set(Person.objects.values_list("chat_id", flat=True)) == set(ids.values())
        return len(queries)

    assert asked(20) == asked(2)
