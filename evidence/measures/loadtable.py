"""Load test runs side by side: percentiles in rows, runs in columns, the first one the control. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evidence.measures import words
from evidence.measures.loadtest import ALIKE, Run

WIDE = 100  # length of the longest bar


@dataclass(frozen=True, slots=True)
class LoadCell:
    """A value in words; ``times`` says by what factor it is larger or smaller than the control's, if it matters.

    ``bar`` is the length of its bar, from 0 to 100; ``worse`` whether it is more, and thus worse, than the control.
    """

    words: str
    times: str = ""
    bar: int | None = None
    worse: bool | None = None


@dataclass(frozen=True, slots=True)
class LoadRow:
    """One quantity, for each run; None if a run does not give it."""

    label: str
    cells: list[LoadCell | None]


def latencies(runs: Sequence[Run]) -> list[LoadRow]:
    """Return the mean, every percentile that a run has, and the longest, all in milliseconds."""
    percentages = sorted({p for run in runs for p, _ in run.percentiles})
    sides: list[tuple[str, list[float | None]]] = [("mean", [run.mean_ms for run in runs])]
    sides += [(f"{p:g} % within", [run.within(p) for run in runs]) for p in percentages]
    sides.append(("longest", [run.longest_ms for run in runs]))
    most = max((ms for _, side in sides for ms in side if ms is not None), default=0.0) or 1.0
    return [
        LoadRow(label, [_latency(ms, side[0], most) if ms is not None else None for ms in side])
        for label, side in sides
        if any(ms is not None for ms in side)
    ]


def facts(runs: Sequence[Run]) -> list[LoadRow]:
    """Return the other figures of the runs: how many requests, how many failed, at what rate."""
    rows = [
        LoadRow("requests", [_count(run.requests) for run in runs]),
        LoadRow("failed", [_failed(run) for run in runs]),
        LoadRow("requests a second", [_rate(run) for run in runs]),
        LoadRow("clients", [_count(run.concurrency) for run in runs]),
        LoadRow("took", [LoadCell(words.seconds(run.duration_s)) if run.duration_s else None for run in runs]),
        LoadRow("kept connections", [_count(run.keep_alive) for run in runs]),
    ]
    return [row for row in rows if any(row.cells)]


def _latency(ms: float, control: float | None, most: float) -> LoadCell:
    bar = max(1, round(WIDE * ms / most)) if ms else 0
    factor = ms / control if control else 1.0
    if abs(factor - 1) < ALIKE:
        return LoadCell(words.milliseconds(ms), bar=bar)
    return LoadCell(
        words.milliseconds(ms), f"× {factor:.2g}" if factor < 100 else f"× {factor:,.0f}", bar, worse=factor > 1
    )


def _count(count: int | None) -> LoadCell | None:
    return LoadCell(f"{count:,}") if count is not None else None


def _failed(run: Run) -> LoadCell | None:
    if run.failed is None:
        return None
    part = f"{run.failed:,} ({words.share(run.failed / run.requests)})" if run.requests and run.failed else "none"
    return LoadCell(part, worse=True if run.failed else None)


def _rate(run: Run) -> LoadCell | None:
    return LoadCell(words.number(float(f"{run.rps:.4g}"))) if run.rps is not None else None
