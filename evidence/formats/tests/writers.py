"""The same samples in every format that we read, for laws that hold for all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData

from evidence.exports import exports
from evidence.formats.base.gather import Gather
from evidence.formats.tests.more_writers import MORE
from evidence.formats.tests.rarer_writers import ADDRESSES, RARER
from evidence.formats.tests.written_jfr import recording
from evidence.profile.limits import DEFAULT
from evidence.profile.stacks import SampleType, Stacks

Sample = tuple[Sequence[str], int]
Write = Callable[[Sequence[Sample]], bytes]


def stacks_of(samples: Sequence[Sample]) -> Stacks:
    """Return samples as a reader would."""
    gather = Gather([SampleType("samples", "samples")], limits=DEFAULT)
    for stack, value in samples:
        gather.add([gather.code(name) for name in stack], [value], where="here")
    return gather.stacks("tests")


def folded(samples: Sequence[Sample]) -> bytes:
    return b"".join(f"{';'.join(stack)} {value}\n".encode() for stack, value in samples)


def perf_script(samples: Sequence[Sample]) -> bytes:
    """Write samples of one program, whose name is the root frame."""
    out = []
    for at, (stack, value) in enumerate(samples):
        frames = "".join(f"\t{4096 + n:16x} {name} (/bin/app)\n" for n, name in enumerate(reversed(stack)))
        out.append(f"app  1/1 [000]  {at}.000001:  {value} cycles:u: \n{frames}\n")
    return "".join(out).encode()


def pprof(samples: Sequence[Sample]) -> bytes:
    return exports.pprof(stacks_of(samples))


def _frames(samples: Sequence[Sample]) -> list[str]:
    return sorted({name for stack, _ in samples for name in stack})


def speedscope(samples: Sequence[Sample]) -> bytes:
    names = _frames(samples)
    profile: dict[str, Any] = {"type": "sampled", "name": "a", "unit": "none"}
    profile["samples"] = [[names.index(name) for name in stack] for stack, _ in samples]
    profile["weights"] = [value for _, value in samples]
    return _speedscope(names, profile)


def speedscope_events(samples: Sequence[Sample]) -> bytes:
    names = _frames(samples)
    events: list[dict[str, Any]] = []
    now = 0
    for stack, value in samples:
        codes = [names.index(name) for name in stack]
        events += [{"type": "O", "frame": code, "at": now} for code in codes]
        now += value
        events += [{"type": "C", "frame": code, "at": now} for code in reversed(codes)]
    return _speedscope(
        names, {"type": "evented", "name": "a", "unit": "nanoseconds", "startValue": 0, "events": events}
    )


def _speedscope(names: Sequence[str], profile: dict[str, Any]) -> bytes:
    schema = "https://www.speedscope.app/file-format-schema.json"
    file = {"$schema": schema, "shared": {"frames": [{"name": name} for name in names]}, "profiles": [profile]}
    return json.dumps(file).encode()


def chrome(samples: Sequence[Sample]) -> bytes:
    """Write complete spans, which count microseconds, a thousandth of which is one of ours."""
    events: list[dict[str, Any]] = []
    now = 0
    for stack, value in samples:
        times = {"ph": "X", "ts": now / 1000, "dur": value / 1000, "pid": 1, "tid": 1}
        events += [{"name": name, **times} for name in stack]
        now += value
    return json.dumps({"traceEvents": events}).encode()


def v8(samples: Sequence[Sample]) -> bytes:
    """Write a tree of nodes, and each sample's node as often as it counts."""
    paths = sorted({tuple(stack[:depth]) for stack, _ in samples for depth in range(len(stack) + 1)} | {()})
    ids = {path: at for at, path in enumerate(paths, start=1)}
    below = {path: [ids[child] for child in paths if child and child[:-1] == path] for path in paths}
    nodes = [
        {
            "id": ids[path],
            "callFrame": {"functionName": path[-1] if path else "(root)", "url": "", "lineNumber": -1},
            "children": below[path],
        }
        for path in paths
    ]
    seen = [ids[tuple(stack)] for stack, value in samples for _ in range(value)]
    file = {"nodes": nodes, "startTime": 0, "endTime": 0, "samples": seen, "timeDeltas": [0] * len(seen)}
    return json.dumps(file).encode()


def otlp(samples: Sequence[Sample]) -> bytes:
    names = _frames(samples)
    data = ProfilesData()
    tables = data.dictionary
    tables.string_table.extend(["", "samples", "count", *names])
    for table in (tables.function_table, tables.location_table, tables.stack_table, tables.attribute_table):
        table.add()
    for at in range(len(names)):
        tables.function_table.add(name_strindex=at + 3)
        tables.location_table.add().lines.add(function_index=at + 1)
    profile = data.resource_profiles.add().scope_profiles.add().profiles.add()
    profile.sample_type.type_strindex, profile.sample_type.unit_strindex = 1, 2
    for stack, value in samples:
        tables.stack_table.add(location_indices=[names.index(name) + 1 for name in reversed(stack)])
        profile.samples.add(stack_index=len(tables.stack_table) - 1, values=[value])
    return bytes(data.SerializeToString())


def jfr(samples: Sequence[Sample]) -> bytes:
    return recording([sample for sample in samples if sample[1]], kind=23)


# Format -> its writer. perf's writers put the program at the root of each stack.
WRITERS: dict[str, Write] = {
    "folded": folded,
    "perf script": perf_script,
    "pprof": pprof,
    "speedscope": speedscope,
    "speedscope, evented": speedscope_events,
    "chrome": chrome,
    "v8": v8,
    "otlp": otlp,
    "jfr": jfr,
    **MORE,
    **RARER,
}
# How names are shown in formats that cannot express all of them.
SHOWN: dict[str, Callable[[str], str]] = {
    "gperftools cpu": lambda name: hex(ADDRESSES[name]),
    "austin": lambda name: name.replace(":", "."),
}


def aggregated(samples: Sequence[Sample]) -> list[Sample]:
    """Return samples with equal stacks merged and empty ones left out."""
    ordered = sorted((tuple(stack), value) for stack, value in samples)
    return [
        (stack, total) for stack, some in groupby(ordered, key=lambda one: one[0]) if (total := sum(v for _, v in some))
    ]
