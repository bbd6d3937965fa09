"""Recordings for the Firefox Profiler, as samply, Firefox and `perf script report gecko` write them.

Each thread has samples: how many, and for how long it ran if that was measured. Allocations are sample types of their
own. If there are several processes, each is the root of its stacks.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from evidence.formats import Buffer
from evidence.formats.base import units
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text import compact, outline
from evidence.formats.base.json_text.fields import listed, mapped, scaled
from evidence.formats.gecko.gecko_tables import NOTHING, GeckoThread, columns
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile, NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NAME = "gecko"
SAMPLES, CPU = SampleType("samples", "samples"), SampleType("cpu", "nanoseconds")
TIME, ALLOCATED = SampleType("time", "nanoseconds"), SampleType("alloc_space", "bytes")
MILLISECOND = 1_000_000
NESTED_PROCESSES = 20
# A thread's table -> what its weights count, and their type.
TABLES = {"samples": SAMPLES, "jsAllocations": ALLOCATED, "nativeAllocations": ALLOCATED}
WEIGHTS = {"samples": (SAMPLES, 1), "tracing-ms": (TIME, MILLISECOND), "bytes": (ALLOCATED, 1)}


# Large parts of a file that say nothing about samples.
NOT_READ = (
    "markers", "counters", "pages", "profilerOverhead", "nativeSymbols", "time", "timeDeltas", "eventDelay", "category",
    "subcategory", "address", "nativeSymbol", "innerWindowID", "line", "column", "lineNumber", "columnNumber",
)  # fmt: skip
NO_STACK, MOST = -1, (1 << 63) - 1


class Counted(NamedTuple):
    """What a table's rows count for one type: which stacks, and how much."""

    type: SampleType
    stacks: array[int]
    values: array[int]

    def add(self, stack: Any, value: int, where: str) -> None:
        """Add a row. Raises ``BadProfile`` for an invalid stack."""
        self.stacks.append(NO_STACK if stack is None else min(_index(stack, where), MOST))
        self.values.append(max(value, 0))


def claim(head: bytes) -> Claim | None:
    """Recognise the metadata, or a thread's tables of stacks."""
    found = outline.of(head)
    if "meta.preprocessedProfileVersion" in found:
        return Claim(Certainty.SURE, "it says which version of the Firefox Profiler's format it is")
    if found.has("threads[].stackTable") or found.has("meta.interval", "meta.version", "threads[]"):
        return Claim(Certainty.SURE, "its threads have tables of stacks, as the Firefox Profiler has them")
    if found.has("meta.interval", "meta.version", "libs") or found.has("meta.interval", "meta.product"):
        return Claim(Certainty.LIKELY, "it begins as a recording for the Firefox Profiler does")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the samples of all threads. Raises ``BadProfile`` naming the thread; ``TooMuch``.

    Raises ``NotRecognised`` for one without samples.
    """
    file = mapped(compact.parse(data, limits=limits, without=NOT_READ), "the file")
    threads = list(_threads(file))
    counted = [(thread, list(_counted(thread, tables, meta))) for thread, tables, meta in threads]
    types = list(dict.fromkeys(one.type for _, each in counted for one in each if one.stacks))
    if not types:
        raise NotRecognised("This recording has no samples.")
    gather = Gather(types, limits=limits)
    several = len({thread.pid or thread.process for thread, _ in counted}) > 1
    labels: dict[str, list[int]] = {}
    for thread, each in counted:
        root = [gather.code(thread.process or f"process {thread.pid}")] if several else []
        totals = labels.setdefault(thread.name, [0] * len(types))
        _pour(thread, each, types, gather, root, totals)
    largest = sorted(labels.items(), key=lambda item: -max(item[1]))[:100]
    return gather.stacks(NAME, about={"labels": {"thread": dict(largest)}} | _about(file))


def _threads(
    file: Mapping[str, Any], above: int = 0
) -> Iterator[tuple[GeckoThread, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the threads of a file and of its processes, with the file's metadata."""
    if above > NESTED_PROCESSES:
        raise BadProfile("Its processes are nested too deeply")
    meta, shared = mapped(file.get("meta", NOTHING), "meta"), mapped(file.get("shared", NOTHING), "shared")
    for at, thread in enumerate(listed(file.get("threads"), "threads")):
        tables = mapped(thread, f"threads[{at}]")
        yield GeckoThread(tables, shared, f"threads[{at}]"), tables, meta
    for process in listed(file.get("processes", []), "processes"):
        yield from _threads(mapped(process, "processes"), above + 1)


def _counted(thread: GeckoThread, tables: Mapping[str, Any], meta: Mapping[str, Any]) -> Iterator[Counted]:
    for name, usual in TABLES.items():
        if name not in tables:
            continue
        where = f"{thread.where}.{name}"
        rows = columns(tables[name], where)
        kind, times = WEIGHTS.get(str(tables[name].get("weightType")), (usual, 1))
        weights, counted = rows.get("weight"), Counted(kind, array("q"), array("q"))
        for at, stack in enumerate(rows.get("stack", ())):
            weight = weights[at] if weights is not None and at < len(weights) else 1
            value = scaled(1 if weight is None else weight, f"{where}.weight[{at}]", times=times)
            counted.add(stack, value, f"{where}.stack[{at}]")
        yield counted
        yield from _ran(rows, meta, where)


def _ran(rows: Mapping[str, Sequence[Any]], meta: Mapping[str, Any], where: str) -> Iterator[Counted]:
    """Yield how long the thread ran until each sample, if that was measured in a unit of time."""
    unit = str(mapped(meta.get("sampleUnits") or NOTHING, "meta.sampleUnits").get("threadCPUDelta", ""))
    times, word = units.ours(unit)
    if word != "nanoseconds" or not unit:
        return
    counted = Counted(CPU, array("q"), array("q"))
    for at, (stack, ran) in enumerate(zip(rows.get("stack", ()), rows.get("threadCPUDelta", ()), strict=False)):
        if ran is not None:
            value = scaled(ran, f"{where}.threadCPUDelta[{at}]", times=times)
            counted.add(stack, value, f"{where}.stack[{at}]")
    yield counted


def _index(stack: Any, where: str) -> int:
    if isinstance(stack, bool) or not isinstance(stack, int) or stack < 0:
        raise BadProfile(f"A stack is {stack!r:.40}, which is no place in the table of stacks", where=where)
    return stack


def _pour(
    thread: GeckoThread, each: Sequence[Counted], types: list[SampleType], gather: Gather, root: list[int],
    totals: list[int],
) -> None:  # fmt: skip
    """Add one sample for each stack of a thread."""
    values: dict[int, Counter[int]] = {}
    for column in each:
        place = types.index(column.type) if column.stacks else 0
        for stack, value in zip(column.stacks, column.values, strict=True):
            if stack != NO_STACK and value:
                values.setdefault(stack, Counter())[place] += value
    codes: dict[int, int] = {}
    for stack, counts in values.items():
        row = [counts[type] for type in range(len(types))]
        gather.add(root + _stack(thread, stack, codes, gather), row, where=f"{thread.where}, stack {stack}")
        for type, value in enumerate(row):
            totals[type] += value


def _stack(thread: GeckoThread, stack: int, codes: dict[int, int], gather: Gather) -> list[int]:
    """Return the codes of a stack, root first."""
    up: list[int] = []
    steps, at = 0, cast("int | None", stack)
    while at is not None:
        steps += 1
        frame, above = thread.stack(at)
        if frame is not None:
            if frame not in codes:
                name, hint = thread.frame(frame)
                codes[frame] = gather.code(name, hint=hint)
            if codes[frame] >= 0:
                up.append(codes[frame])
        if steps > gather.limits.depth or above == at:  # a step may have no frame
            raise BadProfile("Its stacks form a cycle, or are too deep", where=f"{thread.where}, stack {stack}")
        at = above
    return up[::-1]


def _about(file: Mapping[str, Any]) -> dict[str, Any]:
    meta = mapped(file.get("meta", NOTHING), "meta")
    product = str(meta.get("product") or "")[:200]
    return {"name": product} if product else {}
