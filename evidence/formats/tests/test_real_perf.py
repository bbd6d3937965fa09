"""The output of a real perf is read without a line left over; skipped if perf is not installed or not allowed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evidence.formats.perf import perf_script

BUSY = "import time; end = time.monotonic() + 0.3; any(time.monotonic() >= end for _ in iter(int, 1))"
_HEADER = re.compile(rb"\S.* (\d+) +(?:cpu|task)-clock\S*:")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record a busy Python with two clocks."""
    if not shutil.which("perf"):
        pytest.skip("perf is not installed")
    file = tmp_path_factory.mktemp("perf") / "perf.data"
    asked = ["perf", "record", "-q", "-e", "cpu-clock,task-clock", "-F", "500", "-g", "-o", str(file), "--"]
    done = subprocess.run([*asked, sys.executable, "-c", BUSY], capture_output=True, timeout=60, check=False)
    if done.returncode:
        pytest.skip("perf is not allowed to record here")
    return file


@pytest.mark.parametrize(
    "fields", [(), ("-F", "+srcline"), ("-F", "comm,pid,tid,time,period,event,ip,sym,dso"), ("--header",)]
)
def test_all_that_perf_prints_is_read(recorded: Path, fields: tuple[str, ...]) -> None:
    text = subprocess.run(
        ["perf", "script", "-i", recorded, *fields], capture_output=True, timeout=120, check=True
    ).stdout
    headers = [_HEADER.match(line) for line in text.splitlines()]
    periods = [int(header[1]) for header in headers if header]
    if not periods:
        pytest.skip("perf took no sample")
    assert perf_script.claim(text[: 1 << 16])
    stacks = perf_script.read(text)
    totals = {kind.name: total for kind, total in zip(stacks.sample_types, stacks.totals, strict=True)}
    assert totals["cpu-clock"] + totals["task-clock"] == sum(periods)
    assert totals["cpu-clock samples"] + totals["task-clock samples"] == len(periods)
    assert "skipped" not in stacks.about
