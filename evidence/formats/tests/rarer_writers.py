"""The same samples in rare formats: those of Austin, rbspy, Scalene, GHC, gperftools, Instruments."""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

Sample = tuple[Sequence[str], int]
Write = Callable[[Sequence[Sample]], bytes]


class _Addresses(defaultdict[str, int]):
    """An address for each name, far from all others."""

    def __missing__(self, name: str) -> int:
        self[name] = 0x401000 + 64 * len(self)
        return self[name]


ADDRESSES: dict[str, int] = _Addresses()


def gperftools_cpu(samples: Sequence[Sample], word: str = "<Q") -> bytes:
    """Write words; a one-frame stack that counts nothing shows that no frame is on all stacks."""
    words = [0, 3, 0, 10_000, 0]
    for stack, value in [(("main",), 0), *samples]:
        leaf, *above = (ADDRESSES[name] for name in reversed(stack))
        words += [value, len(stack), leaf, *(address + 1 for address in above)]
    data = b"".join(struct.pack(word, one) for one in [*words, 0, 1, 0])
    return data + b"00400000-00500000 r-xp 00000000 08:01 123 /app/shop\n"


def austin(samples: Sequence[Sample]) -> bytes:
    """Write full metrics: a microsecond, not idle, and as many bytes as a stack counts."""
    out = ["# austin: 3.6.0", "# interval: 100", "# mode: full", ""]
    for stack, value in samples:
        frames = "".join(f";app.py:{name.replace(':', '.')}:7" for name in stack)
        out.append(f"P71;T1{frames} 1,0,{value}")
    return "\n".join([*out, "", "# duration: 500", ""]).encode()


def varint(value: int) -> bytes:
    """Write a number as MOJO does: 6 bits and a sign, then 7 bits each."""
    sign, value = (0x40, -value) if value < 0 else (0, value)
    found = bytearray([sign | (value & 0x3F)])
    value >>= 6
    while value:
        found[-1] |= 0x80
        found.append(value & 0x7F)
        value >>= 7
    return bytes(found)


def austin_mojo(samples: Sequence[Sample], version: int = 3) -> bytes:
    """Write memory; version 4 does not write a repeated stack again."""
    out = [b"MOJ", varint(version), b"\x01austin\x004.0.0\x00\x01mode\x00memory\x00"]
    known: dict[str, int] = {}
    before: Sequence[str] = ()
    for stack, value in samples:
        out += [b"\x02", varint(71), varint(0) if version >= 3 else b"", b"7f01\x00"]
        for name in stack:
            if name not in known:
                key = known[name] = 100 + len(known)
                out += [b"\x0b", varint(key), name.encode(), b"\x00", b"\x03", varint(key), varint(1), varint(key)]
                out += [varint(7), b"\x07\x01\x02" if version >= 2 else b""]
        repeated = version >= 4 and tuple(stack) == tuple(before)
        out += [b"\x0d"] if repeated else [b"\x05" + varint(known[name]) for name in stack]
        out += [b"\x0a", varint(value)]
        before = stack
    return b"".join(out)


def rbspy(samples: Sequence[Sample]) -> bytes:
    lines = ["rbspy02", json.dumps({"sample_rate": 99, "rbspy_version": "0.12.1", "start_time": None})]
    for stack, value in samples:
        frames = [{"name": name, "relative_path": "", "absolute_path": None, "lineno": 7} for name in reversed(stack)]
        lines += [json.dumps({"trace": frames, "pid": 71, "thread_id": 1, "time": None})] * value
    return "\n".join([*lines, ""]).encode()


def scalene(samples: Sequence[Sample]) -> bytes:
    """Write stacks of Python and native code with their counts."""
    kinds: dict[str, Any] = {"filename_or_module": "", "line": 7, "ip": None, "offset": None}
    stacks = [[[{"kind": "py", "display_name": name, **kinds} for name in stack], value] for stack, value in samples]
    file = {"program": "app.py", "elapsed_time_sec": 0.0, "growth_rate": 0.0, "max_footprint_mb": 0.0, "files": {}}
    return json.dumps({**file, "samples": [], "stacks": [], "combined_stacks": stacks}).encode()


def _nodes(samples: Sequence[Sample]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield each node of the tree of all stacks, parents first, with its self value."""
    own: dict[tuple[str, ...], int] = {}
    for stack, value in samples:
        for depth in range(1, len(stack) + 1):
            own.setdefault(tuple(stack[:depth]), 0)
        own[tuple(stack)] += value
    yield from sorted(own.items())


def ghc_prof(samples: Sequence[Sample]) -> bytes:
    """Write the report of ``-P``, which has bytes; cost centres have no module here, so that their names are bare."""
    total = sum(value for _, value in samples)
    width = 40
    out = ["\tSun Nov 22 13:00 2026 Time and Allocation Profiling Report  (Final)", "", "\t   shop +RTS -P -RTS", ""]
    out += ["\ttotal time  =        0.00 secs   (0 ticks @ 1000 us, 1 processor)"]
    out += [
        f"\ttotal alloc = {total:11,} bytes  (excludes profiling overheads)",
        "",
        "COST CENTRE MODULE SRC  %time %alloc",
        "",
    ]
    head = f"{'COST CENTRE':<{width}} {'MODULE':<6} {'SRC':<9} {'no.':<5} {'entries':>11}"
    out += [f"{head}  %time %alloc   %time %alloc  ticks     bytes", ""]
    for at, (path, value) in enumerate(_nodes(samples)):
        label = f"{' ' * (len(path) - 1)}{path[-1]}"
        out.append(f"{label:<{width}} {'':<6} {'':<9} {at:>5} {1:>11}    0.0    0.0     0.0    0.0      0 {value:9}")
    return "\n".join([*out, ""]).encode()


def ghc_json(samples: Sequence[Sample]) -> bytes:
    names = sorted({name for stack, _ in samples for name in stack})
    centres = [{"id": 0, "label": "MAIN", "module": "MAIN", "src_loc": "<built-in>", "is_caf": False}]
    centres += [
        {"id": at, "label": name, "module": "", "src_loc": "", "is_caf": False} for at, name in enumerate(names, 1)
    ]
    file: dict[str, Any] = {"program": "shop", "total_ticks": 0, "tick_interval": 1000, "total_alloc": 0}
    file["cost_centres"] = centres
    roots: list[Any] = []
    known: dict[tuple[str, ...], Any] = {(): {"children": roots}}
    for path, value in _nodes(samples):
        node = {"id": names.index(path[-1]) + 1, "entries": 1, "alloc": value, "ticks": 0, "children": []}
        known[path[:-1]]["children"].append(node)
        known[path] = node
    file["profile"] = {"id": 0, "entries": 0, "alloc": 0, "ticks": 0, "children": roots}
    return json.dumps(file).encode()


def xctrace(samples: Sequence[Sample]) -> bytes:
    """Write rows that reference earlier ones."""
    out = ['<?xml version="1.0"?>', '<trace-query-result><node xpath="//trace-toc[1]/run[1]/data[1]/table[1]">']
    out += ['<schema name="time-profile"><col><mnemonic>time</mnemonic></col></schema>']
    frames: dict[str, int] = {}
    stacks: dict[tuple[str, ...], int] = {}
    for at, (stack, value) in enumerate(samples):
        out.append(f'<row><sample-time id="{9000 + 9 * at}" fmt="0">{at}</sample-time>')
        out.append('<process id="1" fmt="shop (71)"/>' if not at else '<process ref="1"/>')
        out.append(f'<weight id="{9001 + 9 * at}" fmt="1 ms">{value}</weight>')
        if tuple(stack) in stacks:
            out.append(f'<tagged-backtrace ref="{stacks[tuple(stack)]}"/></row>')
            continue
        stacks[tuple(stack)] = 9002 + 9 * at
        out.append(f'<tagged-backtrace id="{9002 + 9 * at}"><backtrace id="{9003 + 9 * at}">')
        for name in reversed(stack):
            if name in frames:
                out.append(f'<frame ref="{frames[name]}"/>')
            else:
                frames[name] = 100 + len(frames)
                out.append(f'<frame id="{frames[name]}" name={quoteattr(name)} addr="0x1"/>')
        out.append("</backtrace></tagged-backtrace></row>")
    return "\n".join([*out, "</node></trace-query-result>", ""]).encode()


RARER: dict[str, Write] = {
    "gperftools cpu": gperftools_cpu,
    "gperftools cpu, of 32 bits": lambda samples: gperftools_cpu(samples, ">I"),
    "austin": austin,
    "austin mojo": austin_mojo,
    "austin mojo, version 1": lambda samples: austin_mojo(samples, 1),
    "austin mojo, version 4": lambda samples: austin_mojo(samples, 4),
    "rbspy": rbspy,
    "scalene": scalene,
    "ghc prof": ghc_prof,
    "ghc json": ghc_json,
    "xctrace": xctrace,
}
