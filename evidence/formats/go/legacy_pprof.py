"""Text profiles from before pprof's protobuf: Go's ``debug=1``, gperftools' heap, growth and contention.

Source: github.com/google/pprof, ``profile/legacy_profile.go``, including its scaling of sampled heaps and contentions.
Go adds each address's function in comments; without them, addresses are used as names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import exp
from typing import NamedTuple

from evidence.formats import Buffer
from evidence.formats.base import held, texts
from evidence.formats.base.gather import Gather
from evidence.formats.base.skipped import Skipped
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NAME = "legacy pprof"
HEAP = re.compile(
    rb"heap profile: *(\d+): *(\d+) *\[ *(\d+): *(\d+) *\] *@ *(heap[_a-z0-9]*|growthz|fragmentationz)/?(\d*)\s*$"
)
COUNT = re.compile(rb"(\w[\w ./-]{0,60}?) profile: total +(\d+)\s*$")
CONTENTION = re.compile(rb"--- (contention|contentionz|mutex)\b.*")
SETTING = re.compile(rb"([a-z/ ]{1,40}?) *= *(\d{1,18})\s*$")
HEAP_LINE = re.compile(
    rb"\s*(\d{1,18}): *(\d{1,18}) *\[ *(\d{1,18}): *(\d{1,18}) *\] *@((?:\s+0x[0-9a-fA-F]{1,16})*)\s*$"
)
PAIR_LINE = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s*@((?:\s+0x[0-9a-fA-F]{1,16})*)\s*$")
COUNT_LINE = re.compile(rb"\s*(\d{1,18})\s*@((?:\s+0x[0-9a-fA-F]{1,16})*)\s*$")
SYMBOL = re.compile(rb"#\s+(0x[0-9a-fA-F]{1,16})(?:\s+(\S.*?)(?:\+0x[0-9a-fA-F]+)?\s+\S+:\d+)?\s*$")
ENDS = (b"MAPPED_LIBRARIES:", b"--- Memory map", b"# runtime.MemStats")
TWICE = (
    "Amounts are scaled by the sampling period as `go tool pprof` does. Go has done so itself since 1.20: "
    "of a newer program they are {times} times too high, and shares hold. Capture it without `debug=1`."
)
NAMELESS = "Functions are addresses. `go tool pprof -proto PROGRAM FILE > OUT` writes a profile with their names."
RUNTIME, UNKNOWN = "[runtime]", "[unknown]"
COUNTED = {"goroutine": "goroutines", "threadcreate": "threads"}
INUSE = (SampleType("inuse_objects", "objects"), SampleType("inuse_space", "bytes"))
ALLOCATED = (SampleType("alloc_objects", "objects"), SampleType("alloc_space", "bytes"))
DELAYS = (SampleType("contentions", "contentions"), SampleType("delay", "nanoseconds"))


Names = list[tuple[int, str]]  # where a function is, and its name, innermost first


class LegacyHead(NamedTuple):
    """The first line's content: the sample types, how lines are read, and how their counts are scaled."""

    types: tuple[SampleType, ...]
    line: re.Pattern[bytes]
    rate: int = 0  # for a heap: bytes between samples
    hertz: int = 0  # for contentions: cycles per second
    period: int = 1


def claim(head: bytes) -> Claim | None:
    """Recognise the first line, which says what the profile is of."""
    lines = texts.lines(head)
    first = lines[0] if lines else b""
    if HEAP.match(first) or CONTENTION.match(first):
        return Claim(Certainty.SURE, "its first line is that of a heap or contention profile as text")
    if COUNT.match(first) and any(COUNT_LINE.match(line) for line in lines[1:3]):
        return Claim(Certainty.SURE, "its first line says of what it is a profile, and how many in all")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read every stack with its counts. Raises ``BadProfile`` naming the line; ``TooMuch``."""
    lines = texts.plain(held.at_once(data, limits=limits)).split(b"\n")
    begin, head = _head(lines)
    gather = Gather(head.types, limits=limits)
    skipped = Skipped()
    hidden = [] if head.line is HEAP_LINE else [RUNTIME]
    named = False
    for number, values, addresses, names in _samples(lines, begin, head, skipped):
        named = named or bool(names) or not addresses
        stack = [gather.code(name) for name in _stack(addresses, names, hidden=hidden)]
        gather.add(stack, values, where=f"line {number}")
    cautions = " ".join(_cautions(head, named=named))
    about = {**({"caution": cautions} if cautions else {}), **skipped.about()}
    stacks = gather.stacks(NAME, default_type=len(head.types) - 1, about=about)
    if not len(stacks):
        raise BadProfile("It has a head and no stacks", where=f"line {begin}")
    return stacks


def _cautions(head: LegacyHead, *, named: bool) -> Iterator[str]:
    """Yield guards; the text doesn't say which version of Go wrote it."""
    if head.period > 1:
        yield TWICE.format(times=head.period)
    if not named:
        yield NAMELESS


def _head(lines: Sequence[bytes]) -> tuple[int, LegacyHead]:
    """Return the number of lines in the head, and its content."""
    at = next((at for at, line in enumerate(lines) if line.strip() and not texts.is_comment(line)), 0)
    line = lines[at] if lines else b""
    if found := HEAP.match(line):
        return at + 1, _of_heap(found)
    if found := CONTENTION.match(line):
        return _of_contention(lines, at + 1)
    if found := COUNT.match(line):
        name = found[1].decode(errors="replace")
        return at + 1, LegacyHead((SampleType(name, COUNTED.get(name, "objects")),), COUNT_LINE)
    raise BadProfile("Its first line doesn't say of what it is a profile", where=f"line {at + 1}")


def _of_heap(found: re.Match[bytes]) -> LegacyHead:
    inuse, how, rate = (found[1], found[2]), found[5], int(found[6] or 0)
    allocates = any(one not in {other, b"0"} for one, other in zip((found[3], found[4]), inuse, strict=True))
    if how == b"heap":
        rate //= 2
    sampled = rate if how in {b"heap", b"heap_v2", b"heapz_v2"} else 0
    return LegacyHead((*ALLOCATED, *INUSE) if allocates else INUSE, HEAP_LINE, rate=sampled)


def _of_contention(lines: Sequence[bytes], at: int) -> tuple[int, LegacyHead]:
    settings: dict[str, int] = {}
    while at < len(lines) and (found := SETTING.match(lines[at])):
        settings[found[1].decode().strip()] = int(found[2])
        at += 1
    hertz, period = settings.get("cycles/second", 0), settings.get("sampling period", 1)
    return at, LegacyHead(DELAYS, PAIR_LINE, hertz=hertz, period=max(period, 1))


def _samples(
    lines: Sequence[bytes], begin: int, head: LegacyHead, skipped: Skipped
) -> Iterator[tuple[int, list[int], list[int], Names]]:
    """Yield the line, the values, the addresses of each stack, innermost first, and the functions that are named."""
    at = begin
    while at < len(lines) and not lines[at].startswith(ENDS):
        line, number = lines[at], at + 1
        at += 1
        found = head.line.match(line)
        if found is None:
            if line.strip() and not line.startswith(b"#"):
                skipped.add(number, line)
            continue
        names: Names = []
        while at < len(lines) and lines[at].startswith(b"#") and not lines[at].startswith(ENDS):
            if (symbol := SYMBOL.match(lines[at])) and (place := int(symbol[1], 16)):
                names.append((place, (symbol[2] or symbol[1]).decode(errors="replace")))
            at += 1
        addresses = [place for address in found[found.re.groups].split() if (place := int(address, 16))]
        try:
            values = _values(found, head)
        except (ZeroDivisionError, OverflowError) as error:
            raise BadProfile("Its sizes and counts don't go with its rate", where=f"line {number}") from error
        yield number, values, addresses, names


def _values(found: re.Match[bytes], head: LegacyHead) -> list[int]:
    if head.line is COUNT_LINE:
        return [int(found[1])]
    if head.line is PAIR_LINE:
        cycles, count = int(found[1]) * head.period, int(found[2]) * head.period
        return [count, int(cycles / (head.hertz / 1e9)) if head.hertz else cycles]
    inuse, allocated = ([int(found[one]), int(found[one + 1])] for one in (1, 3))
    kept = _unsampled(inuse, head.rate)
    return kept if len(head.types) == 2 else [*_unsampled(allocated, head.rate), *kept]


def _unsampled(pair: Sequence[int], rate: int) -> list[int]:
    """Return how many objects and bytes there were, given that one in ``rate`` bytes was sampled.

    Raises ``ZeroDivisionError`` or ``OverflowError`` if there can't have been so many.
    """
    count, size = pair
    if not count or not size or rate <= 1:
        return [count, size]
    scale = 1 / (1 - exp(-(size / count) / rate))
    return [int(count * scale), int(size * scale)]


def _stack(addresses: Sequence[int], names: Names, *, hidden: list[str]) -> list[str]:
    """Return the functions of a stack, root first.

    Go prints each function of a stack on its own line, including inlined and recursive ones; each has the address
    before its return address, which may equal that of its callee, so that only the order distinguishes them. It omits
    runtime functions at the leaf, for which ``hidden`` stands, and what starts goroutines at the root.
    """
    if not names:
        return [hex(address) for address in reversed(addresses)] or [UNKNOWN]
    leaf = names[0][0] in {addresses[0], addresses[0] - 1} if addresses else True
    return [name for _, name in reversed(names)] + ([] if leaf else hidden)
