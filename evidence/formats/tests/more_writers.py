"""The same samples in less common tools' formats, for the laws of all formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

Sample = tuple[Sequence[str], int]
Write = Callable[[Sequence[Sample]], bytes]


def _frames(samples: Sequence[Sample]) -> list[str]:
    return sorted({name for stack, _ in samples for name in stack})


def gecko(samples: Sequence[Sample]) -> bytes:
    """Write columns, as profiler.firefox.com and samply do."""
    names = _frames(samples)
    stacks: dict[tuple[str, ...], int] = {}
    for stack, _ in samples:
        for depth in range(1, len(stack) + 1):
            stacks.setdefault(tuple(stack[:depth]), len(stacks))
    thread = {
        "name": "main",
        "processName": "app",
        "pid": "1",
        "samples": {
            "stack": [stacks[tuple(stack)] for stack, _ in samples],
            "weight": [value for _, value in samples],
            "weightType": "samples",
            "length": len(samples),
        },
        "stackTable": {
            "frame": [names.index(stack[-1]) for stack in stacks],
            "prefix": [stacks[stack[:-1]] if len(stack) > 1 else None for stack in stacks],
        },
        "frameTable": {"func": list(range(len(names))), "inlineDepth": [0] * len(names)},
        "funcTable": {"name": list(range(len(names))), "resource": [-1] * len(names)},
        "resourceTable": {"name": []},
        "stringArray": names,
    }
    return json.dumps({"meta": {"interval": 1, "preprocessedProfileVersion": 49}, "threads": [thread]}).encode()


def gecko_rows(samples: Sequence[Sample]) -> bytes:
    """Write rows with a schema, as Firefox itself does; each sample is one row."""
    thread = json.loads(gecko(samples))["threads"][0]
    table = thread["stackTable"]
    seen = [stack for stack, (_, value) in zip(thread["samples"]["stack"], samples, strict=True) for _ in range(value)]
    rows = {
        "name": "GeckoMain",
        "samples": {"schema": {"stack": 0, "time": 1}, "data": [[stack, at] for at, stack in enumerate(seen)]},
        "stackTable": {
            "schema": {"prefix": 0, "frame": 1},
            "data": list(zip(table["prefix"], table["frame"], strict=True)),
        },
        "frameTable": {"schema": {"location": 0}, "data": [[at] for at in range(len(thread["stringArray"]))]},
        "stringTable": thread["stringArray"],
    }
    return json.dumps({"meta": {"version": 24, "interval": 1}, "libs": [], "threads": [rows]}).encode()


def stackprof(samples: Sequence[Sample]) -> bytes:
    names = _frames(samples)
    raw: list[int] = []
    for stack, value in samples:
        raw += [len(stack), *(names.index(name) + 1000 for name in stack), value]
    frames = {str(at + 1000): {"name": name, "file": "", "samples": 1} for at, name in enumerate(names)}
    file: dict[str, Any] = {"version": 1.2, "mode": "custom", "interval": 1, "samples": len(samples), "gc_samples": 0}
    return json.dumps({**file, "missed_samples": 0, "frames": frames, "raw": raw}).encode()


def pyinstrument(samples: Sequence[Sample]) -> bytes:
    root: dict[str, Any] = {"function": "[self]", "time": 0, "children": []}
    for stack, value in samples:
        node = root
        node["time"] += value
        for name in stack:
            below = next((one for one in node["children"] if one["function"] == name), None)
            if below is None:
                below = {"function": name, "file_path_short": "", "line_no": 1, "time": 0, "children": []}
                node["children"].append(below)
            below["time"] += value
            node = below
    return json.dumps({"duration": 1, "sample_count": 3, "root_frame": _in_seconds(root)}).encode()


def _in_seconds(node: dict[str, Any]) -> dict[str, Any]:
    return {**node, "time": node["time"] / 1e9, "children": [_in_seconds(child) for child in node["children"]]}


def pyinstrument_session(samples: Sequence[Sample]) -> bytes:
    """Write the output of ``pyinstrument -r session``: every sample separately, as recorded."""
    records = [[[f"{name}\0app.py\x001\x01l7" for name in stack], value / 1e9] for stack, value in samples]
    file = {"start_time": 1.5, "duration": 1, "min_interval": 0.001, "sample_count": len(samples)}
    return json.dumps({**file, "start_call_stack": [], "cpu_time": 0.5, "frame_records": records}).encode()


def legacy_pprof(samples: Sequence[Sample]) -> bytes:
    """Write the ``debug=1`` output of a profile that counts."""
    names = _frames(samples)
    out = [f"shop profile: total {sum(value for _, value in samples)}"]
    for stack, value in samples:
        places = [0x1000 + names.index(name) for name in reversed(stack)]
        out.append(f"{value} @ {' '.join(map(hex, places))}")
        out += [
            f"#\t{place:#x}\t{name}+0x1f\t\t/app/main.go:{place}"
            for place, name in zip(places, reversed(stack), strict=True)
        ]
        out.append("")
    return "\n".join(out).encode()


def pprof_traces(samples: Sequence[Sample]) -> bytes:
    """Write the output of ``go tool pprof -traces``."""
    rule = "-----------+-------------------------------------------------------"
    out = ["File: shop", "Type: samples", rule]
    for stack, value in samples:
        *above, leaf = stack
        out += [
            "     pool:  a",
            f"{value:10}   {leaf}",
            *(f"             {name} (inline)" for name in reversed(above)),
            rule,
        ]
    return ("\n".join(out) + "\n").encode()


def pprof_raw(samples: Sequence[Sample]) -> bytes:
    """Write the output of ``go tool pprof -raw``."""
    names = _frames(samples)
    out = ["PeriodType: cpu nanoseconds", "Period: 10000000", "Samples:", "samples/count[dflt]"]
    for stack, value in samples:
        out += [
            f"{value:11}: {' '.join(str(names.index(name) + 1) for name in reversed(stack))} ",
            "                pool:[a]",
        ]
    out += ["Locations", *(f"{at:6}: {at + 64:#x} M=1 {name} /app/main.go:5:0 s=5" for at, name in enumerate(names, 1))]
    return "\n".join([*out, "Mappings", "1: 0x400000/0x4db000/0x0 shop  [FN]", ""]).encode()


def bpf_stacks(samples: Sequence[Sample]) -> bytes:
    """Write a map whose keys are stacks."""
    out = ["Attaching 1 probe...", ""]
    for stack, value in samples:
        out += ["@[", *(f"    {name}+{at + 4}" for at, name in enumerate(reversed(stack))), f"]: {value}"]
    return ("\n".join(out) + "\n").encode()


def bpf_blocks(samples: Sequence[Sample]) -> bytes:
    """Write the output of bcc's profile; the process is the root."""
    out = ["Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.", ""]
    for stack, value in samples:
        *above, root = reversed(stack)
        out += [*(f"    {name}" for name in above), f"    -                {root} (71)", f"        {value}", ""]
    return ("\n".join(out) + "\n").encode()


def jstack(samples: Sequence[Sample]) -> bytes:
    """Write as many threads as each stack counts."""
    out = ["2026-11-22 10:00:00", "Full thread dump OpenJDK 64-Bit Server VM (17.0.9+9 mixed mode):", ""]
    for stack, value in samples:
        for at in range(value):
            out += [f'"worker-{at}" #{at} prio=5 os_prio=0 cpu=1.00ms tid=0x1 nid=0x2 runnable  [0x3]']
            out += [
                "   java.lang.Thread.State: RUNNABLE",
                *(f"\tat {name}(Shop.java:7)" for name in reversed(stack)),
                "",
            ]
    return "\n".join(out).encode()


def gdb(samples: Sequence[Sample]) -> bytes:
    """Write as many threads as each stack counts."""
    out = []
    for stack, value in samples:
        for at in range(value):
            out.append(f'Thread {at} (Thread 0x7f{at:04x} (LWP {at}) "worker"):')
            out += [
                f"#{depth}  0x{depth + 16:016x} in {name} (n=1, p=0x0) at /src/shop.c:7"
                for depth, name in enumerate(reversed(stack))
            ]
            out.append("")
    return "\n".join(out).encode()


def goroutines(samples: Sequence[Sample]) -> bytes:
    """Write as many goroutines as each stack counts."""
    out = []
    for stack, value in samples:
        for at in range(value):
            out.append(f"goroutine {at} [chan receive, 5 minutes]:")
            for name in reversed(stack):
                out += [f"{name}(0xc000010000, {{0x1, 0x2}})", "\t/app/main.go:12 +0x1d"]
            out += ["created by main.start in goroutine 1", "\t/app/main.go:3 +0x1d", ""]
    return "\n".join(out).encode()


def memray(samples: Sequence[Sample]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["allocator", "num_allocations", "size", "tid", "thread_name", "stack_trace"])
    for stack, value in samples:
        writer.writerow(["malloc", value, value, 1, "MainThread", "|".join(f"{name};;1" for name in reversed(stack))])
    return out.getvalue().encode()


def macos_sample(samples: Sequence[Sample]) -> bytes:
    """Write the tree with guides, as sample(1) prints it."""
    tree: dict[tuple[str, ...], int] = {}
    for stack, value in samples:
        for depth in range(1, len(stack) + 1):
            tree[tuple(stack[:depth])] = tree.get(tuple(stack[:depth]), 0) + value
    out = ["Analysis of sampling shop (pid 71) every 1 millisecond", "Call graph:"]
    for path in sorted(tree):
        guides = "".join("+!:|"[at % 4] + " " for at in range(len(path) - 1))
        out.append(f"    {guides}{tree[path]} {path[-1]}  (in shop) + {len(path)}  [0x10{len(path)}]")
    return "\n".join([*out, "", "Total number in stack (recursive counted multiple, when >=5):", ""]).encode()


MORE: dict[str, Write] = {
    "gecko": gecko,
    "gecko, in rows": gecko_rows,
    "stackprof": stackprof,
    "pyinstrument": pyinstrument,
    "pyinstrument, session": pyinstrument_session,
    "legacy pprof": legacy_pprof,
    "pprof text": pprof_traces,
    "pprof text, raw": pprof_raw,
    "bpf stacks": bpf_stacks,
    "bpf stacks, of bcc": bpf_blocks,
    "jstack": jstack,
    "gdb": gdb,
    "goroutines": goroutines,
    "memray": memray,
    "macos sample": macos_sample,
}
