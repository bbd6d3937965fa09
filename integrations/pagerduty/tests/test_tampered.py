"""A field of PagerDuty's answer is missing, null or of another type: it is read alike or refused, never recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx2
import pytest

from integrations.pagerduty import fake
from integrations.pagerduty.tests.straight import StraightPager, StraightTransport, pager_on
from integrations.tests import tampering
from workflows.pager_port import PageRequest
from workflows.ports import VendorError

SINCE: Final = datetime.now(UTC) - timedelta(hours=1)
UNTIL: Final = SINCE + timedelta(days=2)
KEY: Final = "firekind-0123456789abcdef"
SCHEDULES: Final = ("PSSECURITYONCALL", "PSPLATFORMLEADERSHIP", "PSCOMMUNICATIONSONCALL")


def ring(key: str) -> PageRequest:
    """Return a request for a page of the security policy."""
    return PageRequest(key=key, target="policy/PESECURITY", service="", title="amber-otter", details="d", link="l")


Call = Callable[[StraightPager, str], object]
CALLS: Final[dict[str, Call]] = {
    "ring": lambda pager, page: pager.ring(ring(KEY + "2")),
    "find": lambda pager, page: pager.find(KEY, service="", since=SINCE),
    "find first": lambda pager, page: pager.find(KEY, service="", since=SINCE, first=True),
    "twins": lambda pager, page: pager.twins("QOTHER", key=KEY, since=SINCE),
    "open": lambda pager, page: pager.open_incidents(since=SINCE),
    "look": lambda pager, page: pager.look(page),
    "retitle": lambda pager, page: pager.retitle(page, "amber-otter again", key=KEY),
    "acknowledge": lambda pager, page: pager.acknowledge(page, by="farah@example.com"),
    "note": lambda pager, page: pager.note(page, "t"),
    "people": lambda pager, page: pager.people(),
    "targets": lambda pager, page: pager.targets(),
    "turns": lambda pager, page: pager.turns(policies=["PESECURITY"], schedules=SCHEDULES, since=SINCE, until=UNTIL),
    "overrides": lambda pager, page: pager.overrides(schedules=SCHEDULES, since=SINCE, until=UNTIL),
}


class Kept(StraightTransport):
    """Answers as the account does and keeps that, or with what was ``told``, and after that not at all."""

    def __init__(self, account: fake.FakeAccount, told: list[tuple[int, Any]] | None = None) -> None:
        super().__init__(account)
        self.told = told
        self.kept: list[tuple[int, Any]] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.told is None:
            response = super().handle_request(request)
            self.kept.append((response.status_code, json.loads(response.read() or b"null")))
            status, body = self.kept[-1]
        elif self.told:
            status, body = self.told.pop(0)
        else:
            raise httpx2.ConnectError("refused", request=request)
        return httpx2.Response(status, json=body)


def pager(account: fake.FakeAccount, told: list[tuple[int, Any]] | None = None) -> tuple[StraightPager, Kept]:
    """Return a pager without a fallback whose answers are kept, or those that are told."""
    made = pager_on(account, routing_key="")
    made.rest = Kept(account, told)
    return made, made.rest


@pytest.mark.parametrize("named", sorted(CALLS))
def test_no_field_of_another_type_is_taken_for_an_answer(named: str) -> None:
    account = fake.demo()
    first, kept = pager(account)
    page = first.ring(ring(KEY)).id
    kept.kept.clear()
    CALLS[named](first, page)
    assert kept.kept
    for how, told in tampering.retold(kept.kept):
        with suppress(VendorError):
            result = CALLS[named](pager(account, told)[0], page)
            assert not tampering.taken(result), (how, result)
