"""Pager users are matched by email once and then pinned; people who must not be on call never are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Person
from incidents.people import person_matching as registry
from workflows import ports
from workflows.models import PagerUser
from workflows.oncall import pager_cache, people
from workflows.oncall.people import Matched
from workflows.pager_port import PagerPerson
from workflows.tests.oncall.pager import NINE, LittlePager, small

pytestmark = pytest.mark.django_db

LATER = NINE + timedelta(hours=1)
FLAGS = ("is_guest", "is_bot", "is_external", "deactivated")


@pytest.fixture
def pager() -> Iterator[LittlePager]:
    """Connect a small pager."""
    little = small()
    with ports.using(pager=little):
        yield little


def here(name: str, email: str = "", *, flags: Iterable[str] = ()) -> Person:
    return Person.objects.create(name=name, chat_id=f"U{name.upper()}", email=email, **dict.fromkeys(flags, True))


def who(pager_id: str = "PANN") -> PagerUser:
    return PagerUser.objects.select_related("person").get(pager_id=pager_id)


def why(pager_id: str = "PANN") -> str:
    return people.unmatched()[who(pager_id).pk].says


# Pure: which of the people with the same email it is.

ANN = Person(pk=1, name="Ann")


@pytest.mark.parametrize(
    ("email", "found", "more", "says"),
    [
        ("ann@x", [ANN], {}, ""),
        ("", [ANN], {}, "PagerDuty has no email for them."),
        ("ann@x", [], {}, "No one here has this email."),
        ("ann@x", [ANN, Person(pk=2, name="Anna")], {}, "Several people here have this email."),
        ("Ann@x", [ANN], {"twins": {"ann@x"}}, "Several people in PagerDuty have this email."),
        ("ann@x", [ANN], {"taken": {1}}, "Ann is already matched to another PagerDuty user."),
        ("ann@x", [Person(name="G", is_guest=True)], {}, "This email belongs to a guest"),
        ("ann@x", [Person(name="B", is_bot=True)], {}, "This email belongs to a bot."),
        (
            "ann@x",
            [Person(name="E", is_external=True)],
            {},
            "This email belongs to someone from another workspace.",
        ),
        ("ann@x", [Person(name="L", deactivated=True)], {}, "This email belongs to someone who has left."),
    ],
)
def test_who_somebody_is_or_why_nobody_knows(
    email: str, found: list[Person], more: dict[str, set[str]], says: str
) -> None:
    met = people.meet(PagerUser(email=email), people=found, **more)  # type: ignore[arg-type]  # a table of arguments
    assert met.says.startswith(says)
    assert (met.person is None) == bool(met.says)
    assert bool(met.says) == bool(says)


# With rows.


def test_an_email_joins_whatever_its_case(pager: LittlePager) -> None:
    ann = here("Ann", "ANN@Example.com")
    assert pager_cache.refresh(at=NINE)
    assert who().person == ann
    assert (who().matched, who().matched_at) == (Matched.EMAIL, NINE)
    assert why("PBEN") == "No one here has this email."


def test_once_joined_a_change_of_email_on_either_side_changes_nothing(pager: LittlePager) -> None:
    ann, other = here("Ann", "ann@example.com"), here("Other", "other@example.com")
    pager_cache.refresh(at=NINE)
    pager.known[0] = PagerPerson("PANN", "Ann", "other@example.com")
    pager_cache.refresh(at=LATER)
    assert who().person == ann
    Person.objects.filter(pk=ann.pk).update(email="new@example.com")
    Person.objects.filter(pk=other.pk).update(email="ann@example.com")
    pager.known[0] = PagerPerson("PANN", "Ann", "ann@example.com")
    pager_cache.refresh(at=LATER)
    assert who().person == ann


def test_who_is_joined_already_is_not_joined_again(pager: LittlePager) -> None:
    ann = here("Ann", "ann@example.com")
    pager_cache.refresh(at=NINE)
    pager.known[0] = PagerPerson("PANN", "Ann", "ann.lee@example.com")
    pager.known.append(PagerPerson("PAN2", "Ann again", "ann@example.com"))
    pager_cache.refresh(at=LATER)
    assert (who().person, who("PAN2").person) == (ann, None)
    assert why("PAN2") == "Ann is already matched to another PagerDuty user."


def test_who_was_made_anew_in_the_pager_is_joined_anew(pager: LittlePager) -> None:
    ann = here("Ann", "ann@example.com")
    pager_cache.refresh(at=NINE)
    pager.known[0] = PagerPerson("PAN2", "Ann", "ann@example.com")
    pager_cache.refresh(at=LATER)
    assert who("PAN2").person == ann
    assert who().gone


def test_the_same_email_twice_in_the_pager_joins_nobody(pager: LittlePager) -> None:
    here("Ann", "ann@example.com")
    pager.known.append(PagerPerson("PAN2", "Anna", "Ann@example.com"))
    pager_cache.refresh(at=NINE)
    assert (who().person, who("PAN2").person) == (None, None)
    assert why() == why("PAN2") == "Several people in PagerDuty have this email."


def test_who_comes_to_the_workspace_later_is_joined_with_the_next_shifts(pager: LittlePager) -> None:
    pager_cache.refresh(at=NINE)
    ann = here("Ann", "ann@example.com")
    assert pager_cache.refresh_shifts(at=LATER)
    assert who().person == ann


@pytest.mark.parametrize("flag", FLAGS)
def test_one_of_those_cannot_be_matched_by_hand_either(pager: LittlePager, ada: Person, flag: str) -> None:
    pager_cache.refresh(at=NINE)
    with pytest.raises(lifecycle.BadInput, match="cannot be brought in"):
        people.match(who(), person=here("Zed", flags=[flag]), by=ada, at=NINE)
    assert who().person is None


def test_parted_by_hand_stays_parted_until_matched_by_hand(pager: LittlePager, ada: Person) -> None:
    ann = here("Ann", "ann@example.com")
    pager_cache.refresh(at=NINE)
    people.part(who(), by=ada, at=LATER)
    pager_cache.refresh(at=LATER)
    pager_cache.refresh_shifts(at=LATER)
    assert (who().person, who().matched, who().matched_by) == (None, Matched.PARTED, ada)
    assert why().startswith("Unlinked by Ada")
    people.match(who(), person=ann, by=ada, at=LATER)
    assert (who().person, who().matched) == (ann, Matched.HAND)


def test_an_account_that_became_one_with_somebody_of_the_chat_is_followed(pager: LittlePager) -> None:
    account = Person.objects.create(name="Ann", email="ann@example.com", user=User.objects.create_user("ann-account"))
    met = registry.by_chat_id("UANN", name="ann")
    pager_cache.refresh(at=NINE)
    assert who().person == account
    registry.record([registry.ChatProfile("UANN", "Ann", "ann@example.com")])
    pager_cache.refresh_shifts(at=LATER)
    assert who().person == met


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_happens_nobody_is_joined_who_must_not_be_and_pins_hold(data: st.DataObject, db: None) -> None:
    PagerUser.objects.all().delete()
    Person.objects.all().delete()
    emails = st.sampled_from(["", "a@x", "A@x", "b@x", "c@x"])
    ids = st.sampled_from(["P1", "P2", "P3"])
    drawn = data.draw(st.dictionaries(emails.map(str.lower), st.sets(st.sampled_from(FLAGS), max_size=1)))
    for number, (email, flags) in enumerate(drawn.items()):
        here(f"N{number}", email, flags=flags)
    pins: dict[str, int] = {}
    for hour in range(4):
        known = data.draw(st.dictionaries(ids, emails, min_size=1))
        pager = LittlePager(known=[PagerPerson(id, id, email) for id, email in known.items()])
        with ports.using(pager=pager):
            pager_cache.refresh(at=NINE + timedelta(hours=hour))
        for user in PagerUser.objects.exclude(person=None).select_related("person"):
            assert user.person is not None
            assert user.person.can_join
            assert pins.setdefault(user.pager_id, user.person.pk) == user.person.pk
