"""Output of load testers, recognised by content: ab, hey, wrk and wrk2, k6, oha, vegeta. Latencies in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from evidence.measures import bounded_text, words
from evidence.profile.errors import BadProfile, TooMuch

NAME = "load test"
KIND = "load"
TELLS = "it has the report of a load tester"
MOST_RUNS = 50
TOOLS = ("ab", "wrk", "k6", "oha", "hey", "vegeta")
MOST_MS = 1e12  # thirty years
ALIKE = 0.05  # means that differ by less are called alike
FAIL_APART = 0.01  # of all requests: if this many more failed, that distinguishes runs, too
NOT_2XX = "responses were not 2xx"  # ends the note of a tool that does not count them as failed
ABOUT = 0.8  # factors of at least this part of the largest count as about equal


@dataclass(slots=True)
class Run:
    """One run of a load tester, as far as it says: None for what it does not say.

    ``percentiles`` are pairs of a percentage and the milliseconds within which that many requests were answered;
    invalid pairs are left out. ``notes`` are words that a reader should know, such as what a tool leaves out.
    """

    tool: str
    name: str = ""
    requests: int | None = None
    failed: int | None = None
    rps: float | None = None
    mean_ms: float | None = None
    longest_ms: float | None = None
    percentiles: list[tuple[float, float]] = field(default_factory=list)
    concurrency: int | None = None
    duration_s: float | None = None
    keep_alive: int | None = None
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.percentiles = [(p, ms) for p, ms in self.percentiles if 0 <= p <= 100 and 0 <= ms < MOST_MS]
        if self.longest_ms is not None and not self.longest_ms < MOST_MS:
            self.longest_ms = None

    @property
    def refused(self) -> int:
        """How many were answered with a code other than 2xx, if the tool counts them separately from failures."""
        counts = (note.partition(" ")[0].replace(",", "") for note in self.notes if note.endswith(NOT_2XX))
        return sum(int(count) for count in counts if count.isdecimal())

    def within(self, percentage: float) -> float | None:
        """Return the milliseconds within which a percentage of requests was answered, if the tool says so."""
        return next((ms for p, ms in self.percentiles if p == percentage), None)


@dataclass(slots=True)
class Loads:
    """The runs in one file, in its order."""

    runs: list[Run]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values to be stored."""
        return {"measure": NAME, "runs": [asdict(run) for run in self.runs]}


def from_dict(kept: Mapping[str, Any]) -> Loads:
    """Return what ``as_dict`` stored."""
    runs = [{**run, "percentiles": [(p, ms) for p, ms in run["percentiles"]]} for run in kept["runs"]]
    return Loads([Run(**run) for run in runs])


def looks_like(head: bytes) -> bool:
    """Return whether one of the tools wrote this."""
    return _tool(bounded_text.head(head)) is not None


def read(data: bytes) -> Loads:
    """Read every run of a file. Raises BadProfile or TooMuch."""
    text = bounded_text.text(data)
    tool = _tool(text[: 1 << 16])
    if tool is None:
        raise BadProfile("This isn't the output of a load tester we support")
    runs: list[Run] = tool.read(text)
    if len(runs) > MOST_RUNS:
        raise TooMuch(f"It holds {len(runs)} runs; at most {MOST_RUNS} fit on a page")
    runs = [run for run in runs if run.percentiles or run.mean_ms is not None]
    if not runs:
        raise BadProfile("It has no latencies. Was the report cut short, or written without percentiles?")
    return Loads(runs)


def sentence(value: Loads) -> str:
    """Say in one sentence what one run was like, or how two or more differ."""
    labels = [_label(run, i) for i, run in enumerate(value.runs, start=1)]
    return compared(value.runs, labels=labels) if len(value.runs) > 1 else _alone(value.runs[0])


def compared(runs: Sequence[Run], *, labels: Sequence[str]) -> str:
    """Say where the first run, the control, and the run furthest from it differ most."""
    control = runs[0]
    apart = [(furthest(control, run), run, label) for run, label in zip(runs[1:], labels[1:], strict=True)]
    most, run, label = max(apart, key=lambda one: one[0][0])
    factor, what, old, new = most
    if not what:
        return f"{labels[0]} and {label} have no percentile in common"
    if factor < 1 + ALIKE:
        alike = f"{labels[0]} and {label} alike: {what} {words.milliseconds(old)} and {words.milliseconds(new)}"
        return alike + _failures(control, run)
    said = f"{what}: {words.milliseconds(old)} → {words.milliseconds(new)} {words.beside(label)}"
    return said + _means(control, run) + _failures(control, run)


def furthest(control: Run, run: Run) -> tuple[float, str, float, float]:
    """Return the largest factor between two runs, its percentile in words, and the two latencies.

    Among percentiles that differ about equally the lowest is named, because it covers the most requests. The maximum
    counts only if there is no common percentile, because a single request may be an outlier.
    """
    pairs = [(p, ms, run.within(p)) for p, ms in control.percentiles if p <= 99]
    known = [(f"{p:g} % of requests", ms, other) for p, ms, other in pairs if other is not None and ms > 0 < other]
    if not known and control.longest_ms and run.longest_ms:
        known = [("longest request", control.longest_ms, run.longest_ms)]
    factors = [(max(new / old, old / new), what, old, new) for what, old, new in known]
    most = max(factors, default=(1.0, "", 0.0, 0.0), key=lambda one: one[0])
    longer = most[3] > most[2]
    near = (one for one in factors if one[0] >= ABOUT * most[0] and (one[3] > one[2]) == longer)
    return next(near, most) if most[0] > 1 + ALIKE else most


def _means(control: Run, run: Run) -> str:
    if not control.mean_ms or not run.mean_ms:
        return ""
    change = run.mean_ms / control.mean_ms - 1
    if abs(change) < ALIKE:
        return "; mean alike"
    return f"; mean {words.milliseconds(control.mean_ms)} → {words.milliseconds(run.mean_ms)}"


def _failures(control: Run, run: Run) -> str:
    """Say what failed if one run failed much more: errors are fast, and would pass for an improvement."""
    counts = [max(one.failed or 0, one.refused) for one in (control, run)]
    shares = [count / max(one.requests or 0, count, 1) for count, one in zip(counts, (control, run), strict=True)]
    if abs(shares[1] - shares[0]) < FAIL_APART:
        return ""
    said = [_failed(one) or ("none failed" if one.failed == 0 else "failures not counted") for one in (control, run)]
    return f"; {said[0]} → {said[1]}"


def _failed(run: Run) -> str:
    apart = f"{run.refused:,} not 2xx" if run.refused else ""
    return ", ".join(part for part in (f"{run.failed:,} failed" if run.failed else "", apart) if part)


def _alone(run: Run) -> str:
    half, tail = run.within(50), next(((p, ms) for p, ms in reversed(run.percentiles) if 90 <= p <= 99), None)
    parts = [
        f"half within {words.milliseconds(half)}" if half is not None else "",
        f"{tail[0]:g} % within {words.milliseconds(tail[1])}" if tail else "",
        f"longest {words.milliseconds(run.longest_ms)}" if run.longest_ms is not None else "",
        f"mean {words.milliseconds(run.mean_ms)}" if run.mean_ms is not None and half is None else "",
        f"{words.number(float(f'{run.rps:.4g}'))} requests a second" if run.rps is not None else "",
        _failed(run),
    ]
    count = f"{run.requests:,} requests" if run.requests is not None else "Requests"
    return f"{count}: {', '.join(part for part in parts if part)}"


def _label(run: Run, i: int) -> str:
    if run.keep_alive:
        return "keep-alive"
    return f"run {i}"


def _tool(text: str) -> ModuleType | None:
    tools = (import_module(f"evidence.measures.loads.{name}") for name in TOOLS)
    return next((tool for tool in tools if tool.looks_like(text)), None)
