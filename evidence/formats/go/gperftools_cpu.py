"""Binary CPU profiles of gperftools and tcmalloc: stacks of addresses with how often each occurred.

Source: gperftools, ``docs/cpuprofile-fileformat``. Every number is a machine word of the recording machine: 4 or 8
bytes, in its byte order. As in ``go tool pprof``, frames that the profiler's own signal handler put on all stacks are
dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evidence.formats import Buffer
from evidence.formats.base import held
from evidence.formats.base.gather import Gather
from evidence.formats.go.legacy_pprof import NAMELESS
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NAME = "gperftools cpu"
KINDS = (SampleType("samples", "samples"), SampleType("cpu", "nanoseconds"))
WORDS = ("<u4", ">u4", "<u8", ">u8")
HEAD_WORDS = 5
LONGEST_PERIOD_US = 60_000_000
MICROSECOND = 1_000
# The share of samples that may lack a signal handler's frame that all others have; and how many such frames there are.
FEW, HANDLERS = 1 / 32, 2
Words = NDArray[np.unsignedinteger]


class AddressSample(NamedTuple):
    """How often a stack occurred, its addresses, innermost first, and the word at which it begins."""

    met: int
    addresses: tuple[int, ...]
    at: int


def claim(head: bytes) -> Claim | None:
    """Recognise the five header words, one of which is the sampling period."""
    if _head(head):
        return Claim(Certainty.SURE, "its first five words are those of a CPU profile of gperftools")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read every stack with its samples and their time. Raises ``BadProfile`` naming the byte; ``TooMuch``."""
    content = held.at_once(data, limits=limits)
    found = _head(content[:64])
    if found is None:
        raise BadProfile("Its head isn't that of a CPU profile", where="byte 0")
    word, period_us = found
    words: Words = np.frombuffer(content, dtype=word, count=len(content) // np.dtype(word).itemsize)
    gather = Gather(KINDS, limits=limits)
    for sample in _cleaned(list(_samples(words, limits))):
        stack = [gather.code(hex(address)) for address in reversed(sample.addresses)]
        where = f"byte {sample.at * words.itemsize}"
        gather.add(stack, [sample.met, sample.met * period_us * MICROSECOND], where=where)
    if not gather.names:
        raise BadProfile("It has a head and no samples")
    return gather.stacks(NAME, default_type=1, about={"caution": NAMELESS})


def _head(head: bytes) -> tuple[str, int] | None:
    """Return how words are written and the sampling period, if this is the head of such a profile."""
    for word in WORDS:
        size = np.dtype(word).itemsize * HEAD_WORDS
        if len(head) >= size:
            first = np.frombuffer(head[:size], dtype=word).tolist()
            if first[:3] == [0, 3, 0] and 0 < first[3] <= LONGEST_PERIOD_US and first[4] == 0:
                return word, first[3]
    return None


def _samples(words: Words, limits: Limits) -> Iterator[AddressSample]:
    at = HEAD_WORDS
    while at < len(words):
        count, depth = (int(word) for word in words[at : at + 2].tolist()) if at + 1 < len(words) else (0, 0)
        end = at + 2 + depth
        if not depth or end > len(words) or depth > limits.depth:
            raise BadProfile("A stack goes past the end, or has no frames", where=f"byte {at * words.itemsize}")
        addresses = words[at + 2 : end].tolist()
        if not count and addresses == [0]:
            return
        # A caller's address is the one after its call.
        yield AddressSample(count, (addresses[0], *(max(one - 1, 0) for one in addresses[1:])), at)
        at = end


def _cleaned(samples: Sequence[AddressSample]) -> Sequence[AddressSample]:
    """Drop the signal handler's frames above the innermost frame, and a duplicated innermost frame."""
    for _ in range(HANDLERS):
        above = Counter(sample.addresses[1] for sample in samples if len(sample.addresses) > 1)
        handler = next(
            (one for one, seen in above.most_common(1) if seen >= len(samples) - int(len(samples) * FEW)), None
        )
        samples = [_without(sample, handler) for sample in samples]
    return [_without(sample, sample.addresses[0] - 1) for sample in samples]


def _without(sample: AddressSample, address: int | None) -> AddressSample:
    first, *others = sample.addresses
    return sample._replace(addresses=(first, *others[1:])) if others and others[0] == address else sample
