"""Half a minute of chaos with a fixed seed: every law of the long run holds, and something was done."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from stack.chaos import driving, scenario
from stack.chaos.acting import ACCEPTED
from stack.chaos.faults.breaking import FaultMaker
from stack.chaos.judging.unnamed_failures import UnnamedFailures
from stack.processes import stepped_clock
from stack.supervisor.throwaway import throwaway
from stack.tests.kills import PATIENCE_S

pytestmark = pytest.mark.workers


def test_half_a_minute_of_chaos_leaves_nothing_wrong(tmp_path: Path) -> None:
    plan = scenario.drawn(6, minutes=0.3, incidents=6)
    clocks, heard, failures = tmp_path / "clocks", list[str](), UnnamedFailures()
    stepped_clock.make(clocks)
    with throwaway(env={stepped_clock.SETTING: str(clocks)}, hear=failures.hear) as stack:
        run = driving.played(
            stack, plan, breaker=FaultMaker(stack, clocks=clocks), tell=heard.append, settle_s=PATIENCE_S
        )
    assert run.violations == []
    assert failures.lines == []
    assert not run.trouble
    done = Counter(one.act.kind for one in run.outcomes if one.said == ACCEPTED)
    assert done["declare"] >= 3
    assert len(done) >= 5
    assert len(run.faults) >= 4
