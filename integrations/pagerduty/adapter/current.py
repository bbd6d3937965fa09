"""The configured PagerDuty account: one client per process, which a block can replace with another account's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from integrations.pagerduty.protocol import setup
from integrations.pagerduty.protocol.setup import Setup

if TYPE_CHECKING:  # only code that asks PagerDuty loads its client
    from integrations.pagerduty.adapter.client import PagerDutyPager


def pagerduty() -> PagerDutyPager | None:
    """Return the configured PagerDuty; None when it is left out. Its library is loaded by the first request."""
    if _instead:
        return _instead[-1]
    given = setup.current()
    return _pagerduty(given) if given else None


@contextmanager
def using(pager: PagerDutyPager) -> Iterator[None]:
    """Use another account behind the doors for the length of a block."""
    _instead.append(pager)
    try:
        yield
    finally:
        _instead.remove(pager)


_instead: list[PagerDutyPager] = []


@lru_cache(maxsize=4)
def _pagerduty(given: Setup) -> PagerDutyPager:
    from integrations.pagerduty.adapter.client import PagerDutyPager
    from integrations.pagerduty.adapter.route import KeptRoutes

    return PagerDutyPager(given, routes=KeptRoutes())
