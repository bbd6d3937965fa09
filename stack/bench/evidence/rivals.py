"""Run a program and measure its cost; and find other tools, if installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HOME = Path(__file__).resolve().parents[3]
KIB = 1024
# A process's peak memory is at least that of its parent at fork, so a small intermediate process starts and measures
# it.
START = """
import os, sys, time
began = time.perf_counter()
_, status, used = os.wait4(os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ), 0)
os.write(int(sys.argv[1]), f"{time.perf_counter() - began} {used.ru_utime + used.ru_stime} {used.ru_maxrss}".encode())
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one run: seconds, processor seconds, and peak memory in MiB (of its largest process)."""

    seconds: float
    processor: float = 0.0
    mib: float = 0.0


def run(command: Sequence[str | Path], *, into: Path | None = None) -> Cost:
    """Run a program to its end."""
    answer, answers = os.pipe()
    starter = [sys.executable, "-I", "-S", "-c", START, str(answers), *map(str, command)]
    with os.fdopen(answer) as said, (into or Path(os.devnull)).open("wb") as output:
        try:
            subprocess.run(starter, cwd=HOME, stdout=output, pass_fds=[answers], check=True)
        finally:
            os.close(answers)
        seconds, processor, kib = map(float, said.read().split())
    return Cost(seconds, processor, kib / KIB)


def here(task: Callable[[], object]) -> Cost:
    """Run a task in this process."""
    began, worked = time.perf_counter(), time.process_time()
    task()
    return Cost(time.perf_counter() - began, time.process_time() - worked)


def python(code: str, *words: str | Path) -> Callable[[], Cost]:
    """Return a function that runs some Python in a separate process."""
    return lambda: run([sys.executable, "-c", code, *words])


def piped(*commands: Sequence[str | Path], middle: Path) -> Callable[[], Cost]:
    """Return a function that runs programs one after the other, each reading the previous one's output."""

    def one_by_one() -> Cost:
        costs: list[Cost] = []
        for command in commands:
            costs.append(run([*command, middle] if costs else command, into=middle if not costs else None))
        return Cost(
            sum(cost.seconds for cost in costs), sum(cost.processor for cost in costs), max(cost.mib for cost in costs)
        )

    return one_by_one


def installed(name: str) -> str:
    """Return the path of a program, from ``FIREKIND_INFERNO`` or ``PATH``; empty if it is missing."""
    return shutil.which(name, path=os.environ.get("FIREKIND_INFERNO")) or shutil.which(name) or ""


def paired(
    ours: Callable[[], Cost], theirs: Callable[[], Cost] | None, *, times: int
) -> tuple[Cost, Cost | None, float]:
    """Run both in turn; return the medians of each, and the median ratio of ours to theirs."""
    pairs = [(ours(), theirs() if theirs else None) for _ in range(times)]
    ratios = [one.seconds / other.seconds for one, other in pairs if other]
    others = [other for _, other in pairs if other]
    return _middle([one for one, _ in pairs]), _middle(others) if others else None, median(ratios) if ratios else 0.0


def _middle(costs: Sequence[Cost]) -> Cost:
    seconds, processor = (median(getattr(cost, part) for cost in costs) for part in ("seconds", "processor"))
    return Cost(seconds, processor, max(cost.mib for cost in costs))
