"""Samples of functions with a file and a line, in the formats of profilers that give both."""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from evidence.formats.tests.graph_writers import known


class Placed(NamedTuple):
    """A function by its name, its file and the line where it begins."""

    name: str
    file: str
    line: int


Sample = tuple[Sequence[Placed], int]
Write = Callable[[Sequence[Sample]], bytes]


def v8(samples: Sequence[Sample]) -> bytes:
    """A ``.cpuprofile`` with a node for each stack; a sample lasts as many microseconds as it counts."""
    nodes: dict[tuple[Placed, ...], dict[str, Any]] = {(): _node(1, Placed("(root)", "", 0))}
    for stack, _ in samples:
        for depth in range(1, len(stack) + 1):
            path = tuple(stack[:depth])
            if path not in nodes:
                nodes[path] = _node(len(nodes) + 1, path[-1])
                nodes[path[:-1]]["children"].append(len(nodes))
    lasted = [value for _, value in samples]
    file = {
        "nodes": list(nodes.values()),
        "startTime": 0,
        "endTime": sum(lasted),
        "samples": [nodes[tuple(stack)]["id"] for stack, _ in samples],
        "timeDeltas": [0, *lasted[:-1]],
    }
    return json.dumps(file).encode()


def _node(id: int, function: Placed) -> dict[str, Any]:
    frame = {"functionName": function.name, "url": function.file, "lineNumber": function.line - 1, "columnNumber": 4}
    return {"id": id, "callFrame": frame, "children": []}


def pyinstrument(samples: Sequence[Sample]) -> bytes:
    """A saved session: a record for each sample."""
    records = [[[f"{one.name}\0{one.file}\0{one.line}" for one in stack], value / 1e6] for stack, value in samples]
    return json.dumps(
        {"duration": 1.0, "sample_count": 3, "start_call_stack": [], "cpu_time": 0.1, "frame_records": records}
    ).encode()


def cprofile(samples: Sequence[Sample]) -> bytes:
    """The file that ``python -m cProfile -o FILE`` stores."""
    own, inside, calls = known(samples)
    key = {one: (one.file, one.line, one.name) for one in inside}
    stats = {
        key[one]: (1, 1, own[one] / 1e6, inside[one] / 1e6,
            {key[caller]: (1, 1, 0.0, value / 1e6) for (caller, callee), value in calls.items() if callee == one})
        for one in inside
    }  # fmt: skip
    return marshal.dumps(stats)


def stackprof(samples: Sequence[Sample]) -> bytes:
    """``stackprof --json`` of a raw recording, one sample per microsecond."""
    ids = {one: 1000 + at for at, one in enumerate(dict.fromkeys(one for stack, _ in samples for one in stack))}
    raw = [number for stack, value in samples for number in (len(stack), *(ids[one] for one in stack), value)]
    frames = {str(id): {"name": one.name, "file": one.file, "line": one.line} for one, id in ids.items()}
    return json.dumps({"mode": "wall", "interval": 1, "samples": 3, "frames": frames, "raw": raw}).encode()


def speedscope(samples: Sequence[Sample]) -> bytes:
    """speedscope's JSON, which gives the executing line."""
    at = {one: place for place, one in enumerate(dict.fromkeys(one for stack, _ in samples for one in stack))}
    profile = {
        "type": "sampled", "name": "one", "unit": "microseconds", "startValue": 0, "endValue": 1,
        "samples": [[at[one] for one in stack] for stack, _ in samples], "weights": [value for _, value in samples],
    }  # fmt: skip
    schema = "https://www.speedscope.app/file-format-schema.json"
    return json.dumps(
        {"$schema": schema, "profiles": [profile], "shared": {"frames": [one._asdict() for one in at]}}
    ).encode()


def memray(samples: Sequence[Sample]) -> bytes:
    """``memray transform csv``, which gives the executing line."""
    rows = ["allocator,num_allocations,size,tid,thread_name,stack_trace"]
    for stack, value in samples:
        trace = "|".join(f"{one.name};{one.file};{one.line}" for one in reversed(stack))
        rows.append(f'malloc,1,{value},1,main,"{trace}"')
    return "\n".join(rows).encode()


def callgrind(samples: Sequence[Sample]) -> bytes:
    """Callgrind's format as in Xdebug's first versions: names written out, and times in microseconds."""
    own, inside, calls = known(samples)
    out = ["version: 1", "events: Time"]
    for one in inside:
        out += [f"fl={one.file}", f"fn={one.name}", f"{one.line} {own[one]}"]
        for (caller, callee), value in calls.items():
            if caller == one:
                called = [] if callee.file == one.file else [f"cfl={callee.file}"]
                out += [*called, f"cfn={callee.name}", "calls=1 1", f"1 {value}"]
    return "\n".join(out).encode()


# Formats whose line is where a function begins, so another line is another function.
BEGIN: dict[str, Write] = {"v8": v8, "pyinstrument": pyinstrument, "cprofile": cprofile, "stackprof": stackprof}
# Formats whose line is the one that was executing.
RAN: dict[str, Write] = {"speedscope": speedscope, "memray": memray, "callgrind": callgrind}
WRITERS = BEGIN | RAN
