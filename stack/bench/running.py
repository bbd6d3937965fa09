"""Which figures are taken, on which stack."""

from __future__ import annotations

from contextlib import closing

from stack.bench import declaring, hostile, memory, painting, reading, storm, turning
from stack.bench.seeded import figures, pages
from stack.bench.table import ReportTable
from stack.errors import StackError
from stack.outside import Records
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway
from stack.terminal import paint, say

STRICT = "--strict"
ON_WHOLE_STACK = ("declaring", "idle", "memory", "painting", "reading", "turning")
GROUPS = (*ON_WHOLE_STACK, "pages", "insights", "storm", "hostile")


def main(*words: str) -> int:
    """Print the table; words name groups of figures. With `--strict`, a figure that falls short fails."""
    wanted = [word for word in words if word != STRICT] or list(GROUPS)
    if unknown := set(wanted) - set(GROUPS):
        raise StackError(f"There is no group {unknown.pop()}; choose from {', '.join(GROUPS)}.")
    table = ReportTable(say)
    say(paint("  Figure, its target, and the reference beside which it was taken (neighbours on two cores).", "grey"))
    if set(wanted) & set(ON_WHOLE_STACK):
        with throwaway(preloaded=False) as stack, closing(Records(stack.database_url)) as records:
            _on_whole_stack(stack, records, table, wanted)
    if "pages" in wanted:
        with throwaway(processes=("sandbox", "web"), env={"WEB_WORKERS": "2"}, preloaded=False) as stack:
            pages.measure(stack, table)
    if "insights" in wanted:
        with throwaway(processes=("sandbox", "web"), preloaded=False) as stack:
            figures.measure(stack, table)
    if "storm" in wanted:
        with throwaway(env=storm.ENV, preloaded=False) as stack, closing(Records(stack.database_url)) as records:
            storm.measure(stack, table, records)
    if "hostile" in wanted:
        with throwaway(processes=("sandbox", "web"), preloaded=False) as stack:
            hostile.measure(stack, table)
    say()
    short = table.short
    say(f"  {len(table.figures) - len(short)} of {len(table.figures)} figures hold.")
    return 1 if short and STRICT in words else 0


def _on_whole_stack(stack: Stack, records: Records, table: ReportTable, wanted: list[str]) -> None:
    declaring.warm(stack, records)
    if "memory" in wanted:
        memory.measure(stack, table, when="at rest")
    if "idle" in wanted:
        memory.measure_idle(stack, table)
    if "declaring" in wanted:
        declaring.measure(stack, table, records)
    if "painting" in wanted:
        painting.measure(stack, table, records)
    if "reading" in wanted:
        reading.measure(stack, table, records)
    if "turning" in wanted:
        turning.measure(stack, table, records)
    if "memory" in wanted and len(wanted) > 1:
        memory.measure(stack, table, when="at rest again, after all of that")
