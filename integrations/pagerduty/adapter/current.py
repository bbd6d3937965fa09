"""The account that settings name, one client a process, and another in its place for the length of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from integrations.pagerduty.protocol import setup
from integrations.pagerduty.protocol.setup import Setup

if TYPE_CHECKING:  # only those who ask PagerDuty load what asks
    from integrations.pagerduty.adapter.client import PagerDutyPager


def pagerduty() -> PagerDutyPager | None:
    """Return PagerDuty as settings name it; None when it is left out. The first request alone loads its library."""
    if _instead:
        return _instead[-1]
    given = setup.current()
    return _pagerduty(given) if given else None


@contextmanager
def using(pager: PagerDutyPager) -> Iterator[None]:
    """Put another account behind the doors for the length of a block."""
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
