"""The pager is read into a cache that outlives it: nothing it once said is lost while it is down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from incidents.models import Incident, IncidentType
from incidents.policies import types
from incidents.policies.policy import OneOf
from workflows import ports
from workflows.models import GroupRule, Page, PagerRead, PagerTarget, PagerUser, Shift, ShiftOverride
from workflows.oncall import lookup, overrides, pager_cache, refresh
from workflows.oncall.pager_cache import What
from workflows.pager_port import PagerPerson, Target, Turn
from workflows.ports import VendorError
from workflows.tests.oncall.pager import DOWN, FORBIDDEN, NINE, LittlePager, hours, small

pytestmark = pytest.mark.django_db

EARLY = hours(-0.5)
SECOND = timedelta(seconds=1)


@pytest.fixture
def pager() -> Iterator[LittlePager]:
    """Connect a small pager."""
    little = small()
    with ports.using(pager=little):
        yield little


def on(subject: str, *, hours_later: float) -> list[str]:
    found = lookup.on_call([subject], at=hours(hours_later))
    return [one.user.name for one in found.get(subject, ())]


def read() -> PagerRead:
    return PagerRead.objects.get()


def test_everything_is_read_once_and_then_only_what_is_due(pager: LittlePager) -> None:
    assert refresh.keep(at=EARLY)
    everything = ["people", "targets", "turns", "overrides"]
    assert pager.asked == everything
    assert not refresh.keep(at=EARLY + 29 * SECOND)
    assert pager.asked == everything
    assert not refresh.keep(at=EARLY + 30 * SECOND)
    assert pager.asked == [*everything, "turns"]
    refresh.keep(at=hours(-0.25))
    assert pager.asked[5:] == everything


def test_overrides_are_kept_as_last_told_and_who_is_on_call_never_waits_for_them(pager: LittlePager) -> None:
    schedule = pager.rota[0].subject
    pager.overridden = [Turn(schedule, 0, "PANN", NINE, hours(1)), Turn("elsewhere", 0, "PANN", NINE, hours(1))]
    refresh.keep(at=EARLY)
    assert [(one.schedule, one.user) for one in ShiftOverride.objects.all()] == [(schedule, "PANN")]
    pager.fails["overrides"] = DOWN
    pager_cache.refresh_shifts(at=EARLY + 16 * 60 * SECOND)
    assert pager.asked[-1] == "overrides"
    assert read().shifts_at == EARLY + 16 * 60 * SECOND
    assert read().failed_at is None
    assert ShiftOverride.objects.count() == 1
    pager.fails.clear()
    pager.overridden = []
    pager_cache.refresh_shifts(at=EARLY + 32 * 60 * SECOND)
    assert not ShiftOverride.objects.exists()


def test_a_large_account_is_asked_for_a_few_schedules_at_a_time_and_for_all_of_them(pager: LittlePager) -> None:
    pager.listed += [Target("schedule", f"S{n:02}", f"Rota {n}") for n in range(overrides.AT_ONCE * 2)]
    pager.overridden = [Turn(one.id, 0, "PANN", NINE, hours(1)) for one in pager.listed if one.kind == "schedule"]
    kept = []
    for n in range(4):
        refresh.keep(at=EARLY + n * 30 * SECOND)
        kept.append(ShiftOverride.objects.count())
    assert kept == [overrides.AT_ONCE, overrides.AT_ONCE * 2, len(pager.overridden), len(pager.overridden)]
    assert pager.asked.count("overrides") == 3


def test_while_nothing_is_due_two_questions_find_that_out(
    pager: LittlePager, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    refresh.keep(at=EARLY)
    pager.rota.append(Turn("SCH", 0, "PNEW", NINE, hours(1)))  # who is unknown, so that the directory is read soon
    pager_cache.refresh_shifts(at=EARLY + 3 * 60 * SECOND)
    with django_assert_num_queries(2):
        assert not refresh.keep(at=EARLY + 3 * 60 * SECOND + SECOND)


def test_without_a_pager_nothing_is_read() -> None:
    assert not refresh.keep(at=NINE)
    assert not pager_cache.refresh(at=NINE)
    assert not pager_cache.refresh_shifts(at=NINE)
    assert not PagerRead.objects.exists()


def test_who_is_on_call_changes_at_the_hand_over_by_itself(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    assert on("SCH", hours_later=-0.4) == ["Ann"]
    assert on("SCH", hours_later=0) == ["Ben"]
    assert on("POL", hours_later=0) == ["Ben"]


def test_right_after_a_hand_over_the_pager_is_asked_again(pager: LittlePager) -> None:
    refresh.keep(at=NINE - 3 * SECOND)
    pager.asked.clear()
    assert not refresh.keep(at=NINE - SECOND)
    assert pager.asked == []
    assert refresh.keep(at=NINE + SECOND), "somebody else is on call"
    assert pager.asked == ["turns"]
    assert not refresh.keep(at=NINE + 2 * SECOND)
    assert pager.asked == ["turns"]


def test_an_override_is_news_and_a_shift_of_next_week_is_none(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    pager.rota.append(Turn("SCH", 0, "PBEN", hours(150), hours(160)))
    assert not pager_cache.refresh_shifts(at=EARLY + 30 * SECOND)
    assert on("SCH", hours_later=151) == [], "so far ahead is read less often"
    pager.rota[0] = Turn("SCH", 0, "PBEN", hours(-1), NINE)
    assert pager_cache.refresh_shifts(at=EARLY + 60 * SECOND)
    assert on("SCH", hours_later=-0.1) == ["Ben"]
    pager_cache.refresh_shifts(at=EARLY + pager_cache.FAR_EVERY)
    assert on("SCH", hours_later=151) == ["Ben"]


def test_a_rota_that_moved_is_read_as_far_as_it_is_shown(pager: LittlePager) -> None:
    """A day of the new rota laid over two weeks of the old one would make up a shift where they meet."""

    def turns(moved: int) -> list[Turn]:
        return [Turn("SCH", 0, "PANN" if n % 2 else "PBEN", hours(24 * n - moved), hours(24 * (n + 1) - moved))
                for n in range(-2, 16)]  # fmt: skip

    pager.rota = turns(moved=0)
    refresh.keep(at=EARLY)
    pager.rota = turns(moved=5)
    pager.asked.clear()
    assert pager_cache.refresh_shifts(at=EARLY + 30 * SECOND)
    handed_over = {one.start_at for one in Shift.objects.filter(subject="SCH") if one.start_at}
    assert handed_over == {one.start for one in pager.rota if hours(-1) < (one.start or NINE) < hours(24 * 14 - 0.5)}
    pager.asked.clear()
    pager_cache.refresh_shifts(at=EARLY + 60 * SECOND)
    assert pager.asked == ["turns"], "and read far ahead once"


def test_several_people_on_one_shift_are_all_on_call(pager: LittlePager) -> None:
    pager.rota.append(Turn("SCH", 0, "PBEN", hours(-24), NINE))
    refresh.keep(at=EARLY)
    assert on("SCH", hours_later=-0.1) == ["Ann", "Ben"]


def test_reading_the_same_again_writes_nothing(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    before = set(Shift.objects.values_list("pk", flat=True))
    pager_cache.refresh_shifts(at=EARLY + 30 * SECOND)
    assert set(Shift.objects.values_list("pk", flat=True)) == before
    assert not pager_cache.refresh(at=EARLY + 30 * SECOND)


def test_what_a_window_cuts_off_is_not_known(pager: LittlePager) -> None:
    pager.rota = [Turn("SCH", 0, "PANN", EARLY - pager_cache.BACK, EARLY + pager_cache.AHEAD)]
    refresh.keep(at=EARLY)
    shift = Shift.objects.get()
    assert (shift.start_at, shift.end_at) == (None, None)


def test_shifts_that_nobody_has_any_more_are_let_go(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    pager.rota = [one for one in pager.rota if one.subject != "SCH"]
    assert pager_cache.refresh_shifts(at=EARLY + SECOND)
    assert on("SCH", hours_later=-0.1) == []
    assert on("POL", hours_later=-0.1) == ["Ann"]


@pytest.mark.parametrize("what", ["people", "targets", "turns"])
def test_a_pager_that_is_away_empties_nothing(pager: LittlePager, what: str) -> None:
    refresh.keep(at=EARLY)
    counts = [model.objects.count() for model in (PagerUser, PagerTarget, Shift)]
    pager.fails[what] = DOWN
    for minutes in range(60):
        assert not refresh.keep(at=EARLY + timedelta(minutes=minutes))
    assert counts == [model.objects.count() for model in (PagerUser, PagerTarget, Shift)]
    assert not PagerUser.objects.filter(gone=True).exists()
    assert on("SCH", hours_later=0.4) == ["Ben"]


def test_what_went_wrong_is_written_down_since_when_and_until_it_is_over(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    pager.fails["turns"] = DOWN
    first = EARLY + 31 * SECOND
    with pytest.raises(VendorError):
        pager_cache.refresh_shifts(at=first)
    with pytest.raises(VendorError):
        pager_cache.refresh_shifts(at=first + 40 * SECOND)
    assert (read().failed_at, read().says) == (first, "PagerDuty does not answer.")
    assert read().shifts_at == EARLY
    pager.fails.clear()
    pager_cache.refresh_shifts(at=first + 60 * SECOND)
    assert (read().failed_at, read().says, read().failing) == (None, "", What.NOTHING)


def test_a_pager_that_is_down_is_asked_less_and_less(pager: LittlePager) -> None:
    pager.fails |= {"people": DOWN, "turns": DOWN}
    for second in range(0, 900, 5):
        refresh.keep(at=EARLY + second * SECOND)
    assert 8 <= len(pager.asked) <= 20
    pager.fails.clear()
    pager.asked.clear()
    assert refresh.keep(at=EARLY + 1021 * SECOND)
    assert pager.asked == ["people", "targets", "turns", "overrides"]


def test_the_pager_is_left_alone_for_as_long_as_it_asks(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    busy = VendorError("PagerDuty asks to wait.", code="429", method="oncalls", retryable=True, retry_after=50)
    pager.fails["turns"] = busy
    refresh.keep(at=EARLY + 30 * SECOND)
    pager.asked.clear()
    refresh.keep(at=EARLY + 79 * SECOND)
    assert pager.asked == []
    refresh.keep(at=EARLY + 80 * SECOND)
    assert pager.asked == ["turns"]


def test_what_the_key_may_not_read_does_not_stop_the_rest(pager: LittlePager) -> None:
    refresh.keep(at=hours(-2))
    pager.fails["targets"] = FORBIDDEN
    refresh.keep(at=EARLY)
    refresh.keep(at=EARLY + 30 * SECOND)
    assert pager.asked.count("turns") == 3
    assert read().shifts_at == EARLY + 30 * SECOND
    assert read().says == "The key may not read services.", "it still may not"
    pager.fails.clear()
    refresh.keep(at=EARLY + 60 * SECOND)
    assert read().failing == What.NOTHING


def test_a_pager_that_lists_nobody_is_not_believed(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    pager.known = []
    with pytest.raises(VendorError, match="nobody"):
        pager_cache.refresh(at=NINE)
    assert PagerUser.objects.filter(gone=False).count() == 2
    assert "returned no users" in read().says


def test_the_gone_are_marked_and_come_back_as_they_were(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    ben, major = PagerUser.objects.get(pager_id="PBEN").pk, PagerTarget.objects.get(pager_id="POL").pk
    everybody, everything = pager.known, pager.listed
    pager.known, pager.listed = everybody[:1], everything[1:]
    assert pager_cache.refresh(at=NINE)
    assert PagerUser.objects.get(pk=ben).gone
    assert PagerTarget.objects.get(pk=major).gone
    assert lookup.named(["Major incident"], kinds=["policy"], among=lookup.listed()) == {"Major incident": None}
    pager.known, pager.listed = everybody, everything
    assert pager_cache.refresh(at=NINE)
    assert not PagerUser.objects.get(pk=ben).gone
    assert not PagerTarget.objects.get(pk=major).gone


def test_a_changed_name_is_taken_over(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    pager.known[0] = PagerPerson("PANN", "Ann Lee", "ann@example.com")
    pager.listed[0] = Target("policy", "POL", "Major", service="SRV", levels=3)
    assert pager_cache.refresh(at=NINE)
    assert PagerUser.objects.get(pager_id="PANN").name == "Ann Lee"
    assert PagerTarget.objects.get(pager_id="POL").levels == 3


def test_one_who_is_listed_twice_is_written_once(pager: LittlePager) -> None:
    pager.known += pager.known
    pager.listed += pager.listed
    refresh.keep(at=EARLY)
    assert PagerUser.objects.count() == 2


def test_somebody_unknown_on_call_is_looked_for(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    pager.rota.append(Turn("SCH", 0, "PNEW", None, None))
    pager.known.append(PagerPerson("PNEW", "Newt", "newt@example.com"))
    refresh.keep(at=EARLY + 60 * SECOND)
    assert on("SCH", hours_later=-0.1) == ["Ann", "a new user (PNEW)"]
    refresh.keep(at=EARLY + 125 * SECOND)
    assert on("SCH", hours_later=-0.1) == ["Ann", "Newt"]


def test_one_reader_at_a_time_and_a_dead_one_is_not_waited_for(pager: LittlePager) -> None:
    PagerRead.objects.create(pk=1, reading_until=EARLY + refresh.LEASE)
    assert not refresh.keep(at=EARLY)
    assert pager.asked == []
    assert refresh.keep(at=EARLY + refresh.LEASE)
    assert read().reading_until is None


def _ask(types_: dict[str, IncidentType], **what: object) -> None:
    for type in types_.values():
        types.edit(type, policy=replace(type.policy, **what), by=None, at=NINE)  # type: ignore[arg-type]  # two tuples


def test_what_is_new_in_the_account_is_read_far_ahead_at_once(pager: LittlePager) -> None:
    refresh.keep(at=EARLY)
    pager.listed.append(Target("schedule", "NEW", "Newly made"))
    pager.rota.append(Turn("NEW", 0, "PANN", hours(100), hours(200)))
    pager_cache.refresh(at=EARLY + SECOND)
    pager_cache.refresh_shifts(at=EARLY + 30 * SECOND)
    assert on("NEW", hours_later=150) == ["Ann"]


def test_a_large_account_is_read_as_far_as_anybody_asks(
    pager: LittlePager, incident: Incident, shipped: dict[str, IncidentType]
) -> None:
    pager.listed += [Target("schedule", f"S{n:03}", f"Schedule {n}") for n in range(200)]
    pager.listed += [Target("policy", "PO2", "Second line"), Target("policy", "PO3", "Paged by hand")]
    _ask(shipped, pages=(), one_of=())
    refresh.keep(at=EARLY)
    assert "turns" not in pager.asked, "nobody asks about any"
    GroupRule.objects.create(handle="leads", sources=[{"subject": "S007", "level": 0}], created_at=NINE)
    _ask({"major": shipped["major"]}, pages=("second LINE",), one_of=(OneOf("lead", schedule="Platform leadership"),))
    Page.objects.create(
        incident=incident, key="page/service/SRV", target="service/SRV", dedup_key="1", status_at=NINE, opened_at=NINE
    )
    pager_cache.refresh_shifts(at=EARLY + 30 * SECOND)
    assert pager.subjects == (["PO2", "POL"], ["S007", "SCH"])


def test_what_a_type_names_and_nobody_knows_is_looked_for(pager: LittlePager, shipped: dict[str, IncidentType]) -> None:
    _ask(shipped, pages=("Newly made",), one_of=())
    refresh.keep(at=EARLY)
    pager.listed.append(Target("policy", "NEW", "Newly made"))
    refresh.keep(at=EARLY + refresh.SOON)
    assert PagerTarget.objects.filter(pager_id="NEW").exists()
    pager.asked.clear()
    refresh.keep(at=EARLY + 2 * refresh.SOON)
    assert pager.asked == ["turns"]
