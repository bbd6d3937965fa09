"""stackprof's JSON (``stackprof --json``, recorded with ``raw: true``). Source: github.com/tmm1/stackprof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text import fields, outline
from evidence.formats.base.json_text.fields import listed, mapped, whole
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile, NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType, Stacks

NAME = "stackprof"
MICROSECOND = 1_000
MISSED = 0.01  # of all that were due
MISSED_SAYS = "{:,} of {:,} samples were missed: what ran then isn't in it."
TIMED = {"cpu", "wall"}
NO_STACKS = "This stackprof file has totals and no stacks. Record with `raw: true`, then `stackprof --json FILE`."


def claim(head: bytes) -> Claim | None:
    """Recognise the recording mode, next to frames or raw samples."""
    found = outline.of(head)
    if found.has("mode", "interval", "samples") and ({"frames", "raw", "gc_samples", "missed_samples"} & set(found)):
        return Claim(Certainty.SURE, "it has stackprof's mode, interval and samples")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the raw samples: how many, and how long if time was sampled. Raises ``BadProfile``, ``TooMuch``.

    Raises ``NotRecognised`` for a profile without samples.
    """
    file = mapped(fields.parse(data, limits=limits), "the file")
    if not file.get("raw"):
        raise NotRecognised(NO_STACKS)
    mode, interval = str(file.get("mode")), whole(file.get("interval", 0), "interval")
    kinds = [SampleType("objects", "objects")] if mode == "object" else [SampleType("samples", "samples")]
    times = [1]
    if mode in TIMED and interval:
        kinds, times = [*kinds, SampleType(mode, "nanoseconds")], [1, interval * MICROSECOND]
    elif mode == "object" and interval > 1:
        times = [interval]
    gather = Gather(kinds, limits=limits)
    names = _names(mapped(file.get("frames"), "frames"), gather)
    codes = {key: gather.code(name) for key, name in names.items()}
    for at, stack, weight in _raw(listed(file["raw"], "raw")):
        unknown = next((frame for frame in stack if frame not in codes), None)
        if unknown is not None:
            raise BadProfile(f"Frame {unknown} does not exist", where=f"raw[{at}]")
        gather.add([codes[frame] for frame in stack], [weight * one for one in times], where=f"raw[{at}]")
    stacks = gather.stacks(NAME, default_type=len(kinds) - 1)
    missed = whole(file.get("missed_samples", 0), "missed_samples")
    if missed >= MISSED * (missed + stacks.totals[0]) > 0:
        return replace(stacks, about={"caution": MISSED_SAYS.format(missed, missed + stacks.totals[0])})
    return stacks


def _names(frames: Mapping[str, Any], gather: Gather) -> dict[str, str]:
    places = {}
    for key, frame in frames.items():
        one = mapped(frame, f"frames[{key!r:.40}]")
        line = one.get("line")
        places[key] = SourceFunction(
            str(one.get("name") or ""), str(one.get("file") or ""), line if isinstance(line, int) else 0
        )
    shown = gather.names_of(places.values(), begins=True)
    return {key: shown[place] for key, place in places.items()}


def _raw(raw: Sequence[Any]) -> Iterator[tuple[int, list[str], int]]:
    """Yield each sample: where it begins, its frames from the root on, and how often it occurred in a row."""
    at = 0
    while at < len(raw):
        depth = whole(raw[at], f"raw[{at}]")
        if depth < 0 or at + depth + 1 >= len(raw):
            raise BadProfile(f"A sample of {depth} frames goes past the end", where=f"raw[{at}]")
        frames = [str(whole(frame, f"raw[{at}]")) for frame in raw[at + 1 : at + 1 + depth]]
        weight = whole(raw[at + 1 + depth], f"raw[{at + 1 + depth}]")
        yield at, frames, weight
        at += depth + 2
