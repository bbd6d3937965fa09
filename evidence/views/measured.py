"""What the pages of measurements show, by kind: values arranged in words, ready for a template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any

from evidence.models.evidence import Kind
from incidents.forms.given import number
from incidents.views.signed_in import Request

if TYPE_CHECKING:
    from evidence.measures.benchmarks import gotable
    from evidence.measures.counting import CountTable
    from evidence.measures.loadtest import Run
    from evidence.measures.sweeps.swept import Sweep, Threshold

Context = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CellWords:
    """A benchmark's cell in words: the median, its interval, and how it compares."""

    median: str
    spread: str
    change: str
    chance: str
    better: bool | None
    note: str


def benchmark(request: Request, value: Any) -> Context:
    """Return the tables of a benchmark; ``base`` in the URL picks the control among its variants."""
    from evidence.measures.benchmarks import gotable
    from evidence.measures.benchmarks.gobench import Benchmarks

    if not isinstance(value, Benchmarks):
        return {"tables": shown(value.tables), "where": value.where, "stated": True}
    base = number(request.GET.get("base")) or 0
    base = base if base < len(value.columns) else 0
    tables = gotable.tables(value.columns, control=base)
    labels = [column.label or f"variant {i}" for i, column in enumerate(value.columns, start=1)]
    context = {"tables": shown(tables), "where": value.where, "skipped": value.skipped, "base": base}
    several = len(labels) > 1
    return context | {"bases": list(enumerate(labels)) if several else [], "sentence": gotable.sentence_of(tables)}


def shown(tables: Sequence[gotable.BenchmarkTable]) -> list[Context]:
    """Return the cells of tables in words."""
    return [
        {
            "title": table.title,
            "unit": table.unit,
            "labels": table.labels,
            "rows": [(name, [_cell(table, cell) if cell else None for cell in cells]) for name, cells in table.rows],
            "means": _means(table),
            "alike": table.alike,
        }
        for table in tables
    ]


def _cell(table: gotable.BenchmarkTable, cell: gotable.BenchmarkCell) -> CellWords:
    from evidence.measures import words
    from evidence.measures.benchmarks import significance

    spread = f"± {words.share(cell.spread)}" if cell.spread is not None else "± ?"
    if not cell.compared:
        return CellWords(table.say(cell.median), spread, "", f"n = {cell.n}" if cell.n else "", None, "")
    if cell.median == cell.control and (cell.p or 0) > significance.ALPHA:
        return CellWords(table.say(cell.median), spread, "", f"n = {cell.n}", None, "the same")
    change = "~" if not cell.differs else words.share(cell.change, sign=True) if cell.change is not None else "from 0"
    n = f"{cell.control_n} and {cell.n}" if cell.n != cell.control_n else f"{cell.n}"
    less = cell.control is not None and cell.median < cell.control
    better = (less if table.better < 0 else not less) if cell.differs and table.better else None
    note = "too few runs to tell" if cell.too_few else "" if cell.differs else "no clear difference"
    return CellWords(table.say(cell.median), spread, change, f"{words.p_value(cell.p or 0)}, n = {n}", better, note)


def _means(table: gotable.BenchmarkTable) -> list[tuple[str, str]]:
    """Return the geometric mean of each column and how it moved; none for a single benchmark."""
    from evidence.measures import words

    if len(table.rows) < 2 or not any(table.means):
        return []
    changes = [words.share(change, sign=True) if change is not None else "" for change in table.changes]
    changes += [""] * (len(table.means) - len(changes))
    return [
        (table.say(mean) if mean is not None else "–", change)
        for mean, change in zip(table.means, changes, strict=True)
    ]


def load(request: Request, value: Any) -> Context:
    """Return the runs in a load test's file, side by side if there are several."""
    runs = value.runs
    return loads(runs, [run.name or f"run {i}" for i, run in enumerate(runs, start=1)], several=len(runs) > 1)


def loads(runs: Sequence[Run], labels: Sequence[str], *, several: bool = True) -> Context:
    """Return runs side by side; the first one is the control."""
    from evidence.measures import loadtable, loadtest

    numbered = [f"{label} ({i})" if list(labels).count(label) > 1 else label for i, label in enumerate(labels, start=1)]
    tools = sorted({run.tool for run in runs})
    context = {"rows": loadtable.latencies(runs), "facts": loadtable.facts(runs), "labels": numbered}
    context["notes"] = [note for run in runs for note in run.notes if note] if not several else _noted(runs, numbered)
    context["tools"] = tools
    if several:
        context["sentence"] = loadtest.compared(runs, labels=numbered)
    return context


def _noted(runs: Sequence[Run], labels: Sequence[str]) -> list[str]:
    """Return each note once, with the runs it applies to unless that is all of them."""
    about: dict[str, list[str]] = {}
    for run, label in zip(runs, labels, strict=True):
        for note in run.notes:
            about.setdefault(note, []).append(label)
    return [note if len(who) == len(runs) else f"{', '.join(who)}: {note}" for note, who in about.items()]


def counts(request: Request, value: Any) -> Context:
    """Return the tables of counts, each with its own columns."""
    return {"counted": [_counted(table) for table in value.tables]}


def _counted(table: CountTable) -> Context:
    from evidence.measures import counting, words

    main = table.main
    total = 0.0 if table.apart else table.total(main)
    rows = [
        {
            "key": counting.name_of(table, key),
            "share": words.share((numbers[main] or 0) / total) if total else "",
            "bar": round(100 * (numbers[main] or 0) / total, 2) if total else None,
            "cells": [
                counting.said(number, column.unit if at or not table.apart else counting.unit_of(table, key))
                for at, (number, column) in enumerate(zip(numbers, table.columns, strict=True))
            ],
        }
        for key, numbers in table.ordered()
    ]
    columns = [column.name for column in table.columns]
    return {"title": table.title, "tool": table.tool, "key": table.key, "columns": columns, "rows": rows}


def counted_apart(tables: Sequence[CountTable], labels: Sequence[str]) -> Context:
    """Return the rows of several tables side by side; the first one is the control."""
    from evidence.measures import counting, words

    first, main = tables[0], counting.shared(tables)
    shown = [at for at, column in enumerate(first.columns) if column.adds or first.apart]
    rows = []
    for one in counting.merged(tables):
        units = [counting.unit_of(first, one.key) if first.apart else first.columns[at].unit for at in shown]
        sides = []
        for side, numbers in enumerate(one.sides):
            cells = [counting.said(numbers[at], unit) for at, unit in zip(shown, units, strict=True)]
            compared = side and main is not None
            change = counting.relative(one.of(0, main or 0), one.of(side, main or 0)) if compared else None
            sides.append({"cells": cells, "change": words.share(change, sign=True) if change is not None else ""})
        rows.append({"key": counting.name_of(first, one.key), "sides": sides})
    columns = [first.columns[at].name for at in shown]
    return {"side_by_side": {"key": first.key, "labels": labels, "columns": columns, "rows": rows}}


def sweep(request: Request, value: Any) -> Context:
    """Return the heat map that the URL asks for, and the form that asks for another."""
    return sweeps(request, [value], [""])


def sweeps(request: Request, values: Sequence[Sweep], labels: Sequence[str]) -> Context:
    """Return the heat maps of one or more sweeps on one colour scale."""
    from evidence.measures.sweeps import heat, swept

    first = values[0]
    name = request.GET.get("value", "")
    name = name if name in first.values else first.first
    alike = [name in value.values and value.axes == first.axes for value in values]
    labels, values = list(compress(labels, alike)), list(compress(values, alike))
    threshold = _threshold(request, first, name)
    x, y, _ = heat.axes_of(first, x=request.GET.get("x", ""), y=request.GET.get("y", ""))
    scale = heat.scale_of([cell for value in values for _, cell in value.cells(name)])
    maps = [heat.heat(value, value=name, threshold=threshold, x=x, y=y, scale=scale) for value in values]
    said = [swept.said(value, name, threshold) for value in values]
    return {
        "maps": list(zip(labels, maps, said, strict=True)),
        "sentence": said[0] if len(said) == 1 else "",
        "values": [(one, swept.called(one)) for one in first.values],
        "axes": [(one, swept.called(one)) for one in first.axes],
        "chosen": {"value": name, "x": x, "y": y, "below": threshold.below if threshold else False},
        "limit": _plain(threshold.limit) if threshold else "",
        "unit": {"share": "as a share of 1"}.get(swept.unit_of(name), swept.unit_of(name)),
        "threshold": swept.number_words(threshold.limit, name) if threshold else "",
        "repeats": max(value.repeats for value in values),
        "left_out": first.left_out,
        "unlike": alike.count(False),
    }


def _threshold(request: Request, value: Sweep, name: str) -> Threshold | None:
    """Return the threshold that the URL asks for, else the file's own; an empty one means none."""
    from evidence.measures.sweeps.swept import Threshold

    said = request.GET.get("at")
    if said is None:
        return value.threshold if value.threshold and value.threshold.value == name else None
    try:
        limit = float(said.replace(",", ".").replace("−", "-").strip()[:40])
    except ValueError:
        return None
    return Threshold(name, limit, below=request.GET.get("side") == "below") if abs(limit) < 1e30 else None


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _csv_of_benchmark(value: Any) -> str:
    from evidence.measures import tables

    return tables.of_benchmark(value)


def _csv_of_load(value: Any) -> str:
    from evidence.measures import tables

    return tables.of_loads(value)


def _csv_of_sweep(value: Any) -> str:
    from evidence.measures import tables

    return tables.of_sweep(value)


def _csv_of_counts(value: Any) -> str:
    from evidence.measures import tables

    return tables.of_counts(value)


BODY: dict[str, Callable[[Request, Any], Context]] = {
    Kind.BENCHMARK: benchmark,
    Kind.LOAD: load,
    Kind.COUNTS: counts,
    Kind.SWEEP: sweep,
}
CSV: dict[str, Callable[[Any], str]] = {
    Kind.BENCHMARK: _csv_of_benchmark,
    Kind.LOAD: _csv_of_load,
    Kind.COUNTS: _csv_of_counts,
    Kind.SWEEP: _csv_of_sweep,
}
