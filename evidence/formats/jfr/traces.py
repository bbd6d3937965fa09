"""Stack traces of a JFR chunk as codes: constants that refer to constants, followed without recursion."""

from __future__ import annotations

from operator import add
from typing import Any, NamedTuple

import numpy as np

from evidence.formats.base.gather import Gather
from evidence.formats.jfr.chunk import Chunk
from evidence.formats.jfr.pools import TraceColumns
from evidence.profile.stacks import Codes, Ints

FRAME_TYPES = {
    "Interpreted": "interpreted", "JIT compiled": "jit", "C1 compiled": "jit", "Inlined": "inlined", "Native": "native",
    "C++": "native", "Kernel": "kernel",
}  # fmt: skip
UNKNOWN = "[unknown]"
# How many frames are turned into codes at a time, unless a single stack has more.
AT_ONCE = 1 << 16


class CutStacks(NamedTuple):
    """What stacks without their outermost frames count, for each sample type, and the depth of the deepest one."""

    values: list[int]
    depth: int = 0

    def plus(self, other: CutStacks) -> CutStacks:
        """Return the sum of both."""
        return CutStacks(list(map(add, self.values, other.values)), max(self.depth, other.depth))


class Stacktraces:
    """The stacks of one chunk. A missing constant counts as unknown, as in ``jfr print``."""

    def __init__(self, chunk: Chunk, gather: Gather) -> None:
        self.chunk = chunk
        self.gather = gather
        self._classes = {found.name: found for found in chunk.classes.found.values()}
        self._places: dict[tuple[str, str], int] = {}
        self._names: dict[int, str] = {}
        self._codes: dict[tuple[int, int], int] = {}

    def pour(self, keys: Ints, values: Ints) -> CutStacks:
        """Add stacks by key with their counts: a row of ``values`` for each sample type.

        Return what the recorder truncated from them.
        """
        places, columns = self.chunk.constants.traces().columns(keys)
        together = places >= 0
        within = places[together]
        codes = self._many(within, columns)
        named = keys[together].tolist()
        self.gather.add_many(codes, columns.sizes[within], values[:, together], what="stack", keys=named)
        cut = columns.truncated[within].astype(np.bool_)
        cut_off = CutStacks(
            values[:, together][:, cut].sum(axis=1).tolist(), int(columns.sizes[within[cut]].max(initial=0))
        )
        for at in np.flatnonzero(~together).tolist():
            key = int(keys[at])
            one, is_cut = self._one(key)
            self.gather.add(one, values[:, at].tolist(), where=f"stack {key}")
            cut_off = cut_off.plus(CutStacks(values[:, at].tolist(), len(one))) if is_cut else cut_off
        return cut_off

    def _many(self, places: Ints, columns: TraceColumns) -> Codes:
        """Return the codes of the frames of many stacks, root first; the name of each distinct frame is looked up once.

        It handles as many at a time as keep its data in the processor's cache, which accounts for most of the cost.
        """
        last, sizes = np.cumsum(columns.sizes)[places] - 1, columns.sizes[places]
        ends = np.cumsum(sizes)
        codes = np.empty(int(sizes.sum()), dtype=np.int32)
        known = np.full(len(columns.methods), -1, dtype=np.int32)
        begin = at = 0
        while begin < len(places):
            end = max(int(np.searchsorted(ends, at + AT_ONCE)), begin + 1)
            size, to = sizes[begin:end], int(ends[end - 1])
            frames = np.repeat(last[begin:end] + ends[begin:end] - size, size) - np.arange(at, to)
            numbers = columns.frames[frames]
            for number in dict.fromkeys(numbers[known[numbers] < 0].tolist()):
                known[number] = self._code_of(int(columns.methods[number]), int(columns.types[number]))
            codes[at:to] = known[numbers]
            begin, at = end, to
        return codes

    def _one(self, key: int) -> tuple[list[int], bool]:
        """Return a stack that is not in columns."""
        stack = self._constant("jdk.types.StackTrace", key)
        if stack is None:
            return [], False
        frames = self._of(stack, "jdk.types.StackTrace", "frames")
        codes = [self._code(frame) for frame in reversed(frames)] if isinstance(frames, list) else []
        return codes, bool(self._of(stack, "jdk.types.StackTrace", "truncated"))

    def _code(self, frame: Any) -> int:
        return self._code_of(self._key(frame, "method"), self._key(frame, "type"))

    def _code_of(self, method: int, kind: int) -> int:
        if (method, kind) not in self._codes:
            self._codes[method, kind] = self.gather.code(self.name(method), hint=self._hint(kind))
        return self._codes[method, kind]

    def _key(self, frame: Any, name: str) -> int:
        key = self._of(frame, "jdk.types.StackFrame", name)
        return key if isinstance(key, int) else 0

    def name(self, key: int) -> str:
        """Return the name of a method including its class; native frames have no class."""
        if key not in self._names:
            method = self._constant("jdk.types.Method", key)
            owner = self._constant("java.lang.Class", self._of(method, "jdk.types.Method", "type"))
            parts = (
                self._symbol(self._of(owner, "java.lang.Class", "name")).replace("/", "."),
                self._symbol(self._of(method, "jdk.types.Method", "name")),
            )
            self._names[key] = ".".join(part for part in parts if part) or UNKNOWN
        return self._names[key]

    def thread(self, key: int) -> str:
        """Return a thread's name in Java, else in the operating system."""
        thread = self._constant("java.lang.Thread", key)
        names = (self._text(self._of(thread, "java.lang.Thread", name)) for name in ("javaName", "osName"))
        return next((name[:100] for name in names if name), "")

    def _hint(self, key: int) -> str:
        kind = self._constant("jdk.types.FrameType", key)
        return FRAME_TYPES.get(self._text(self._of(kind, "jdk.types.FrameType", "description")), "")

    def _symbol(self, key: Any) -> str:
        if isinstance(key, str):
            return key
        symbol = self._constant("jdk.types.Symbol", key)
        return self._text(self._of(symbol, "jdk.types.Symbol", "string"))

    def _text(self, value: Any) -> str:
        if isinstance(value, int):
            value = self._constant("java.lang.String", value)
        return value if isinstance(value, str) else ""

    def _constant(self, kind: str, key: Any) -> Any:
        return self.chunk.constants.get(kind, key) if isinstance(key, int) else key

    def _of(self, value: Any, kind: str, name: str) -> Any:
        place = self._place(kind, name)
        return value[place] if isinstance(value, tuple) and 0 <= place < len(value) else None

    def _place(self, kind: str, name: str) -> int:
        if (kind, name) not in self._places:
            found = self._classes.get(kind)
            self._places[kind, name] = found.place(name) if found else -1
        return self._places[kind, name]
