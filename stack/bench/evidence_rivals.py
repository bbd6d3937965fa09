"""Run a program and see what it costs; and the programs of others, when they are installed."""

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

HOME = Path(__file__).resolve().parent.parent.parent
KIB = 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took: seconds, the most memory in MiB (of its largest process), and what it printed."""

    seconds: float
    mib: float = 0.0
    output: bytes = b""


def run(command: Sequence[str | Path], *, into: Path | None = None) -> Cost:
    """Run a program to its end."""
    began = time.perf_counter()
    with (into or Path(os.devnull)).open("wb") as output:
        process = subprocess.Popen(list(map(str, command)), cwd=HOME, stdout=output)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    return Cost(time.perf_counter() - began, used.ru_maxrss / KIB)


def python(code: str, *words: str | Path) -> Callable[[], Cost]:
    """Return how to run some Python in a process of its own."""
    return lambda: run([sys.executable, "-c", code, *words])


def piped(*commands: Sequence[str | Path], middle: Path) -> Callable[[], Cost]:
    """Return how to run programs one after the other, each reading what the one before wrote."""

    def one_by_one() -> Cost:
        costs: list[Cost] = []
        for command in commands:
            costs.append(run([*command, middle] if costs else command, into=middle if not costs else None))
        return Cost(sum(cost.seconds for cost in costs), max(cost.mib for cost in costs))

    return one_by_one


def installed(name: str) -> str:
    """Return the path of a program, from ``FIREKIND_INFERNO`` or ``PATH``; nothing when it is not there."""
    return shutil.which(name, path=os.environ.get("FIREKIND_INFERNO")) or shutil.which(name) or ""


def paired(
    ours: Callable[[], Cost], theirs: Callable[[], Cost] | None, *, times: int
) -> tuple[Cost, Cost | None, float]:
    """Run both in turn; return the medians of each, and the median of what ours took in units of theirs."""
    pairs = [(ours(), theirs() if theirs else None) for _ in range(times)]
    ratios = [one.seconds / other.seconds for one, other in pairs if other]
    others = [other for _, other in pairs if other]
    return _middle([one for one, _ in pairs]), _middle(others) if others else None, median(ratios) if ratios else 0.0


def _middle(costs: Sequence[Cost]) -> Cost:
    return Cost(median(cost.seconds for cost in costs), max(cost.mib for cost in costs), costs[-1].output)
