"""The demo company's account in the pager cache: people, who is on call, and what stays while PagerDuty is away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from incidents import lifecycle
from incidents.models import IncidentType, Person
from integrations.pagerduty import fake
from integrations.pagerduty.tests.straight import StraightPager, pager_on
from integrations.slack import fake as slack
from integrations.tests.house import TOKEN, house
from workflows import ports
from workflows.models import PagerRead, PagerTarget, PagerUser, Shift
from workflows.oncall import freshness, lookup, people, refresh, roster
from workflows.planning.wording import marks
from workflows.reconcile import reconcile, sweep

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)  # a Monday
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
PLATFORM = "PSPLATFORMLEADERSHIP"


@dataclass(slots=True)
class Clock:
    """A clock that moves only when told."""

    at: datetime

    def __call__(self) -> float:
        return self.at.timestamp()


@dataclass(frozen=True, slots=True)
class Company:
    """The account, its clock, and the pager on it."""

    account: fake.FakeAccount
    pager: StraightPager
    clock: Clock

    @property
    def now(self) -> datetime:
        """Return the time."""
        return self.clock.at

    def keep(self, after: timedelta = timedelta()) -> bool:
        """Let some time pass, and read what is due."""
        self.clock.at += after
        return refresh.keep(at=self.now)

    def on(self, subject: str) -> list[str]:
        """Return the names of the people on call."""
        return [one.user.name for one in lookup.on_call([subject], at=self.now).get(subject, ())]


@pytest.fixture
def company() -> Iterator[Company]:
    """The demo workspace and the demo account, read once."""
    with house(slack.demo(bot_token=TOKEN)):
        clock = Clock(NOON)
        account = fake.demo(clock=clock)
        pager = pager_on(account)
        made = Company(account, pager, clock)
        with ports.using(chat=ports.chat(), pager=pager):
            assert made.keep()
            yield made


def why(pager_id: str) -> str:
    return people.unmatched()[PagerUser.objects.get(pager_id=pager_id).pk].says


def test_everybody_of_both_is_joined_and_the_rest_is_said(company: Company) -> None:
    matched = PagerUser.objects.exclude(person=None)
    assert matched.count() == 17
    oliver = matched.select_related("person").get(pager_id="PUOLIVER")
    assert oliver.person is not None
    assert oliver.person.name == "Oliver Lindqvist"
    unmatched = set(PagerUser.objects.filter(person=None).values_list("pager_id", flat=True))
    assert unmatched >= {"PUHANNAH", "PUZOE", "PUNOC", "PUTARIQ"}
    assert why("PUHANNAH") == "No one here has this email."
    assert why("PUZOE").startswith("This email belongs to a guest")


def test_schedules_of_both_versions_and_those_of_no_policy_are_known(company: Company) -> None:
    for schedule in PagerTarget.objects.filter(kind="schedule"):
        expected = sorted(company.account.user(one).name for one in company.account.acts.on_call(schedule.name))
        assert company.on(schedule.pager_id) == expected, schedule.name
        assert expected


def test_an_override_is_there_half_a_minute_later_and_gone_at_its_end(company: Company) -> None:
    before = company.on(PLATFORM)
    other = next(one for one in ("ada", "kofi") if one.capitalize() not in " ".join(before))
    now = company.now.timestamp()
    company.account.acts.set_override("Platform leadership", other, now + 600, now + 1200)
    company.keep(30 * timedelta(seconds=1))
    assert company.on(PLATFORM) == before
    assert company.keep(10 * MINUTE)
    assert [name.split()[0].lower() for name in company.on(PLATFORM)] == [other]
    assert company.keep(10 * MINUTE)
    assert company.on(PLATFORM) == before


def test_the_next_one_is_known_with_the_moment_of_the_hand_over(company: Company) -> None:
    (entry,) = roster.of(PagerTarget.objects.filter(pager_id=PLATFORM), at=company.now)
    (line,) = entry.lines
    assert line.next_at == datetime(2026, 11, 24, 9, tzinfo=UTC)
    assert [turn.name for turn in line.now] != [turn.name for turn in line.next]
    assert [turn.until for turn in line.now] == [line.next_at]


def test_an_account_that_is_away_leaves_what_was_known_and_a_sentence(company: Company) -> None:
    shifts = Shift.objects.count()
    before = company.on(PLATFORM)
    company.pager.rest.is_down = True
    for _ in range(20):
        assert not company.keep(MINUTE)
    assert Shift.objects.count() == shifts
    assert company.on(PLATFORM) == before
    said = marks.bare(freshness.of(at=company.now).words(at=company.now))
    assert said.startswith("PagerDuty has not responded since 20")
    company.pager.rest.is_down = False
    company.keep(3 * MINUTE)
    assert freshness.of(at=company.now).state == "fresh"
    assert PagerRead.objects.get().failed_at is None


def test_an_incident_from_before_the_first_read_is_looked_at_again_after_it(company: Company) -> None:
    PagerRead.objects.all().delete()
    PagerTarget.objects.all().delete()
    security = IncidentType.objects.get(slug="security")
    incident = lifecycle.declare("A token leaked", by=Person.objects.get(name="Farah Haddad"), at=NOON, type=security)
    reconcile.reconcile(incident.pk, at=company.now)
    assert incident.pk not in sweep.unsettled()
    assert company.keep()
    assert incident.pk in sweep.unsettled()


def test_looking_again_asks_little_and_writes_nothing(company: Company) -> None:
    company.account.calls.clear()
    with CaptureQueriesContext(connection) as queries:
        company.keep(MINUTE)
    written = [one["sql"] for one in queries if one["sql"].startswith(("INSERT", "DELETE"))]
    assert written == []
    assert {call.method for call in company.account.calls} == {"GET"}
    assert len(company.account.calls) <= 4
