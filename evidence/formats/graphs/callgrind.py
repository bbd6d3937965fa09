"""Callgrind's format, written by valgrind, Xdebug and others: costs of lines, and total costs of calls.

Source: the Valgrind manual, *Callgrind Format Specification*. Names may be compressed, ``(12) name`` once and ``(12)``
afterwards; a ``calls=`` line says that the cost on the next line is that of calls. A callee is in the file and object
named last, unless ``cfi=`` and ``cob=`` name others.
"""

from __future__ import annotations

import re
from collections import defaultdict

from evidence.formats import Buffer
from evidence.formats.base import held, texts
from evidence.formats.base.gather import MOST, Gather
from evidence.formats.base.skipped import Skipped
from evidence.formats.graphs.callgraph import ESTIMATED, CallGraph
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType, Stacks

NAME = "callgrind"
EVENTS = re.compile(rb"events:\s*(\S[^\n]*)")
POSITIONS = re.compile(rb"positions:\s*(\S[^\n]*)")
SPEC = re.compile(rb"(fn|cfn|fl|fi|fe|cfi|cfl|ob|cob)=(?:\((\d{1,12})\))?\s*(.*)")
COST = re.compile(rb"(?:[+-]?\d+|\*|0x[0-9a-fA-F]+)(?:\s+(?:[+-]?\d+|\*|0x[0-9a-fA-F]+))*\s*$")
FILES, CALLED_FILES, UNKNOWN = (b"fl", b"fi", b"fe"), (b"cfi", b"cfl"), {b"", b"???"}
CALLS, JUMP = b"calls=", (b"jump=", b"jcnd=")
HEADER = re.compile(rb"[a-z]+: ?|#|$")
TIME, LONGEST = SampleType("time", "nanoseconds"), 18  # digits in a cost
UNITS = {"Time_(10ns)": (10, TIME), "Time": (1_000, TIME), "Memory_(bytes)": (1, SampleType("memory", "bytes"))}


def claim(head: bytes) -> Claim | None:
    """Recognise the line of events and a function's line."""
    lines = texts.lines(head)
    begins = any(EVENTS.match(line) for line in lines[:40])
    if b"# callgrind format" in texts.plain(head)[:200]:
        return Claim(Certainty.SURE, "it says that it is of callgrind's format")
    if begins and any(line.startswith(b"fn=") for line in lines):
        return Claim(Certainty.SURE, "it has callgrind's events and functions")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read each function's cost for every event, on paths estimated for each. Raises ``BadProfile`` naming the line.

    An event with some negative costs, such as Xdebug's memory after it was freed, is left out and named.
    """
    lines = texts.plain(held.at_once(data, limits=limits)).split(b"\n")
    reading = _Reading(limits)
    for number, line in enumerate(lines, 1):
        reading.take(line.rstrip(), number)
    return reading.stacks()


class _Reading:
    """The state of reading: the function that costs belong to, and the call that the next cost is for."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._events: list[str] = []
        self._own: dict[int, list[int]] = defaultdict(self._nothing)
        self._calls: dict[tuple[int, int], list[int]] = defaultdict(self._nothing)
        self._below_zero: set[int] = set()
        self._positions = 1
        self._names: dict[tuple[bytes, bytes], bytes] = {}
        self._functions: dict[tuple[bytes, ...], int] = {}
        self._places: list[SourceFunction] = []
        self._file = self._object = self._called_file = self._called_object = b""
        self._function = self._callee = -1
        self._is_call = False
        self._skipped = Skipped()

    def _nothing(self) -> list[int]:
        return [0] * len(self._events)

    def take(self, line: bytes, number: int) -> None:
        """Take one line."""
        if found := SPEC.match(line):
            self._named(found, number)
        elif COST.match(line):
            self._costs(line.split(), number)
        elif line.startswith(CALLS):
            self._is_call = True
        elif found := EVENTS.match(line):
            named = [one.decode(errors="replace")[:100] for one in found[1].split()[: self._limits.sample_types]]
            self._events = self._events or list(dict.fromkeys(named))
        elif found := POSITIONS.match(line):
            self._positions = len(found[1].split())
        elif not line.startswith(JUMP) and not HEADER.match(line):
            self._skipped.add(number, line)

    def _named(self, found: re.Match[bytes], number: int) -> None:
        what, key, name = found.groups()
        if key is not None:
            kept = (what[-2:] if what[-2:] in (b"fn", b"ob") else b"fl", key)  # each kind is numbered separately
            name = self._names.setdefault(kept, name) if name else self._names.get(kept, b"(" + key + b")")
        if what in FILES:
            self._file = name
        elif what in CALLED_FILES:
            self._called_file = name
        elif what == b"ob":
            self._object = name
        elif what == b"cob":
            self._called_object = name
        elif not self._events:
            raise BadProfile("It has functions before it says which events it counts", where=f"line {number}")
        elif what == b"fn":
            self._function = self._code(key, name, self._file, self._object)
        else:
            file, object = self._called_file or self._file, self._called_object or self._object
            self._callee = self._code(key, name, file, object)
            self._called_file = self._called_object = b""

    def _code(self, key: bytes | None, name: bytes, file: bytes, object: bytes) -> int:
        """Return a function's code: by its own number in the file if it has one, else by name and file."""
        known = (name, file) if key is None else (key,)
        code = self._functions.setdefault(known, len(self._places))
        if code == len(self._places):
            at = object if file in UNKNOWN else file
            self._places.append(SourceFunction(name.decode(errors="replace"), at.decode(errors="replace")))
        return code

    def _costs(self, words: list[bytes], number: int) -> None:
        values = words[self._positions :]
        if not values or self._function < 0:
            return
        costs = self._calls[self._function, self._callee] if self._is_call else self._own[self._function]
        for event, value in zip(range(len(costs)), values, strict=False):
            if value.isdigit() and len(value) <= LONGEST:
                costs[event] += int(value)
            elif event and value[:1] == b"-":
                self._below_zero.add(event)
            else:
                raise BadProfile(f"{value.decode()!r:.40} isn't a cost", where=f"line {number}")
        self._is_call = False

    def stacks(self) -> Stacks:
        """Return everything on estimated paths. Raises ``BadProfile`` if nothing costs anything."""
        totals = [sum(costs) for costs in zip(*self._own.values(), strict=True)]
        counted = [event for event, total in enumerate(totals) if total and event not in self._below_zero]
        if not counted:
            raise BadProfile("It has no costs of functions", where=self._skipped.where)
        units = [UNITS.get(self._events[event], (1, SampleType(self._events[event], "events"))) for event in counted]
        if any(totals[event] * times > MOST for event, (times, _) in zip(counted, units, strict=True)):
            raise BadProfile("The costs add up to more than fits in 63 bits")
        gather = Gather([kind for _, kind in units], limits=self._limits)
        names = gather.names_of(self._places)
        codes = [gather.code(names[place]) for place in self._places]
        for type, (event, (times, _)) in enumerate(zip(counted, units, strict=True)):
            self._graph(codes, event, times).pour(gather, type=type)
        return gather.stacks(NAME, about=ESTIMATED | self._skipped.about() | self._left_out())

    def _graph(self, codes: list[int], event: int, times: int) -> CallGraph:
        graph = CallGraph()
        for function, costs in self._own.items():
            graph.costs(codes[function], costs[event] * times)
        for (caller, callee), costs in self._calls.items():
            graph.calls(codes[caller], codes[callee], costs[event] * times)
        return graph

    def _left_out(self) -> dict[str, str]:
        below = ", ".join(self._events[event] for event in sorted(self._below_zero))
        return {"caution": f"{below} is left out, as some of it is below zero."} if below else {}
