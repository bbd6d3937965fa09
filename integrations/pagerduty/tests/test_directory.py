"""The people and targets that can be paged, and who is on call when, as the stand-in account reports them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from integrations.pagerduty import fake
from integrations.pagerduty.adapter.route import KeptRoutes
from integrations.pagerduty.adapter.shifts import merged
from integrations.pagerduty.tests.straight import StraightPager, pager_on
from workflows.pager_port import Target, Turn
from workflows.ports import VendorError

NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY: Final = timedelta(days=1)


@pytest.fixture
def pager() -> StraightPager:
    return pager_on(fake.demo(clock=NOON.timestamp))


def bare() -> StraightPager:
    """Return a pager on an account with three people and nothing else."""
    account = fake.FakeAccount(clock=NOON.timestamp)
    for handle in ("ada", "ben", "cy"):
        account.add_user(handle)
    return pager_on(account)


def turns(pager: StraightPager, *, policies: Sequence[str] = (), schedules: Sequence[str] = ()) -> list[Turn]:
    """Read the turns of two days."""
    return list(pager.turns(policies=policies, schedules=schedules, since=NOON, until=NOON + 2 * DAY))


def named(targets: Sequence[Target], name: str) -> Target:
    """Return the target with that name."""
    (found,) = (one for one in targets if one.name == name)
    return found


def test_everybody_is_read_with_address_and_page() -> None:
    pager = bare()
    for n in range(230):
        pager.account.add_user(f"p{n}")
    people = pager.people()
    assert len({one.id for one in people}) == 233
    assert (people[0].name, people[0].email) == ("Ada", "ada@example.com")
    assert people[0].url == "https://sandbox.example/users/PUADA"


def test_policies_services_and_schedules_of_both_kinds_are_targets(pager: StraightPager) -> None:
    targets = pager.targets()
    kinds = [one.kind for one in targets]
    assert (kinds.count("policy"), kinds.count("service"), kinds.count("schedule")) == (4, 5, 6)
    assert named(targets, "Engineering on call").url.endswith("/schedules/PSENGINEERINGONCALL")
    assert len({one.id for one in targets}) == len(targets)


def test_a_policy_is_paged_on_its_first_service_and_knows_its_levels(pager: StraightPager) -> None:
    policy = named(pager.targets(), "Engineering")
    assert (policy.service, policy.policy, policy.levels) == ("PVCHECKOUTAPI", policy.id, 2)
    assert policy.schedules == (("PSENGINEERINGONCALL",), ("PSPLATFORMLEADERSHIP",))


def test_a_policy_without_a_service_is_paged_on_the_one_that_settings_name(pager: StraightPager) -> None:
    pager.account.add_policy("Data", "ada")
    assert named(pager.targets(), "Data").service == "PVFIREKIND"
    assert named(pager_on(pager.account, service="").targets(), "Data").service == ""


def test_a_service_that_is_switched_off_is_no_target_and_no_place_for_pages(pager: StraightPager) -> None:
    pager.account.service("checkout-api").status = "disabled"
    targets = pager.targets()
    assert "checkout-api" not in {one.name for one in targets}
    assert named(targets, "Engineering").service == "PVPAYMENTS"


@pytest.mark.parametrize(
    ("paused", "opened_on"),
    [
        ([], "PVCHECKOUTAPI"),
        (["checkout-api"], "PVPAYMENTS"),
        (["checkout-api", "payments"], "PVFIREKIND"),
        (["checkout-api", "payments", "Firekind"], "PVCHECKOUTAPI"),
    ],
)
def test_a_policy_is_paged_on_no_service_in_a_maintenance_window_while_there_is_another(
    pager: StraightPager, paused: list[str], opened_on: str
) -> None:
    for name in paused:
        pager.account.service(name).status = "maintenance"
    targets = pager.targets()
    assert named(targets, "Engineering").service == opened_on
    assert {one.name for one in targets if one.paused} == set(paused)


def test_a_service_is_paged_on_itself(pager: StraightPager) -> None:
    service = named(pager.targets(), "payments")
    assert (service.service, service.policy) == (service.id, "PEENGINEERING")


@pytest.mark.django_db
def test_where_the_routing_key_leads_is_kept_for_every_process(pager: StraightPager) -> None:
    learning = pager_on(pager.account, routes=KeptRoutes())
    assert learning.fallback_service() == ""
    learning.targets()
    another = pager_on(pager.account, routes=KeptRoutes())
    another.rest.is_down = True
    assert another.fallback_service() == "PVFIREKIND"
    assert another.is_on_fallback_service("PVFIREKIND")
    assert not another.is_on_fallback_service("PVPAYMENTS")
    assert not another.is_on_fallback_service("")
    assert pager_on(pager.account, routing_key="0" * 32, routes=KeptRoutes()).fallback_service() == ""


@pytest.mark.django_db
def test_an_integration_that_moved_is_learnt_anew(pager: StraightPager) -> None:
    moving = pager_on(pager.account, routes=KeptRoutes())
    moving.targets()
    pager.account.service("payments").integrations += pager.account.service("Firekind").integrations
    pager.account.service("Firekind").integrations = []
    moving.targets()
    assert moving.fallback_service() == "PVPAYMENTS"


def test_the_levels_of_a_policy_are_told_apart_and_somebody_may_always_be_on(pager: StraightPager) -> None:
    found = turns(pager, policies=["PESECURITY"])
    assert {(one.level, one.user) for one in found} == {(1, "PUFARAH"), (2, "PUFARAH")}
    always = [one for one in found if one.level == 2]
    assert [(one.start, one.end) for one in always] == [(None, None)]


def test_a_schedule_in_two_policies_is_read_once(pager: StraightPager) -> None:
    assert len(pager.account.policy("Engineering").levels) == len(pager.account.policy("Major incidents").levels) == 2
    found = turns(pager, schedules=["PSENGINEERINGONCALL"])
    assert len(found) == len(set(found))
    assert {one.level for one in found} == {0}


def test_several_may_be_on_one_schedule_at_once_and_nobody_is_left_out(pager: StraightPager) -> None:
    now = [one for one in turns(pager, schedules=["PSENGINEERINGONCALL"]) if one.start and one.start <= NOON]
    assert {one.user for one in now} == {"PUWEI", "PUMATEO"}  # no one is on the third rotation at noon
    assert all(one.end and one.end > NOON for one in now)


@pytest.mark.parametrize("v3", [False, True])
def test_a_schedule_that_no_policy_uses_is_read_by_itself(v3: bool) -> None:
    pager = bare()
    schedule = pager.account.add_schedule("Alone", ["ada", "ben"], v3=v3)
    found = turns(pager, schedules=[schedule.id])
    nine = NOON.replace(hour=9)
    assert {one.user for one in found} == {"PUADA", "PUBEN"}
    assert nine + DAY in {one.start for one in found}
    assert {(one.subject, one.level) for one in found} == {(schedule.id, 0)}


def test_an_override_is_honoured_to_the_minute() -> None:
    pager = bare()
    schedule = pager.account.add_schedule("Primary", ["ada", "ben"])
    pager.account.add_policy("Primary", "Primary")
    ten_past = NOON.replace(hour=9, minute=10) + DAY
    override = fake.Override("PO1", "PUCY", ten_past.timestamp(), (ten_past + timedelta(hours=1)).timestamp())
    schedule.overrides.append(override)
    found = turns(pager, schedules=[schedule.id])
    at = ten_past - timedelta(minutes=10)
    (cy,) = (one for one in found if one.user == "PUCY")
    assert (cy.start, cy.end) == (ten_past, ten_past + timedelta(hours=1))
    (ben,) = (one for one in found if one.user == "PUBEN" and one.start == at)
    assert ben.end == ten_past


@pytest.mark.parametrize("v3", [False, True])
def test_overrides_are_told_apart_with_a_read_for_each_schedule(v3: bool) -> None:
    pager = bare()
    alone, other = (pager.account.add_schedule(name, ["ada", "ben"], v3=v3) for name in ("Alone", "Other"))
    pager.account.add_policy("Other", "Other")
    begins, ends = (NOON + timedelta(hours=hour) for hour in (1, 3))
    pager.account.acts.set_override("Alone", "cy", begins.timestamp(), ends.timestamp())
    found = pager.overrides(schedules=[alone.id, other.id, alone.id, "PSGONE"], since=NOON, until=NOON + 2 * DAY)
    assert found == [Turn(alone.id, 0, "PUCY", begins, ends)]
    assert len([call for call in pager.account.calls if alone.id in call.path]) == (2 if v3 else 1)
    pager.account.faults.add("server_error", path="/v3/schedules/*" if v3 else "/schedules/*")
    with pytest.raises(VendorError, match="unavailable"):
        pager.overrides(schedules=[alone.id], since=NOON, until=NOON + 2 * DAY)


def test_a_schedule_that_is_gone_has_no_turns_and_spoils_no_other(pager: StraightPager) -> None:
    found = turns(pager, schedules=["PSGONE", "PSSUPPORTONCALL"])
    assert {one.subject for one in found} == {"PSSUPPORTONCALL"}


def test_a_reading_that_fails_is_not_taken_for_nobody(pager: StraightPager) -> None:
    pager.account.faults.add("server_error", path="/v3/schedules/*")
    with pytest.raises(VendorError, match="unavailable"):
        turns(pager, schedules=["PSCOMMUNICATIONSONCALL"])
    pager.account.faults.add("server_error", path="/oncalls")
    with pytest.raises(VendorError, match="unavailable"):
        turns(pager, policies=["PESUPPORT"])


def test_many_subjects_take_few_requests() -> None:
    pager = bare()
    for n in range(120):
        pager.account.add_schedule(f"S{n}", ["ada", "ben"], turn_s=7 * 86_400)
        pager.account.add_policy(f"E{n}", f"S{n}")
    turns(pager, policies=[f"PEE{n}" for n in range(120)], schedules=[f"PSS{n}" for n in range(120)])
    calls = [call.path for call in pager.account.calls]
    assert set(calls) == {"/oncalls"}
    assert len(calls) <= 12


def test_nothing_asked_asks_nothing(pager: StraightPager) -> None:
    assert turns(pager) == []
    assert not list(pager.account.calls)


moments = st.one_of(st.none(), st.integers(0, 40).map(lambda n: NOON + timedelta(hours=n)))
a_turn = st.builds(Turn, st.just("S"), st.just(0), st.sampled_from(["a", "b"]), moments, moments).filter(
    lambda turn: turn.start is None or turn.end is None or turn.start < turn.end
)


def on_at(turns: Sequence[Turn], at: datetime) -> set[str]:
    """Return who is on call at a time."""
    return {one.user for one in turns if (one.start is None or one.start <= at) and (one.end is None or at < one.end)}


@given(st.lists(a_turn, max_size=12))
def test_merging_changes_nobodys_time(given_turns: list[Turn]) -> None:
    whole = merged(given_turns)
    for n in range(-1, 42):
        at = NOON + timedelta(hours=n, minutes=30)
        assert on_at(whole, at) == on_at(given_turns, at)
        assert len([one for one in whole if on_at([one], at)]) == len(on_at(whole, at))
    assert merged(whole) == whole
