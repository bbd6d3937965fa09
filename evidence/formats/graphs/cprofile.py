"""cProfile's stored results (``python -m cProfile -o FILE``): times of functions, and which calls which.

Source: CPython, ``Lib/pstats.py``: {(file, line, name): (calls without recursion, calls, own, in all, callers)}.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base import held
from evidence.formats.base.gather import Gather
from evidence.formats.graphs.callgraph import ESTIMATED, CallGraph
from evidence.formats.graphs.marshalled import FLAG, MarshalReader
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType, Stacks

NAME = "cprofile"
TIME = (SampleType("time", "nanoseconds"),)
SECOND = 1_000_000_000
BUILT_IN = "~"
LONGEST_S = 1e9


def claim(head: bytes) -> Claim | None:
    """Recognise a mapping whose first key is three values, the first of them a text."""
    if len(head) < 8 or bytes([head[0] & ~FLAG]) != b"{":
        return None
    short = bytes([head[1] & ~FLAG]) == b")" and head[2] == 3
    long = bytes([head[1] & ~FLAG]) == b"(" and head[2:6] == b"\x03\0\0\0"
    text = head[3 if short else 6] & ~FLAG
    if (short or long) and bytes([text]) in b"zZaAuts":
        return Claim(Certainty.SURE, "it is a mapping of functions, as cProfile stores it")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the time of each function, on estimated paths. Raises ``BadProfile`` naming the byte or function."""
    found = MarshalReader(held.at_once(data, limits=limits)).read()
    if not isinstance(found, dict):
        raise BadProfile("It isn't a mapping of functions")
    places = {key: _place(key) for key in found}
    for entry in found.values():
        places |= {key: _place(key) for key in _callers(entry)}
    gather = Gather(TIME, limits=limits)
    names = gather.names_of(places.values(), begins=True)
    codes = {key: gather.code(names[place]) for key, place in places.items()}
    graph = CallGraph()
    for key, entry in found.items():
        graph.costs(codes[key], _ns(entry[2], key))
        for caller, spent in _callers(entry).items():
            graph.calls(codes[caller], codes[key], _ns(spent[3] if isinstance(spent, tuple) else 0, key))
    graph.pour(gather)
    return gather.stacks(NAME, about=ESTIMATED)


def _callers(entry: Any) -> Mapping[Any, Any]:
    if not isinstance(entry, tuple) or len(entry) != 5 or not isinstance(entry[4], dict):
        raise BadProfile("An entry isn't calls, times and callers")
    if any(isinstance(spent, tuple) and len(spent) != 4 for spent in entry[4].values()):
        raise BadProfile("A caller isn't calls and times")
    return entry[4]


def _place(key: Any) -> SourceFunction:
    if not isinstance(key, tuple) or len(key) != 3 or not isinstance(key[0], str) or not isinstance(key[2], str):
        raise BadProfile("A function isn't a file, a line and a name")
    line = key[1] if isinstance(key[1], int) else 0
    return SourceFunction(key[2], "" if key[0] == BUILT_IN else key[0], max(line, 0))


def _ns(seconds: Any, key: Any) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
        raise BadProfile("A time isn't a number", where=str(key)[:100])
    if abs(seconds) > LONGEST_S:
        raise BadProfile("A time is longer than anything lasts", where=str(key)[:100])
    return max(round(seconds * SECOND), 0)
