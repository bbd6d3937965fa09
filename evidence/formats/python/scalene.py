"""Scalene's JSON: call stacks with their counts if they were recorded, else the times of functions.

Source: github.com/plasma-umass/scalene, ``scalene_json.py``. Shares are per cent of the elapsed time. A function's own
time is that in Python; its time in native code, in the system, or waiting is shown below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text import fields, outline
from evidence.formats.base.json_text.fields import listed, mapped, scaled, whole
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType, Stacks

NAME = "scalene"
SAMPLES, ALLOCATED = SampleType("samples", "samples"), SampleType("alloc_space", "bytes")
TIME = SampleType("time", "nanoseconds")
SECOND, MIB = 1_000_000_000, 1 << 20
NO_STACKS = "It has no call stacks, only the times of functions. `scalene run --stacks` records them."
NOTHING = (
    "This Scalene profile is empty: it has neither stacks nor functions. Record for longer, or with `--profile-all`."
)
# The frames below a function for its time outside Python -> their share.
BELOW = {"[native]": "n_cpu_percent_c", "[system]": "n_sys_percent"}
PYTHON = "n_cpu_percent_python"
# A frame as text: `file function:line;`, and as Python prints such a value.
FRAME = re.compile(r"(.*) (\S+):(\d{1,9});?$")
SHOWN = re.compile(r"StackFrame\(filename='(.*)', function_name='(.*)', line_number=(\d{1,9})\)$")
Frames = tuple[SourceFunction, ...]


def claim(head: bytes) -> Claim | None:
    """Recognise the elapsed time and the files, or what only Scalene counts."""
    found = outline.of(head)
    if found.has("elapsed_time_sec", "growth_rate") or found.has("elapsed_time_sec", "files", "max_footprint_mb"):
        return Claim(Certainty.SURE, "it has Scalene's elapsed time and memory growth")
    if found.has("alloc_samples", "combined_stacks"):  # keys are in alphabetical order, and stacks fill the head
        return Claim(Certainty.SURE, "it has Scalene's allocation samples and stacks")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read stacks with samples and bytes, else functions with time and bytes. Raises ``BadProfile``; ``TooMuch``.

    Raises ``NotRecognised`` for one without samples.
    """
    file = mapped(fields.parse(data, limits=limits), "the file")
    elapsed = scaled(file.get("elapsed_time_sec", 0), "elapsed_time_sec", times=SECOND)
    about: dict[str, Any] = {"command": str(file.get("program") or "")[:300]}
    about |= {"duration_ns": elapsed} if elapsed > 0 else {}
    met = [*_met(file, "combined_stacks")] or [*_met(file, "stacks")]
    sized = list(_met(file, "memory_stacks", times=MIB))
    if met or sized:
        return _of_stacks(met, sized, limits).stacks(NAME, about=about)
    gather = Gather((TIME, ALLOCATED), limits=limits)
    for name, one in mapped(file.get("files", {}), "files").items():
        _add_file(gather, str(name), mapped(one, f"files[{name!r:.80}]"), elapsed)
    if not gather.names:
        raise NotRecognised(NOTHING)
    return gather.stacks(NAME, about={**about, "caution": NO_STACKS})


def _met(file: Mapping[str, Any], key: str, *, times: int = 1) -> Iterator[tuple[Frames, int]]:
    """Yield each stack, root first, and how much it counts."""
    for at, pair in enumerate(listed(file.get(key) or [], key)):
        where = f"{key}[{at}]"
        entry: list[Any] = [*listed(pair, where), None, None]
        frames, counted = entry[:2]
        counted = counted[0] if isinstance(counted, list) and counted else counted
        value = counted.get("count") if isinstance(counted, dict) else counted
        stack = tuple(_frame(one, f"{where}, frame {n}") for n, one in enumerate(listed(frames, where)))
        yield stack, scaled(value, where, times=times)


def _frame(said: Any, where: str) -> SourceFunction:
    if isinstance(said, str):
        found = SHOWN.match(said) or FRAME.match(said[:4000])
        return SourceFunction(found[2], found[1], int(found[3])) if found else SourceFunction(said)
    frame = mapped(said, where)
    name, file = (str(frame.get(key) or "") for key in ("display_name", "filename_or_module"))
    line = whole(frame.get("line") or 0, f"{where}, line")
    native = frame.get("kind") == "native"
    return SourceFunction(name or (f"[{file.rpartition('/')[2] or 'unknown'}]" if native else ""), file, line)


def _of_stacks(met: Sequence[tuple[Frames, int]], sized: Sequence[tuple[Frames, int]], limits: Limits) -> Gather:
    kinds = [kind for kind, some in ((SAMPLES, met), (ALLOCATED, sized)) if some]
    gather = Gather(kinds, limits=limits)
    names = gather.names_of(place for stack, _ in (*met, *sized) for place in stack)
    for kind, some in ((SAMPLES, met), (ALLOCATED, sized)):
        for stack, value in some:
            values = [value if one == kind else 0 for one in kinds]
            gather.add([gather.code(names[place]) for place in stack], values, where=kind.name)
    return gather


def _add_file(gather: Gather, name: str, file: Mapping[str, Any], elapsed: int) -> None:
    """Add a file's functions below it, and to the file itself the rest of its time and memory."""
    root = gather.code(name.rpartition("/")[2] or name)
    functions = [mapped(one, f"{name:.80}, functions") for one in listed(file.get("functions") or [], "functions")]
    lines = [mapped(one, f"{name:.80}, lines") for one in listed(file.get("lines") or [], "lines")]
    left = _time(file.get("percent_cpu_time", 0), name, elapsed)
    unsaid = sum(_bytes(line, name) for line in lines)
    for function in functions:
        code = gather.code(str(function.get("line") or function.get("fn_name") or ""))
        sizes = _bytes(function, name)
        own = _time(function.get(PYTHON, 0), name, elapsed)
        below = {part: _time(function.get(key, 0), name, elapsed) for part, key in BELOW.items()}
        gather.add([root, code], (own, sizes), where=name[:80])
        for part, value in below.items():
            if value:
                gather.add([root, code, gather.code(part)], (value, 0), where=name[:80])
        left, unsaid = left - own - sum(below.values()), unsaid - sizes
    gather.add([root], (max(left, 0), max(unsaid, 0)), where=name[:80])


def _time(percent: Any, where: str, elapsed: int) -> int:
    return max((scaled(percent, where[:80], times=elapsed) + 50) // 100, 0)


def _bytes(one: Mapping[str, Any], where: str) -> int:
    return max(scaled(one.get("n_malloc_mb", 0), where[:80], times=MIB), 0)
