"""Output of ``go tool pprof -raw`` and ``-traces``: whole profiles as text, the latter with rounded values.

Source: github.com/google/pprof, ``profile/profile.go`` (String) and ``internal/report`` (printTraces).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from evidence.formats import Buffer
from evidence.formats.base import held, texts, units
from evidence.formats.base.gather import Gather
from evidence.formats.base.skipped import Skipped
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NAME = "pprof text"
RULE = re.compile(rb"-{5,}\+-{10,}\s*$")
TRACE = re.compile(rb"\s{0,20}(-?\d[\d.]{0,20})([a-zA-Z]{0,8})\s{2,}(\S[^\n]*)$")
FRAME = re.compile(rb"\s{8,}(\S[^\n]*)$")
TYPE = re.compile(rb"Type: (\S[^\n]{0,100})$")
INLINE = re.compile(rb"( \((?:inline|partial-inline)\))+$")
SAMPLE = re.compile(rb"\s*((?:-?\d{1,19}\s+)*-?\d{1,19}):((?: \d{1,18})*)\s*$")
LOCATION = re.compile(rb"\s{0,12}(\d{1,18}): (0x[0-9a-f]{1,16})(?: M=\d+)?(?: ([^\n]*))?$")
LINE = re.compile(rb"(\S[^\n]*?) \S*:\d+:\d+ s=\d+\s*$|(\S[^\n]*?) \S*:\d+ s=\d+\s*$")
DIFFERENCE = "It's a difference of two profiles, as -diff_base prints it. Upload what -proto writes, or both of them"
# pprof's abbreviations -> the names in ``units``.
ABBREVIATED = {"mins": "min", "hrs": "hours"}
COUNTED = {"goroutine": "goroutines", "threadcreate": "threads", "contentions": "contentions", "samples": "samples"}


def claim(head: bytes) -> Claim | None:
    """Recognise the rules between traces, or the headings of a raw profile."""
    lines = texts.lines(head)
    if any(RULE.match(one) and TRACE.match(two) for one, two in pairwise(lines)):
        return Claim(Certainty.SURE, "it has traces between rules, as pprof -traces prints them")
    labelled = any(RULE.match(line) for line in lines) and any(TYPE.match(line) for line in lines[:12])
    if labelled and not any(b"flat%" in line for line in lines[:20]):
        return Claim(Certainty.SURE, "it has pprof's heading and rules between traces")
    if any(line.startswith(b"PeriodType:") for line in lines[:5]) and b"Samples:" in lines[:12]:
        return Claim(Certainty.SURE, "it has the headings of pprof -raw")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read every stack. Raises ``BadProfile`` naming the line; ``TooMuch``."""
    lines = [line.rstrip(b"\r") for line in texts.plain(held.at_once(data, limits=limits)).split(b"\n")]
    return _raw(lines, limits) if b"Samples:" in lines[:20] else _traces(lines, limits)


def _traces(lines: Sequence[bytes], limits: Limits) -> Stacks:
    named = next((found[1].decode(errors="replace").strip() for line in lines[:20] if (found := TYPE.match(line))), "")
    stacks = list(_between_rules(lines))
    words = [word for _, _, word, _ in stacks if word]
    kind = SampleType(named or "samples", _unit(words[0])[1] if words else COUNTED.get(named, "objects"))
    gather = Gather([kind], limits=limits)
    for number, value, word, frames in stacks:
        times, unit = _unit(word)
        if value < 0:
            raise BadProfile(DIFFERENCE, where=f"line {number}")
        if word and unit != kind.unit:
            says = f"A trace counts {unit or 'nothing known'} where others count {kind.unit}"
            raise BadProfile(says, where=f"line {number}")
        gather.add([gather.code(name) for name in reversed(frames)], [round(value * times)], where=f"line {number}")
    if not stacks:
        raise BadProfile("It has rules and no trace between them")
    return gather.stacks(NAME, about={"rounded": True})


def _between_rules(lines: Sequence[bytes]) -> Iterator[tuple[int, float, str, list[str]]]:
    """Yield the line, the value, its unit and the frames of each trace, innermost first."""
    open_: tuple[int, float, str, list[str]] | None = None
    for number, line in enumerate(lines, 1):
        if RULE.match(line):
            if open_:
                yield open_
            open_ = None
        elif open_ is None and (found := TRACE.match(line)) and found[1].count(b".") < 2:
            open_ = number, float(found[1]), found[2].decode(errors="replace"), [_named(found[3])]
        elif open_ and (frame := FRAME.match(line)):
            open_[3].append(_named(frame[1]))
    if open_:
        yield open_


def _unit(word: str) -> tuple[int, str]:
    return units.ours(ABBREVIATED.get(word, word))


def _named(frame: bytes) -> str:
    return INLINE.sub(b"", frame.rstrip()).decode(errors="replace")


def _raw(lines: Sequence[bytes], limits: Limits) -> Stacks:
    at = lines.index(b"Samples:") + 1
    titles = lines[at].split() if at < len(lines) else []
    kinds = [_kind(title.decode(errors="replace").removesuffix("[dflt]")) for title in titles]
    if not kinds:
        raise BadProfile("It has no sample type below its samples", where=f"line {at + 1}")
    default = next((place for place, title in enumerate(titles) if title.endswith(b"[dflt]")), len(kinds) - 1)
    locations = _locations(lines)
    gather = Gather([kind for _, kind in kinds], limits=limits)
    skipped = Skipped()
    for number, line in enumerate(lines[at + 1 :], at + 2):
        if line.startswith(b"Locations"):
            break
        found = SAMPLE.match(line)
        values = [int(value) for value in found[1].split()] if found else []
        if found is None or len(values) != len(kinds):
            if line.strip() and b"[" not in line:
                skipped.add(number, line)
            continue
        if min(values) < 0:
            raise BadProfile(DIFFERENCE, where=f"line {number}")
        known = (locations.get(key, [f"location {key.decode()}"]) for key in reversed(found[2].split()))
        stack = [gather.code(name) for names in known for name in names]
        counted = [value * times for value, (times, _) in zip(values, kinds, strict=True)]
        gather.add(stack, counted, where=f"line {number}")
    return gather.stacks(NAME, default_type=default, about=skipped.about())


def _kind(title: str) -> tuple[int, SampleType]:
    name, _, unit = title.partition("/")
    times, word = units.ours(unit)
    if word == "events":
        word = COUNTED.get(name, "objects" if "objects" in name else word)
    return times, SampleType(name[:200] or "values", word)


def _locations(lines: Sequence[bytes]) -> dict[bytes, list[str]]:
    """Return the functions of each location, the caller before what was inlined into it."""
    found: dict[bytes, list[str]] = {}
    begin = lines.index(b"Locations") + 1 if b"Locations" in lines else len(lines)
    current: list[str] = []
    for whole in lines[begin:]:
        line = whole[: texts.LONGEST]
        if line.startswith(b"Mappings"):
            break
        location = LOCATION.match(line)
        if location:
            current = found.setdefault(location[1], [])
        function = LINE.match((location[3] or b"") if location else line.strip())
        if function:
            current.insert(0, (function[1] or function[2]).decode(errors="replace"))
        elif location:
            current.append(location[2].decode())
    return found
