"""A minimal JFR recording of given stacks, for tests."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

# Class id -> name, and its fields with the id of their class; * marks a key, + marks an array.
CLASSES = {
    1: ("long", ""),
    2: ("int", ""),
    3: ("boolean", ""),
    4: ("java.lang.String", ""),
    10: ("jdk.types.Symbol", "string:4"),
    11: ("java.lang.Class", "name:10*"),
    12: ("jdk.types.Method", "type:11* name:10*"),
    13: ("jdk.types.FrameType", "description:4"),
    14: ("jdk.types.StackFrame", "method:12* lineNumber:2 type:13*"),
    15: ("jdk.types.StackTrace", "truncated:3 frames:14+"),
    16: ("java.lang.Thread", "osName:4 javaName:4"),
    17: ("jdk.types.ThreadState", "name:4"),
    20: ("jdk.ExecutionSample", "startTime:1 sampledThread:16* stackTrace:15* state:17*"),
    21: ("profiler.WallClockSample", "startTime:1 stackTrace:15* samples:2"),
    22: ("jdk.ThreadPark", "startTime:1 duration:1 stackTrace:15*"),
    23: ("jdk.ObjectAllocationSample", "startTime:1 stackTrace:15* weight:1"),
    24: ("jdk.CPUTimeSample", "startTime:1 stackTrace:15* samplingPeriod:1"),
    25: ("jdk.ActiveSetting", "startTime:1 name:4 value:4"),
}
Sample = tuple[Sequence[str], int]
# The key of the first stack, and the flag for a truncated stack.
FIRST_KEY = 1
TRUNCATED = b"\0"


class Writer:
    """Writes numbers and strings, compressed or at full width."""

    def __init__(self, *, packed: bool) -> None:
        self.packed = packed

    def long(self, value: int) -> bytes:
        return varint(value) if self.packed else struct.pack(">q", value)

    def int(self, value: int) -> bytes:
        return varint(value) if self.packed else struct.pack(">i", value)

    def string(self, text: str) -> bytes:
        encoded = text.encode()
        return b"\x03" + self.int(len(encoded)) + encoded

    def event(self, content: bytes) -> bytes:
        """Put its own size before an event."""
        size = len(content) + 4
        padded = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21])
        return (padded if self.packed else struct.pack(">i", size)) + content


def varint(value: int) -> bytes:
    """Write seven bits per byte, and eight in the ninth."""
    out = b""
    for _ in range(8):
        if value < 128:
            return out + bytes([value])
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value & 255])


def recording(
    samples: Iterable[Sample],
    *,
    kind: int = 20,
    packed: bool = True,
    frame_type: str = "JIT compiled",
    hertz: int = 10**9,
    states: Sequence[str] = ("STATE_RUNNABLE",),
    event: str = "",
    cut_at: int = 0,
) -> bytes:
    """Return one chunk with an event for each sample, or as many as it counts for a kind that counts by one.

    ``states`` are the states of execution samples, in turn; ``event`` is async-profiler's setting. Stacks with
    ``cut_at`` frames are marked as truncated.
    """
    write = Writer(packed=packed)
    samples = list(samples)
    names = sorted({name for stack, _ in samples for name in stack})
    stacks = sorted({tuple(stack) for stack, _ in samples})
    place = {stack: at for at, stack in enumerate(stacks)}
    events = b""
    if event:
        events += write.event(write.long(25) + write.long(5) + write.string("event") + write.string(event))
    for at, (stack, value) in enumerate(samples):
        key = write.long(place[tuple(stack)] + FIRST_KEY)
        state = write.long(at % len(states) + 1)
        if kind == 20:
            events += write.event(write.long(20) + write.long(5) + write.long(1) + key + state) * value
        elif kind == 22:
            events += write.event(write.long(22) + write.long(5) + write.long(value) + key)
        else:
            number = write.int if kind == 21 else write.long
            events += write.event(write.long(kind) + write.long(5) + key + number(value))
    constants = write.event(_constants(write, names, stacks, frame_type, states, cut_at))
    metadata = write.event(_metadata(write))
    where = 68 + len(events)
    size = where + len(constants) + len(metadata)
    flags = int(packed)
    head = struct.pack(
        ">4shhqqqqqqqI", b"FLR\0", 2, 1, size, where, where + len(constants), 0, 7 * 10**9, 0, hertz, flags
    )
    return head + events + constants + metadata


def _constants(
    write: Writer, names: Sequence[str], stacks: Sequence[tuple[str, ...]], frame_type: str, states: Sequence[str],
    cut_at: int,
) -> bytes:  # fmt: skip
    def pool(kind: int, values: Sequence[bytes], *, first: int = 1) -> bytes:
        keyed = b"".join(write.long(key) + value for key, value in enumerate(values, start=first))
        return write.long(kind) + write.int(len(values)) + keyed

    method = {name: write.long(key) for key, name in enumerate(names, start=1)}

    def frames(stack: tuple[str, ...]) -> bytes:
        each = (method[name] + write.int(7) + write.long(1) for name in reversed(stack))
        return (b"\1" if len(stack) == cut_at else TRUNCATED) + write.int(len(stack)) + b"".join(each)

    pools = [
        pool(10, [write.string(name) for name in names]),
        pool(12, [write.long(0) + write.long(key) for key in range(1, len(names) + 1)]),
        pool(13, [write.string(frame_type)]),
        pool(15, [frames(stack) for stack in stacks], first=FIRST_KEY),
        pool(16, [write.string("os-1") + write.string("main")]),
        pool(17, [write.string(state) for state in states]),
    ]
    return write.long(1) + write.long(0) * 3 + b"\1" + write.int(len(pools)) + b"".join(pools)


def _metadata(write: Writer) -> bytes:
    strings: list[str] = []

    def word(text: str) -> bytes:
        if text not in strings:
            strings.append(text)
        return write.int(strings.index(text))

    def element(name: str, attributes: dict[str, str], children: Sequence[bytes] = ()) -> bytes:
        pairs = b"".join(word(key) + word(value) for key, value in attributes.items())
        return word(name) + write.int(len(attributes)) + pairs + write.int(len(children)) + b"".join(children)

    def field(said: str) -> bytes:
        name, of = said.split(":")
        more = {"constantPool": "true"} if of.endswith("*") else {"dimension": "1"} if of.endswith("+") else {}
        return element("field", {"name": name, "class": of.rstrip("*+"), **more})

    classes = [
        element("class", {"id": str(key), "name": name}, [field(said) for said in fields.split()])
        for key, (name, fields) in CLASSES.items()
    ]
    tree = element("root", {}, [element("metadata", {}, classes), element("region", {})])
    texts = write.int(len(strings)) + b"".join(write.string(text) for text in strings)
    return write.long(0) + write.long(0) * 3 + texts + tree
