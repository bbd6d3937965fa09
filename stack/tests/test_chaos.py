"""Half a minute of chaos with a fixed seed: every law of the long run holds, and something was done."""

from __future__ import annotations

import time
from collections import Counter
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx
import psutil
import pytest

from stack.chaos import driving, houses, scenario
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


def test_clocks_are_stepped_and_workers_keep_up_in_a_house_of_other_types(tmp_path: Path) -> None:
    clocks = tmp_path / "clocks"
    stepped_clock.make(clocks)
    env = {stepped_clock.SETTING: str(clocks), **houses.drawn(4, folder=tmp_path)}
    assert "INCIDENT_TYPES_FILE" in env
    with throwaway(processes=["web", "worker"], env=env) as stack:
        stepped_clock.step(clocks, "web", 3600)
        deadline = time.monotonic() + PATIENCE_S
        while _clock_of(stack.base_url) < time.time() + 3000:
            assert time.monotonic() < deadline, "its clock is not stepped"
            time.sleep(0.1)
        assert psutil.Process(stack.processes["worker"].pid).nice() == psutil.Process().nice()


def _clock_of(url: str) -> float:
    return parsedate_to_datetime(httpx.get(f"{url}/health").headers["date"]).timestamp()
