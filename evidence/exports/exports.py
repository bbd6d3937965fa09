"""A profile in the formats of other tools: folded stacks, pprof, speedscope. Pure: numpy alone."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from evidence.exports.pprof_export import pprof
from evidence.profile.stacks import Stacks

__all__ = ["folded", "pprof", "speedscope"]

# The suffixes with which flamegraph.pl and async-profiler mark the kind of code.
SUFFIXES = {
    "kernel": "_[k]", "jit": "_[j]", "inlined": "_[i]", "interpreted": "_[0]", "gpu": "_[g]", "gpu-source": "_[G]",
}  # fmt: skip
# The name for a sample without frames, because folded text has no line for it.
NO_STACK = "(no stack)"
SCHEMA = "https://www.speedscope.app/file-format-schema.json"
SPEEDSCOPE_UNITS = {"nanoseconds", "bytes"}
_BREAKING = re.compile(r"[\r\n\x85\u2028\u2029]")
_ANNOTATED = re.compile(r"_\[\w\]$")
_TEXT_AT_ONCE = 1 << 16


def folded(stacks: Stacks, *, type: int) -> Iterator[bytes]:
    """Yield one sample type as flamegraph.pl reads it: equal stacks once, ordered by their frames' names.

    Each piece holds many whole lines. A semicolon within a name becomes a colon.
    """
    names = [_written(name, hint) for name, hint in zip(stacks.names, stacks.hints, strict=True)]
    shown = sorted(set(names))
    rank = {name: place for place, name in enumerate(shown)}
    ranks = np.array([rank[name] for name in names], dtype=">i4")
    totals = _totals(stacks, ranks, type)
    words = [name.encode(errors="replace") for name in shown]
    piece: list[bytes] = []
    size = 0
    for stack in sorted(totals):
        line = b";".join(words[code] for code in np.frombuffer(stack, dtype=">i4").tolist())
        piece.append(b"%s %d\n" % (line or NO_STACK.encode(), totals[stack]))
        size += len(line)
        if size > _TEXT_AT_ONCE:
            yield b"".join(piece)
            piece, size = [], 0
    if piece:
        yield b"".join(piece)


def _totals(stacks: Stacks, ranks: np.ndarray[tuple[int], np.dtype[np.int32]], type: int) -> dict[bytes, int]:
    """Sum equal stacks; a stack is the ranks of its frames, so that bytes sort as names do."""
    totals: dict[bytes, int] = defaultdict(int)
    frames = ranks[stacks.frames].tobytes()
    values = stacks.values[type].tolist()
    for (low, high), value in zip(pairwise((stacks.offsets * 4).tolist()), values, strict=True):
        if value:
            totals[frames[low:high]] += value
    return totals


def _written(name: str, hint: str) -> str:
    """Write a name so that it stays one frame on one line, with the suffix for its hint."""
    plain = _BREAKING.sub(" ", name).replace(";", ":") or "(unnamed)"
    return plain if _ANNOTATED.search(plain) else plain + SUFFIXES.get(hint, "")


def speedscope(stacks: Stacks, *, title: str = "") -> Iterator[bytes]:
    """Yield all sample types in speedscope's own JSON; the default one is shown first."""
    head = {"$schema": SCHEMA, "name": title, "activeProfileIndex": stacks.default_type, "exporter": "Firekind"}
    yield json.dumps(head)[:-1].encode() + b', "shared": '
    yield json.dumps({"frames": [{"name": name} for name in stacks.names] or [{"name": NO_STACK}]}).encode()
    yield b', "profiles": ['
    for type in range(len(stacks.sample_types)):
        yield b", " if type else b""
        yield from _speedscope_profile(stacks, type)
    yield b"]}\n"


def _speedscope_profile(stacks: Stacks, type: int) -> Iterator[bytes]:
    """Yield one sample type; samples that count nothing in it are left out."""
    kind = stacks.sample_types[type]
    unit = kind.unit if kind.unit in SPEEDSCOPE_UNITS else "none"
    head = {"type": "sampled", "name": f"{kind.name} ({kind.unit})", "unit": unit, "startValue": 0}
    counted = np.flatnonzero(stacks.values[type])
    weights = stacks.values[type, counted].tolist()
    yield json.dumps({**head, "endValue": sum(weights)})[:-1].encode() + b', "samples": ['
    ends = stacks.offsets[counted + 1].tolist()
    for place, (low, high) in enumerate(zip(stacks.offsets[counted].tolist(), ends, strict=True)):
        yield (b", " if place else b"") + json.dumps(stacks.frames[low:high].tolist()).encode()
    yield b'], "weights": ' + json.dumps(weights).encode() + b"}"
