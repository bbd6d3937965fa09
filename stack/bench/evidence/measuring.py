"""`make bench-evidence`: the cost of reading, comparing, searching and opening profiles, next to tools that do less.

inferno and flamegraph.pl only draw; ours also stores the whole tree and every function's exact totals. They are run in
turn with ours if they are on ``PATH`` or in ``FIREKIND_INFERNO``; otherwise only seconds are printed.
"""

from __future__ import annotations

import argparse
import compileall
import os
import tempfile
from pathlib import Path

from stack.bench.evidence import rivals, sets, tasks
from stack.bench.evidence.rivals import Cost, installed, paired
from stack.bench.table import TIMES, Figure, ReportTable
from stack.terminal import paint, say

MIB = 1 << 20
# Below this size, most of the time is starting Python: seconds are compared, not ratios.
SMALL = 50 * MIB
MEMORY_MIB, COMPARED_MIB = 350, 260


def main(*words: str) -> int:
    """Print the table; fail if a figure misses its bound."""
    parser = argparse.ArgumentParser(prog="make bench-evidence ARGS=")
    parser.add_argument("--set", dest="sets", action="append", default=[], type=Path, help="a file of folded stacks")
    parser.add_argument("--against", type=Path, help="another, to compare the first with")
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args(words)
    table = ReportTable(say)
    say(paint("  Each figure, its bound, and its reference (medians of runs taken in turn).", "grey"))
    if (busy := os.getloadavg()[0]) > 1:
        say(paint(f"  This machine is busy ({busy:.1f}): what uses two processors looks slower than it is.", "yellow"))
    # As if installed: a machine may be configured to write no bytecode, and would compile everything for each run.
    compileall.compile_dir(str(rivals.HOME / "evidence"), quiet=1)
    paths = [path.resolve() for path in asked.sets] or [sets.made(name) for name in ("10k", "100k", "1m")]
    with tempfile.TemporaryDirectory(prefix="bench-evidence-") as room:
        bench = _Bench(table, Path(room), asked.times)
        for path in paths:
            bench.folded(path)
        if asked.against or not asked.sets:
            bench.compared(paths[0] if asked.sets else paths[1], asked.against or sets.made("100k-after"))
        if not asked.sets:
            bench.others()
    say()
    say(f"  {len(table.figures) - len(table.short)} of {len(table.figures)} figures hold.")
    return 1 if table.short else 0


class _Bench:
    def __init__(self, table: ReportTable, room: Path, times: int) -> None:
        self._table = table
        self._room = room
        self._times = times

    def folded(self, path: Path) -> None:
        """Folded text to a stored tree, exact totals of functions, and what a page loads first."""
        size = path.stat().st_size
        self._table.head(f"{path.name}: folded stacks, {size / MIB:.0f} MiB")
        tree = self._room / "tree"
        program = installed("inferno-flamegraph")
        draw = (lambda: rivals.run([program, path])) if program else None
        cold = rivals.python(tasks.COLD, path, tree)
        small = size < SMALL
        self._compare("cold: a new process, to the first payload", cold, draw, 0.5 if small else 1.0, seconds=small)
        warm = tasks.warm(path, tree)
        warm()
        self._compare("warm: in a process that did it before", warm, draw, 0.25 if small else 0.5, seconds=small)
        self._slow(path)
        payload, opened, searched = tasks.asked(tree)
        self._table.add(Figure("first payload, packed", payload / 1000, 40, " kB"))
        self._table.add(Figure("opening a page: map, boxes, pack", opened * 1000, 60, " ms", "does not grow"))
        self._table.add(Figure("exact search of everything", searched * 1000, 60, " ms"))

    def compared(self, before: Path, after: Path) -> None:
        """Two files to one tree with both sides, functions that moved, and the first payload."""
        self._table.head(f"{before.name} and {after.name}: compared")
        diff, draw = installed("inferno-diff-folded"), installed("inferno-flamegraph")
        theirs = rivals.piped([diff, before, after], [draw], middle=self._room / "diff") if diff else None
        self._compare(
            "cold: both read and merged, what moved", tasks.compared(before, after), theirs, 0.6, memory=COMPARED_MIB
        )

    def others(self) -> None:
        """perf script, pprof and JFR."""
        perf, packed = sets.perf_script(), sets.pprof(sets.made("100k"))
        self._table.head(f"{perf.name}: perf script, {perf.stat().st_size / MIB:.0f} MiB")
        program = installed("inferno-collapse-perf")
        collapse = (lambda: rivals.run([program, perf])) if program else None
        self._compare("warm: text to stacks", tasks.stacks_of(perf), collapse, 1.2)
        self._table.head(f"{packed.name}: pprof, {packed.stat().st_size / MIB:.1f} MiB packed")
        go = installed("go")
        top = (lambda: rivals.run([go, "tool", "pprof", "-top", packed])) if go else None
        self._compare("cold: read and told in a terminal", tasks.told(packed), top, 0.45 if go else 1.0)
        self._compare("warm: to stacks", tasks.stacks_of(packed), None, 0.6, seconds=True)
        small = sets.pprof(sets.made("300"))
        self._table.head(f"{small.name}: pprof, {small.stat().st_size / 1000:.0f} kB packed")
        numpy, _, _ = paired(rivals.python("import numpy"), None, times=self._times)
        say(paint(f"    importing numpy alone: {_told(numpy)}", "grey"))
        self._compare("cold: read and told in a terminal", tasks.told(small), None, 0.12, seconds=True)
        recorded = sets.jfr()
        size = recorded.stat().st_size
        self._table.head(f"{recorded.name}: JFR, {size / MIB:.0f} MiB")
        mine, _, _ = paired(tasks.stacks_of(recorded), None, times=self._times)
        self._table.add(Figure("warm: to stacks", size / 1e6 / mine.seconds, 40, " MB/s", _told(mine), more=True))

    def _slow(self, path: Path) -> None:
        """The first of them, once: it takes ten times as long."""
        if program := installed("flamegraph.pl"):
            cost = rivals.run([program, path])
            say(paint(f"    flamegraph.pl {cost.seconds:.1f} s, {cost.mib:.0f} MiB", "grey"))

    def _compare(
        self,
        name: str,
        ours: tasks.Run,
        theirs: tasks.Run | None,
        target: float,
        *,
        seconds: bool = False,
        memory: int = MEMORY_MIB,
    ) -> None:
        """Add a row with the ratio to the other tool, or with seconds; and one for memory of a separate process."""
        mine, other, ratio = paired(ours, theirs, times=self._times)
        said = f"{_told(mine)}; theirs {_told(other)}" if other else _told(mine)
        said += f", {ratio:.2f}{TIMES}" if other and seconds else ""
        if other and other.processor:  # which is more reliable than wall-clock time on a busy machine
            said += f"; processors {mine.processor / other.processor:.2f}{TIMES}"
        if other and not seconds:
            self._table.add(Figure(name, ratio, target, TIMES, said))
        else:
            self._table.add(Figure(name, mine.seconds, target, " s", said))
        self._memory(mine, other, memory)

    def _memory(self, mine: Cost, other: Cost | None, most: int) -> None:
        if mine.mib:
            said = f"theirs {other.mib:.0f} MiB" if other else ""
            self._table.add(Figure("its memory at most", mine.mib, most, " MiB", said))


def _told(cost: Cost) -> str:
    return f"{cost.seconds:.2f} s (processor {cost.processor:.2f})"
