"""The result of reading ``perf script``: distinct stacks, and how often each occurred for each event."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any

import numpy as np

from evidence.formats.perf.events import Events
from evidence.formats.perf.names import FunctionCodes, StackLines
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.stacks import Codes, Ints, Stacks

SHOWN_THREADS = 200


class Gathered:
    """Stacks as the bytes of their codes, root first. A slot is one stack with one event.

    ``first`` and ``last`` are times of samples, in seconds as printed.
    """

    def __init__(self, *, limits: Limits) -> None:
        self.names = FunctionCodes(limits)
        self.lines = StackLines(self.names)
        self.events = Events(limits)
        self.counts: list[int] = []
        self.weights: list[int] = []
        self.first: bytes | None = None
        self.last: bytes | None = None
        self._limits = limits
        self._slots: dict[tuple[int, int], int] = {}
        self._stacks: dict[bytes, int] = {}
        self._roots: dict[bytes, bytes] = {b"": b""}
        self._frames = 0

    def root(self, comm: bytes) -> bytes:
        """Return the first frame of a thread's stacks, its name; *swapper* means idle."""
        root = self._roots.get(comm)
        if root is None:
            name = comm.decode(errors="replace").replace(";", ":")
            code = self.names.code(name, "idle" if comm == b"swapper" else "")
            root = self._roots[comm] = array("i", [code]).tobytes()
        return root

    def frames(self, codes: list[int]) -> bytes:
        """Return the frames of stack lines, given innermost first, as bytes, root first."""
        frames = self.lines.frames(codes)
        return array("i", frames[::-1]).tobytes()

    def spread(self, stack: bytes) -> bytes:
        """Return the frames of stack lines, given by their codes, as bytes, root first."""
        if self.lines.holds_several:
            return self.frames(np.frombuffer(stack, dtype=np.int32)[::-1].tolist())
        return stack

    def slot(self, stack: bytes, event: int) -> int:
        """Return where samples with this stack and event are counted. Raises ``TooMuch``."""
        place = self._stacks.setdefault(stack, len(self._stacks))
        slot = self._slots.setdefault((place, event), len(self.counts))
        if slot == len(self.counts):
            self._check(len(stack) // 4)
            self.counts.append(0)
            self.weights.append(0)
        return slot

    def count(self, stack: bytes, event: int, count: int, weight: int) -> None:
        """Count samples with this stack and event, and their weight. Raises ``TooMuch``."""
        slot = self.slot(stack, event)
        self.counts[slot] += count
        self.weights[slot] += weight

    def _check(self, depth: int) -> None:
        self._frames += depth
        if depth > self._limits.depth:
            raise TooMuch(f"A stack is {depth:,} frames deep; the limit is {self._limits.depth:,}")
        if len(self.counts) >= self._limits.stacks:
            raise TooMuch(f"It has more than {self._limits.stacks:,} different stacks")
        if self._frames > self._limits.frames:
            raise TooMuch(f"Its stacks have more than {self._limits.frames:,} frames in all")

    def stacks(self, about: dict[str, Any]) -> Stacks:
        """Return everything. Raises ``BadProfile`` if the periods do not fit in 63 bits."""
        if sum(self.weights) >= 1 << 63:
            raise BadProfile("The periods add up to more than fits in 63 bits")
        pairs = np.fromiter((number for pair in self._slots for number in pair), dtype=np.int64).reshape(-1, 2)
        counts, weights = (np.array(column, dtype=np.int64) for column in (self.counts, self.weights))
        size = len(self._stacks)
        depths = np.fromiter((len(stack) // 4 for stack in self._stacks), dtype=np.int64, count=size)
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(depths)])
        frames = np.frombuffer(b"".join(self._stacks), dtype=np.int32)
        return Stacks(
            format="perf script",
            sample_types=self.events.sample_types(),
            names=list(self.names.codes),
            hints=self.names.hints,
            offsets=offsets,
            frames=frames,
            values=self.events.values(pairs[:, 1], pairs[:, 0], counts=counts, weights=weights, size=size),
            default_type=self.events.default_type,
            about={"threads": self._threads(pairs[:, 0], counts, frames, offsets), **about},
        )

    def _threads(self, stacks: Ints, counts: Ints, frames: Codes, offsets: Ints) -> dict[str, int]:
        """Count samples by thread name, the root of each stack; most frequent first."""
        names = list(self.names.codes)
        roots = {code for root in self._roots.values() for code in np.frombuffer(root, dtype=np.int32).tolist()}
        some = np.flatnonzero(np.diff(offsets) > 0)
        root_of = np.full(len(offsets) - 1, -1, dtype=np.int64)
        root_of[some] = frames[offsets[some]]
        threads: Counter[str] = Counter()
        for code, count in zip(root_of[stacks].tolist(), counts.tolist(), strict=True):
            if code in roots:
                threads[names[code]] += count
        return dict(threads.most_common(SHOWN_THREADS))
