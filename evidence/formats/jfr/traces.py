"""Stack traces of a JFR chunk as codes: constants that point to constants, followed without recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evidence.formats.base.gather import Gather
from evidence.formats.jfr import varints
from evidence.formats.jfr.chunk import Chunk
from evidence.profile.stacks import Codes, Ints

FRAME_TYPES = {
    "Interpreted": "interpreted", "JIT compiled": "jit", "C1 compiled": "jit", "Inlined": "inlined", "Native": "native",
    "C++": "native", "Kernel": "kernel",
}  # fmt: skip
UNKNOWN = "[unknown]"


class Stacktraces:
    """The stacks of one chunk. A constant that is not there stands for nothing known, as in ``jfr print``."""

    def __init__(self, chunk: Chunk, gather: Gather) -> None:
        self.chunk = chunk
        self.gather = gather
        self._classes = {found.name: found for found in chunk.classes.found.values()}
        self._names: dict[int, str] = {}
        self._codes: dict[tuple[int, int], int] = {}

    def pour(self, stacks: Mapping[int, Sequence[int]]) -> int:
        """Add stacks, given by their keys, with what they count; return how many the recorder cut off."""
        keys = list(stacks)
        places, columns = self.chunk.constants.traces().columns(keys)
        ends = np.cumsum(columns.sizes)
        within = np.array([place for place in places if place >= 0], dtype=np.int64)
        sizes = columns.sizes[within]
        # Root first: the frames of a stack from its last to its first.
        frames = np.repeat(ends[within] - 1 + np.cumsum(sizes) - sizes, sizes) - np.arange(int(sizes.sum()))
        codes = self._many(columns.methods[frames], columns.types[frames])
        together = [(key, stacks[key]) for key, place in zip(keys, places, strict=True) if place >= 0]
        of_each, named = [values for _, values in together], [key for key, _ in together]
        self.gather.add_many(codes, sizes, of_each, what="stack", keys=named)
        truncated = int(np.count_nonzero(columns.truncated[within]))
        for key in (key for key, place in zip(keys, places, strict=True) if place < 0):
            one, cut = self._one(key)
            self.gather.add(one, stacks[key], where=f"stack {key}")
            truncated += cut
        return truncated

    def _many(self, methods: Ints, types: Ints) -> Codes:
        """Return the codes of many frames; of each different one the name is looked up once."""
        different = [varints.numbered(column) for column in (types, methods)]
        width = len(different[0][0])
        both, of_both = varints.numbered(different[1][1] * width + different[0][1])
        first = np.zeros(len(both), dtype=np.int64)
        first[of_both[::-1]] = np.arange(len(of_both))[::-1]
        codes = np.zeros(len(both), dtype=np.int32)
        for at in np.argsort(first).tolist():
            method, type = divmod(int(both[at]), width)
            codes[at] = self._code_of(int(different[1][0][method]), int(different[0][0][type]))
        return codes[of_both]

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
        """Return the name of a method with that of its class; native frames have no class."""
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
        """Return what a thread is called, in Java or else by the operating system."""
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
        found = self._classes.get(kind)
        return found.place(name) if found else -1
