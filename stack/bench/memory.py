"""The memory of all of Firekind's processes at rest, and their processor use."""

from __future__ import annotations

import time

import psutil

from stack.bench.table import Figure, ReportTable
from stack.supervisor.running import Stack

MOST_MIB = 250
MIB = 1024 * 1024
AT_REST_S = 60


def measure(stack: Stack, table: ReportTable, *, when: str) -> None:
    """Sum whole process trees; if the system knows it, also with shared memory counted once."""
    table.head(f"Memory of all processes together, {when}")
    used = {name: [_used(one) for one in _tree(stack.processes[name].pid)] for name in _ours(stack)}
    total = sum(resident for tree in used.values() for resident, _ in tree)
    shares = [share for tree in used.values() for _, share in tree]
    each = ", ".join(f"{name} {sum(resident for resident, _ in tree):.0f}" for name, tree in used.items())
    table.add(Figure("resident", total, MOST_MIB, " MiB", each, "neighbours 400 to 1,261"))
    if all(shares):
        each = ", ".join(f"{name} {sum(share for _, share in tree):.0f}" for name, tree in used.items())
        table.add(Figure("proportional share", sum(shares), MOST_MIB, " MiB", each))


def measure_idle(stack: Stack, table: ReportTable) -> None:
    """Sum the processor time of all of Firekind's processes while nothing happens."""
    table.head(f"What an idle stack takes of one core, over {AT_REST_S} s")
    before, began = {name: _busy_s(stack, name) for name in _ours(stack)}, time.monotonic()
    time.sleep(AT_REST_S)
    spent_s = time.monotonic() - began
    shares = {name: 100 * (_busy_s(stack, name) - before[name]) / spent_s for name in before}
    each = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
    table.add(Figure("processor", sum(shares.values()), 1.0, " %", each))


def resident(stack: Stack) -> float:
    """Return how many MiB the process trees of Firekind hold."""
    return sum(_used(one)[0] for name in _ours(stack) for one in _tree(stack.processes[name].pid))


def _ours(stack: Stack) -> list[str]:
    """Return the names of the running processes; evidence is read by another process, which exits."""
    return [name for name, one in stack.processes.items() if name != "sandbox" and one.alive]


def _busy_s(stack: Stack, name: str) -> float:
    times = [process.cpu_times() for process in _tree(stack.processes[name].pid)]
    return sum(one.user + one.system for one in times)


def _tree(pid: int) -> list[psutil.Process]:
    top = psutil.Process(pid)
    return [top, *top.children(recursive=True)]


def _used(process: psutil.Process) -> tuple[float, float]:
    found = process.memory_full_info()
    return found.rss / MIB, getattr(found, "pss", 0) / MIB
