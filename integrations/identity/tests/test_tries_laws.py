"""Whatever hosts' clocks say, and however they are set, no limit is passed and none lasts longer than it says."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from integrations.identity import tries
from integrations.identity.models import Tries
from integrations.identity.tries import TryLimit
from integrations.tests.test_clock_jumps import HOUR_S, clock_off

LIMITS = (tries.PAIR, tries.PLACE, tries.ACCOUNT, tries.KNOWN, tries.CODE, tries.AGAIN, tries.BEGIN, tries.REUSE)
SKEW_S = 1 + tries.SKEW.total_seconds()
OFF = st.sampled_from([0.0, 0.0, 60.0, -60.0, HOUR_S, -HOUR_S, 24 * HOUR_S, -24 * HOUR_S])


class AnyClock(TestCase):
    """One subject tries, at one host or another."""

    @settings(max_examples=60)
    @given(limit=st.sampled_from(LIMITS), steps=st.lists(st.tuples(OFF, st.integers(0, 40)), min_size=2, max_size=70))
    def test_no_span_lets_more_pass_than_its_limit(self, limit: TryLimit, steps: list[tuple[float, int]]) -> None:
        Tries.objects.all().delete()
        at, begun, passed = timezone.now(), None, 0
        for off_s, later_s in steps:
            at += timedelta(seconds=later_s)
            wait_s = by_host(limit, at, off_s)
            assert wait_s <= limit.within_s + SKEW_S
            if begun is None or (at - begun).total_seconds() > limit.within_s + SKEW_S:
                begun, passed = at, 0
            passed += not wait_s
            assert passed <= 2 * limit.most, "at most those of two neighbouring spans"


def by_host(limit: TryLimit, at: datetime, off_s: float) -> int:
    """Try at a moment, on a host whose clock is off."""
    with clock_off(off_s):
        return tries.take({limit: "ada"}, at=at + timedelta(seconds=off_s))


@pytest.mark.parametrize("limit", LIMITS, ids=lambda one: str(one.name))
@pytest.mark.parametrize("ahead_s", [0.0, 60.0, HOUR_S, 24 * HOUR_S])
def test_once_the_clock_is_set_right_no_wait_is_longer_than_the_limit(
    db: None, limit: TryLimit, ahead_s: float
) -> None:
    now = timezone.now()
    waits = [tries.take({limit: "ada"}, at=now + timedelta(seconds=ahead_s)) for _ in range(limit.most)]
    assert not any(waits)
    assert tries.take({limit: "ada"}, at=now) <= limit.within_s + SKEW_S
    assert tries.take({limit: "ada"}, at=now + timedelta(seconds=limit.within_s + 1)) == 0
