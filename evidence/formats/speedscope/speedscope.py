"""speedscope's own JSON (https://www.speedscope.app/file-format-schema.json): sampled and evented profiles.

A file holds one profile per thread or process. Those with the same unit are merged, because the question is what the
program does; what each of them counts is kept in ``about["labels"]["profile"]``. Different units are different sample
types, and so are profiles that are named after a sample type, *alloc_space (bytes)*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base import units
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text import compact, fields, outline
from evidence.formats.base.json_text.fields import index, listed, mapped, scaled
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType, Stacks

NAME = "speedscope"
KINDS = {"nanoseconds": "time", "bytes": "memory", "events": "count"}
TYPED = re.compile(r"(\S{1,100}(?: samples)?) \((nanoseconds|bytes|samples|objects|events)\)")
# One sample: its stack from the root on, what it counts, and its position in the file.
Sample = tuple[Sequence[int], int, str]


def claim(head: bytes) -> Claim | None:
    """Recognise the schema's URL, shared frames, or the profiles' types."""
    found = outline.of(head)
    if "speedscope.app/file-format-schema" in found.get("$schema", ""):
        return Claim(Certainty.SURE, "it names speedscope's schema")
    if found.has("shared.frames") or found.get("profiles[].type") in {"sampled", "evented"}:
        return Claim(Certainty.SURE, "it has profiles with shared frames")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read every profile of the file. Raises ``BadProfile`` naming profile, sample or event; ``TooMuch``."""
    file = mapped(compact.parse(data, limits=limits), "the file")
    profiles = [mapped(one, f"profiles[{at}]") for at, one in enumerate(listed(file.get("profiles"), "profiles"))]
    if not profiles:
        raise BadProfile("It has no profile", where="profiles")
    kinds = [_kind(profile) for profile in profiles]
    types = list(dict.fromkeys(kind for kind, _ in kinds))
    gather = Gather(types, limits=limits)
    codes = _codes(file, gather)
    each: dict[str, list[int]] = {}
    for at, (profile, (kind, times)) in enumerate(zip(profiles, kinds, strict=True)):
        type = types.index(kind)
        counts = each.setdefault(str(profile.get("name", at))[:200], [0] * len(types))
        for stack, value, where in _samples(profile, times=times, codes=codes, where=f"profiles[{at}]"):
            gather.add(stack, [value if each == type else 0 for each in range(len(types))], where=where)
            counts[type] += value
    active = file.get("activeProfileIndex")
    chosen = active if isinstance(active, int) and 0 <= active < len(profiles) else 0
    about: dict[str, Any] = {"labels": {"profile": dict(list(each.items())[:100])}} if len(each) > 1 else {}
    about |= {key: str(file[key])[:200] for key in ("name", "exporter") if file.get(key)}
    return gather.stacks(NAME, default_type=types.index(kinds[chosen][0]), about=about)


def _kind(profile: Mapping[str, Any]) -> tuple[SampleType, int]:
    """Return what a profile counts, and how many of our units one of its own is.

    Exporters with several sample types name each profile after its type, with the unit in brackets.
    """
    times, word = units.ours(str(profile.get("unit", "none")))
    named = TYPED.fullmatch(str(profile.get("name")))
    if named and (word in {named[2], "events"}):
        return SampleType(named[1], named[2]), times
    return SampleType(KINDS.get(word, word), word), times


def _codes(file: Mapping[str, Any], gather: Gather) -> list[int]:
    shared = mapped(file.get("shared"), "shared")
    frames = listed(shared.get("frames"), "shared.frames")
    places = [_place(frame, f"shared.frames[{at}]") for at, frame in enumerate(frames)]
    names = gather.names_of(places)
    return [gather.code(names[place]) for place in places]


def _place(frame: Any, where: str) -> SourceFunction:
    frame = mapped(frame, where)
    line = frame.get("line")
    name = fields.words(frame.get("name"), f"{where}.name")
    return SourceFunction(name, str(frame.get("file") or ""), line if isinstance(line, int) else 0)


def _samples(profile: Mapping[str, Any], *, times: int, codes: list[int], where: str) -> Iterator[Sample]:
    kind = profile.get("type")
    if kind == "sampled":
        return _sampled(profile, times=times, codes=codes, where=where)
    if kind == "evented":
        return _evented(profile, times=times, codes=codes, where=where)
    raise BadProfile(f"A profile must be sampled or evented, but this is {kind!r:.40}", where=where)


def _sampled(profile: Mapping[str, Any], *, times: int, codes: list[int], where: str) -> Iterator[Sample]:
    samples = listed(profile.get("samples"), f"{where}.samples")
    weights = listed(profile.get("weights"), f"{where}.weights")
    if len(samples) != len(weights):
        raise BadProfile(f"There are {len(samples)} samples and {len(weights)} weights", where=where)
    for at, (sample, weight) in enumerate(zip(samples, weights, strict=True)):
        here = f"{where}.samples[{at}]"
        yield _stack(listed(sample, here), codes, here), scaled(weight, f"{where}.weights[{at}]", times=times), here


def _stack(frames: Sequence[Any], codes: list[int], where: str) -> list[int]:
    """Return the codes of a stack; if all indices exist, as usual, they are checked in one go."""
    if frames and set(map(type, frames)) == {int} and 0 <= min(frames) <= max(frames) < len(codes):
        return [codes[frame] for frame in frames]
    return [codes[index(frame, where, of=len(codes), into="Frame")] for frame in frames]


def _evented(profile: Mapping[str, Any], *, times: int, codes: list[int], where: str) -> Iterator[Sample]:
    """Replay opening and closing frames; between two events the open frames count the time that has passed."""
    opened: list[int] = []
    events = listed(profile.get("events"), f"{where}.events")
    before = scaled(profile.get("startValue", 0), f"{where}.startValue", times=times)
    for at, event in enumerate(events):
        here = f"{where}.events[{at}]"
        now = scaled(mapped(event, here).get("at"), f"{here}.at", times=times)
        if now < before:
            raise BadProfile(f"An event is at {event['at']}, before the one that precedes it", where=here)
        if now > before and opened:
            yield [codes[frame] for frame in opened], now - before, here
        before = now
        frame = index(event.get("frame"), f"{here}.frame", of=len(codes), into="Frame")
        _step(str(event.get("type")), frame, opened=opened, where=here)
    if opened:
        raise BadProfile(f"Frame {opened[-1]} is opened and never closed", where=f"{where}, end of events")


def _step(type: str, frame: int, *, opened: list[int], where: str) -> None:
    if type == "O":
        opened.append(frame)
    elif type != "C":
        raise BadProfile(f"An event must open (O) or close (C) a frame, but this is {type!r:.40}", where=where)
    elif not opened or opened[-1] != frame:
        open_now = f"frame {opened[-1]} is open" if opened else "none is open"
        raise BadProfile(f"Frame {frame} is closed while {open_now}", where=where)
    else:
        opened.pop()
