"""Laws over any PagerDuty account: the people shown as paged are the people who are paged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from incidents.models import Person
from integrations.pagerduty.fake import FakeAccount
from integrations.pagerduty.protocol import error_messages
from integrations.pagerduty.tests import odd_accounts as odd
from integrations.pagerduty.tests.odd_accounts import NOW
from integrations.pagerduty.tests.straight import SETUP, StraightPager, pager_on
from workflows import ports
from workflows.models import PagerRead, PagerTarget, Shift
from workflows.oncall import callees, in_use, pager_cache, refresh
from workflows.pager_port import PageRequest
from workflows.planning.pages import Callee
from workflows.ports import VendorError

GIVEN: Any = SETUP  # has the fields of the settings


def read(account: FakeAccount) -> StraightPager:
    """Read an account into the cache, as a worker does."""
    pager = pager_on(account)
    with ports.using(pager=pager):
        pager_cache.refresh(at=NOW)
        pager_cache.refresh_shifts(at=NOW)
    return pager


def said(ref: str) -> Callee:
    return callees.known([], asked=[ref], pager=True, at=NOW).asked[ref]


def rung(pager: StraightPager, callee: Callee) -> set[str]:
    """Page a callee; return the ids of the people notified."""
    before = len(pager.account.rang)
    try:
        pager.ring(PageRequest(callee.ref, callee.ref, callee.service, "It is down", "", ""))
    except VendorError as refused:
        if refused.code not in {"1015", "own_sender"}:  # no one is on call, or only the person who opens the page
            raise
    rang = pager.account.rang[before:]
    assert len({one.user for one in rang}) == len(rang), "everyone is rung once"
    return {one.user for one in rang}


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rotas=st.lists(odd.rotas, min_size=2, max_size=2),
    policies=st.lists(odd.policies, min_size=1, max_size=2),
    unruled=st.sets(st.sampled_from(odd.HANDLES)),
)
@example(rotas=[odd.EMPTY, odd.EMPTY], policies=[[["rota 0"], ["ann", "ann", "bob"], ["cat"]]], unruled=set())
@example(rotas=[odd.EMPTY, odd.EMPTY], policies=[[["ann", "firekind"]]], unruled=set())
@example(rotas=[odd.EMPTY, odd.EMPTY], policies=[[["ann", "bob"]]], unruled={"bob"})
def test_who_is_said_to_be_paged_is_who_is_paged(
    rotas: list[odd.Rota], policies: list[list[list[str]]], unruled: set[str]
) -> None:
    """People who have no rule that has PagerDuty notify them of a page are each reported as silent."""
    with transaction.atomic(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(django_settings, "FIREKIND", replace(django_settings.FIREKIND, pagerduty=GIVEN))
        account = odd.built(rotas, policies)
        for handle in unruled:
            account.user(handle).notified_of = ["low"]
        mute, pager = {account.user(handle).id for handle in unruled}, read(account)
        for n in range(len(policies)):
            for ref in (f"policy/PE{n}", f"service/PV{n}"):
                callee = said(ref)
                assert set(callee.ids) - mute == rung(pager, callee), (ref, callee.label)
                assert len(callee.silent) == len(mute.intersection(callee.ids))
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_who_was_never_read_is_said_to_be_paged_all_the_same() -> None:
    account = odd.built([odd.EMPTY, odd.EMPTY], [[["ann"]]])
    pager = read(account)
    account.add_policy("Policy 0", account.add_user("new", email="new@example.com").id, id="PE0")
    with ports.using(pager=pager):
        pager_cache.refresh_shifts(at=NOW + pager_cache.EVERY[pager_cache.What.SHIFTS])
    callee = said("policy/PE0")
    assert callee.names
    assert set(callee.ids) == rung(pager, callee) == {"PUNEW"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "is_paged"),
    [
        ("owner", True),
        ("admin", True),
        ("user", True),
        ("limited_user", True),
        ("observer", True),
        ("restricted_access", True),
        ("read_only_user", False),
        ("read_only_limited_user", False),
    ],
)
def test_whoever_is_offered_to_be_paged_can_be(role: str, is_paged: bool) -> None:
    account = odd.built([odd.EMPTY, odd.EMPTY], [[["bob"]]])
    account.user("ann").role = role
    Person.objects.create(name="Ann", email="Ann+Pager@example.com", chat_id="UANN")
    pager = read(account)
    offered = [one for one in callees.everyone(at=NOW) if one.ref == "user/PUANN"]
    assert bool(offered) == is_paged
    assert [rung(pager, one) for one in offered] == [{"PUANN"}] * is_paged
    if not is_paged:
        with pytest.raises(VendorError):
            pager.ring(PageRequest("k", "user/PUANN", "PV0", "It is down", "", ""))


@pytest.mark.django_db
@pytest.mark.parametrize("v3", [False, True])
@pytest.mark.parametrize(
    "path",
    [
        "/users",
        "/services",
        "/escalation_policies",
        "/schedules",
        "/schedules/*",
        "/v3/schedules",
        "/v3/schedules/*",
        "/oncalls",
    ],
)
def test_a_key_that_may_not_read_a_part_says_so_and_empties_nothing(path: str, v3: bool) -> None:
    account = odd.built([odd.EMPTY, odd.EMPTY], [[["ann"]]])
    account.add_schedule("Alone", ["ann"], v3=v3)
    pager = read(account)
    before = [*Shift.objects.order_by("pk").values_list("subject", "level", "user")]
    account.faults.add("forbidden", path=path)
    later = NOW + pager_cache.EVERY[pager_cache.What.DIRECTORY]
    with ports.using(pager=pager):
        refresh.keep(at=later)
    says = PagerRead.objects.get().says
    assert says in {"", error_messages.words("2010")}
    assert [*Shift.objects.order_by("pk").values_list("subject", "level", "user")] == before
    assert says or path.endswith("/*"), "what is of the other kind is not asked for"


@pytest.mark.django_db
@pytest.mark.parametrize("why", ["forbidden", "large", "hidden"])
def test_of_whom_it_is_not_known_who_is_on_call_nobody_says_that_no_one_is(why: str) -> None:
    account = odd.built([odd.EMPTY, odd.EMPTY], [[["ann"]]])
    policy = account.account.policies["PE0"]
    if why == "forbidden":
        account.faults.add("forbidden", path="/oncalls")
    if why == "large":
        for n in range(in_use.ALL_AT_MOST):
            account.add_schedule(f"Rota {n}", id=f"PS{n}")
    if why == "hidden":  # from a key that sees only what its teams see
        account.account.policies["PE9"] = replace(policy, id="PE9")
        account.account.services["PV0"].policy = "PE9"
    pager = pager_on(account)
    with ports.using(pager=pager):
        refresh.keep(at=NOW)
        if why == "hidden":
            PagerTarget.objects.filter(pager_id="PE9").delete()
            Shift.objects.filter(subject="PE9").delete()
    callee = said("service/PV0")
    assert callee.rings == callees.NOT_READ
    assert rung(pager, callee) == {"PUANN"}
