"""Which figures are measured, and on which stack."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from stack.bench import declaring, document, hostile, memory, painting, reading, turning
from stack.bench.seeded import figures, growth, pages
from stack.bench.storms import crowd, outage, storm
from stack.bench.table import Figure, ReportTable
from stack.errors import StackError
from stack.outside import Records
from stack.supervisor import surroundings
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway
from stack.terminal import paint, say

WRITE = "--write"
ON_WHOLE_STACK = ("declaring", "idle", "memory", "painting", "reading", "turning")
GROUPS = (*ON_WHOLE_STACK, "pages", "insights", "growth", "storm", "crowd", "outage", "hostile")
Measured = dict[str, list[tuple[str, Figure]]]


def main(*words: str) -> int:
    """Print the table; arguments name groups of figures.

    Fails if a figure misses its bound. With ``--write``, each measured group replaces its section of
    docs/benchmarks.md.
    """
    wanted = [word for word in words if word != WRITE] or list(GROUPS)
    if unknown := set(wanted) - set(GROUPS):
        raise StackError(f"There is no group {unknown.pop()}; choose from {', '.join(GROUPS)}.")
    table = ReportTable(say)
    say(paint("  Each figure, its bound, and the reference taken in the same run (neighbours on two cores).", "grey"))
    whole = [group for group in ON_WHOLE_STACK if group in wanted]
    if whole:
        with (
            throwaway(env=surroundings.ONE_MACHINE, preloaded=False) as stack,
            closing(Records(stack.database_url)) as records,
        ):
            measured = _on_whole_stack(stack, records, table, whole)
        _keep(measured, written=WRITE in words)
    for group in (one for one in GROUPS if one in wanted and one not in ON_WHOLE_STACK):
        before = len(table.headed)
        _alone(group, table)
        _keep({group: table.headed[before:]}, written=WRITE in words)
    say()
    short = table.short
    say(f"  {len(table.figures) - len(short)} of {len(table.figures)} figures hold.")
    return 1 if short else 0


def _alone(group: str, table: ReportTable) -> None:
    """Measure a group that needs a stack of its own."""
    if group == "outage":
        with throwaway(env=surroundings.ONE_MACHINE, preloaded=False) as stack:
            outage.measure(stack, table)
        return
    if group in {"storm", "crowd"}:
        env = {**storm.ENV, **surroundings.ONE_MACHINE}
        with (
            throwaway(env=env, preloaded=False) as stack,
            closing(Records(stack.database_url)) as records,
        ):
            (storm if group == "storm" else crowd).measure(stack, table, records)
        return
    measure, workers = {
        "pages": (pages.measure, {"WEB_WORKERS": "2"}),
        "insights": (figures.measure, {}),
        "growth": (growth.measure, {}),
        "hostile": (hostile.measure, {}),
    }[group]
    with throwaway(processes=("sandbox", "web"), env=workers, preloaded=False) as stack:
        measure(stack, table)


def _keep(measured: Measured, *, written: bool) -> None:
    if written:
        for group, rows in measured.items():
            document.replace(group, rows, origin=document.origin(group), order=GROUPS)


def _on_whole_stack(stack: Stack, records: Records, table: ReportTable, wanted: list[str]) -> Measured:
    """Measure the groups that share a stack, and yield each group's rows."""
    declaring.warm(stack, records)
    steps: dict[str, Callable[[], None]] = {
        "memory": lambda: memory.measure(stack, table, when="at rest"),
        "idle": lambda: memory.measure_idle(stack, table),
        "declaring": lambda: declaring.measure(stack, table, records),
        "painting": lambda: painting.measure(stack, table, records),
        "reading": lambda: reading.measure(stack, table, records),
        "turning": lambda: turning.measure(stack, table, records),
    }
    measured: Measured = {}
    for group in (one for one in steps if one in wanted):
        before = len(table.headed)
        steps[group]()
        measured[group] = table.headed[before:]
    if "memory" in wanted and len(wanted) > 1:
        before = len(table.headed)
        memory.measure(stack, table, when="at rest again, after all of that")
        measured["memory"] = [*measured["memory"], *table.headed[before:]]
    return measured
