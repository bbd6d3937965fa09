"""Resident memory of web, worker and beat at rest, and how much of a processor they use."""

from __future__ import annotations

import time

import psutil

from stack.bench.table import Figure, ReportTable
from stack.supervisor.running import Stack

PROCESSES = ("web", "worker", "beat")
BESIDE = "evidence"  # captures and reads; what it reads is read by a process that ends
MIB = 1024 * 1024
AT_REST_S = 60


def measure(stack: Stack, table: ReportTable, *, when: str) -> None:
    """Add up whole process trees; the proportional share is told beside it where the system knows it."""
    table.head(f"Memory of web, worker and beat together, {when}")
    used = {name: [_used(one) for one in _tree(stack.processes[name].pid)] for name in PROCESSES}
    total = sum(resident for tree in used.values() for resident, _ in tree)
    shares = [share for tree in used.values() for _, share in tree]
    each = ", ".join(f"{name} {sum(resident for resident, _ in tree):.0f}" for name, tree in used.items())
    beside = sum(resident for resident, _ in map(_used, _tree(stack.processes[BESIDE].pid)))
    reference = f"{each}, beside them {BESIDE} {beside:.0f}" + (f"; PSS {sum(shares):.0f} MiB" if all(shares) else "")
    table.add(Figure("resident", total, 300, " MiB", reference, "neighbours 400 to 1,261"))


def measure_idle(stack: Stack, table: ReportTable) -> None:
    """Add up the processor time that all of Firekind's processes take while nothing happens."""
    table.head(f"What an idle stack takes of one core, over {AT_REST_S} s")
    names = (*PROCESSES, BESIDE)
    before, began = {name: _busy_s(stack, name) for name in names}, time.monotonic()
    time.sleep(AT_REST_S)
    spent_s = time.monotonic() - began
    shares = {name: 100 * (_busy_s(stack, name) - before[name]) / spent_s for name in names}
    each = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
    table.add(Figure("processor", sum(shares.values()), 1.0, " %", each))


def resident(stack: Stack) -> float:
    """Return how many MiB the trees of all of Firekind's processes hold."""
    return sum(_used(one)[0] for name in (*PROCESSES, BESIDE) for one in _tree(stack.processes[name].pid))


def _busy_s(stack: Stack, name: str) -> float:
    times = [process.cpu_times() for process in _tree(stack.processes[name].pid)]
    return sum(one.user + one.system for one in times)


def _tree(pid: int) -> list[psutil.Process]:
    top = psutil.Process(pid)
    return [top, *top.children(recursive=True)]


def _used(process: psutil.Process) -> tuple[float, float]:
    found = process.memory_full_info()
    return found.rss / MIB, getattr(found, "pss", 0) / MIB
