"""Austin's binary form, MOJO: one-byte events, with numbers of any length and texts that end in a zero.

Source: github.com/P403n1x87/austin, ``src/mojo.h``, versions 1 to 4. Frames and texts are given once and then
referenced within their process. A truncated recording keeps all samples before the cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evidence.formats import Buffer
from evidence.formats.base import held
from evidence.formats.python import austin_samples
from evidence.formats.python.austin_samples import AustinMetrics, AustinSamples, AustinStack, Frame
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile, NotRecognised, TooMuch
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import Stacks

NAME = "austin mojo"
MARK = b"MOJ"
VERSIONS = range(1, 5)
OTHER = "This is a version of Austin's MOJO that we don't read. `mojo2austin FILE OUT` makes text we read."
LONGEST_NUMBER, LONGEST_TEXT, MOST = 10, 4096, 1 << 63
UNKNOWN_TEXT = {0: "", 1: "<unknown>"}
(
    METADATA, STACK, FRAME, FRAME_INVALID, FRAME_REF, FRAME_KERNEL, GC, IDLE, TIME, MEMORY, STRING, STRING_REF, REPEAT,
    TASK_STACK, TASK_WAITER,
) = range(1, 16)  # fmt: skip


class CutOff(Exception):
    """The content ends within an event."""


def claim(head: bytes) -> Claim | None:
    """Recognise the mark, and the version after it."""
    if head[:3] == MARK and len(head) > 3 and head[3] < 0x40:
        return Claim(Certainty.SURE, "it begins with the mark of Austin's MOJO")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the samples of all threads. Raises ``BadProfile`` naming the byte; ``TooMuch``; ``NotRecognised``."""
    mojo = MojoReader(held.at_once(data, limits=limits), limits)
    cut_at = mojo.read()
    gather, about = mojo.samples.gathered(mojo.said, limits=limits)
    if cut_at is not None:
        about |= {"skipped": 1, "skipped_at": [[cut_at, "the last event, which is cut off"]]}
    return gather.stacks(NAME, about=about)


class MojoReader:
    """Reads one event after the other."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self.samples = AustinSamples()
        self.said: dict[str, str] = {}
        self._data = data
        self._limits = limits
        self._at = len(MARK)
        self._version = self._number()
        self._texts: dict[tuple[int, int], str] = {}
        self._frames: dict[tuple[int, int], Frame] = {}
        self._last: dict[tuple[int, str], list[Frame]] = {}  # the last stack of each thread
        self._pid = 0
        self._thread = ""
        self._stack: list[Frame] | None = None  # of the current sample; None between samples, and in tasks
        self._metrics: dict[str, int] = {}
        self._events = self._reads()
        if self._version not in VERSIONS:
            raise NotRecognised(OTHER)

    def read(self) -> int | None:
        """Read all events; return the byte of the truncated one, if any.

        Raises ``BadProfile`` for malformed content.
        """
        begun = self._at
        try:
            while self._at < len(self._data):
                begun = self._at
                event = self._data[begun]
                self._at += 1
                if event not in self._events:
                    raise BadProfile(f"Event {event} is none of MOJO's", where=f"byte {begun}")
                self._events[event]()
        except CutOff:
            return begun
        self._end()
        return None

    def _begin(self) -> None:
        self._end()
        self._pid = self._number()
        interpreter = f"{self._number()}:" if self._version >= 3 else ""
        self._thread = f"{interpreter}{self._text()}"
        self._stack = []

    def _end(self) -> None:
        """Add the sample that ends here, if there is one that counts something."""
        stack, metrics = self._stack, self._metrics
        self._stack, self._metrics = None, {}
        if stack is None:
            return
        self._last[self._pid, self._thread] = stack
        if {"time", "memory"} & set(metrics):
            frames = (*stack, austin_samples.collecting()) if metrics.get("collecting") else tuple(stack)
            counted = AustinMetrics(metrics.get("time"), metrics.get("memory"), bool(metrics.get("idle")))
            self.samples.add(AustinStack(str(self._pid), self._thread, frames), counted)

    def _repeat(self) -> None:
        self._push(*self._last.get((self._pid, self._thread), []))

    def _push(self, *frames: Frame) -> None:
        """Add frames to the current sample's stack; those of waiting tasks belong to none."""
        if self._stack is not None:
            self._stack.extend(frames)
            if len(self._stack) > self._limits.depth:
                raise TooMuch(f"A stack is deeper than {self._limits.depth:,} frames", where=f"byte {self._at}")

    def _task(self) -> None:
        """Skip the stack of a waiting task, whose time is not the thread's."""
        self._end()
        self._number()
        self._number()

    def _frame(self) -> None:
        key = self._pid, self._number()
        file, name = self._known_text(), self._known_text()
        line = self._number()
        for _ in range(3 if self._version >= 2 else 0):
            self._number()
        if len(self._frames) >= self._limits.names:
            raise TooMuch(f"It has more than {self._limits.names:,} frames")
        self._frames[key] = Frame(name, file, max(line, 0))

    def _frame_ref(self) -> None:
        at, key = self._at, self._number()
        frame = self._frames.get((self._pid, key))
        if frame is None:
            raise BadProfile(f"Frame {key} does not exist", where=f"byte {at}")
        self._push(frame)

    def _known_text(self) -> str:
        at, key = self._at, self._number()
        found = self._texts.get((self._pid, key), UNKNOWN_TEXT.get(key))
        if found is None:
            raise BadProfile(f"Text {key} does not exist", where=f"byte {at}")
        return found

    def _string(self) -> None:
        key = self._pid, self._number()
        self._texts[key] = self._text()

    def _metadata(self) -> None:
        key = self._text()
        self.said[key[:40]] = self._text()

    def _reads(self) -> Mapping[int, Callable[[], object]]:
        """Return the reader for each event, to be called after its byte."""
        return {
            METADATA: self._metadata, STACK: self._begin, FRAME: self._frame, FRAME_REF: self._frame_ref,
            STRING: self._string, STRING_REF: self._known_text, REPEAT: self._repeat,
            TASK_STACK: self._task, TASK_WAITER: self._task,
            FRAME_INVALID: lambda: self._push(austin_samples.invalid()),
            FRAME_KERNEL: lambda: self._push(austin_samples.kernel(self._text())),
            TIME: lambda: self._count(time=self._number()),
            MEMORY: lambda: self._count(memory=self._number()),
            IDLE: lambda: self._count(idle=True),
            GC: lambda: self._count(collecting=True),
        }  # fmt: skip

    def _count(self, **metrics: int) -> None:
        self._metrics |= metrics

    def _number(self) -> int:
        """Read a number: 6 bits and a sign in the first byte, 7 in each that follows."""
        data, at = self._data, self._at
        value = shift = 0
        sign = 1
        for place in range(at, at + LONGEST_NUMBER):
            if place >= len(data):
                raise CutOff
            byte = data[place]
            if place == at:
                sign, value, shift = -1 if byte & 0x40 else 1, byte & 0x3F, 6
            else:
                value |= (byte & 0x7F) << shift
                shift += 7
            if byte < 0x80 and value >= MOST:
                break
            if byte < 0x80:
                self._at = place + 1
                return sign * value
        raise BadProfile("A number is longer than 64 bits", where=f"byte {at}")

    def _text(self) -> str:
        end = self._data.find(b"\0", self._at, self._at + LONGEST_TEXT)
        if end < 0:
            if len(self._data) - self._at < LONGEST_TEXT:
                raise CutOff
            raise BadProfile(f"A text is longer than {LONGEST_TEXT} bytes", where=f"byte {self._at}")
        text = self._data[self._at : end].decode(errors="replace")
        self._at = end + 1
        return text
