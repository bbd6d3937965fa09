"""rbspy's raw recordings (``rbspy record --raw-file``): a mark, the settings, a line of JSON for each sample.

Source: github.com/rbspy/rbspy, ``src/storage``. Frames are innermost first. Before version 1, samples have no
terminator.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base import held
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text import fields
from evidence.formats.base.json_text.fields import listed, mapped
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile, NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType, Stacks

NAME = "rbspy"
MARK = re.compile(rb"rbspy(\d\d)\n")
READ = {1: 0, 2: 1}  # version -> how many lines precede the samples
OTHER = (
    "This raw recording of rbspy is of a version we don't read. `rbspy report -f speedscope -i FILE -o OUT` makes one."
)
SAMPLES = (SampleType("samples", "samples"),)
LABELS = 100
Sample = tuple[str, tuple[SourceFunction, ...]]


def claim(head: bytes) -> Claim | None:
    """Recognise the first line."""
    if MARK.match(head):
        return Claim(Certainty.SURE, "its first line is the mark of rbspy's raw recordings")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read how often each stack occurred; several processes are each a root. Raises ``BadProfile`` naming the line.

    Raises ``NotRecognised`` for a recording without samples.
    """
    found = MARK.match(data[:64])
    if found is None or int(found[1]) not in READ:
        raise NotRecognised(OTHER)
    skip = READ[int(found[1])]
    met: Counter[Sample] = Counter()
    threads: Counter[str] = Counter()
    for number, line in enumerate(islice(held.lines(data, found.end()), skip, None), 2 + skip):
        if line.strip():
            sample = mapped(_parsed(line, number), f"line {number}")
            met[_process(sample), _frames(sample, number)] += 1
            threads[str(sample.get("thread_id"))[:40]] += 1
    if not met:
        raise BadProfile("It has a head and no samples")
    labels = {"thread": {name: [count] for name, count in threads.most_common(LABELS)}}
    return _gathered(met, limits).stacks(NAME, about={"labels": labels} if len(threads) > 1 else {})


def _gathered(met: Mapping[Sample, int], limits: Limits) -> Gather:
    gather = Gather(SAMPLES, limits=limits)
    names = gather.names_of(place for _, stack in met for place in stack)
    several = len({process for process, _ in met}) > 1
    for (process, stack), count in met.items():
        root = [gather.code(f"process {process}")] if several else []
        gather.add([*root, *(gather.code(names[place]) for place in reversed(stack))], [count], where="its samples")
    return gather


def _parsed(line: bytes, number: int) -> Any:
    try:
        return fields.parse(line)
    except BadProfile as error:
        raise BadProfile(error.says, where=f"line {number}") from error


def _process(sample: Mapping[str, Any]) -> str:
    return str(sample.get("pid"))[:40]


def _frames(sample: Mapping[str, Any], number: int) -> tuple[SourceFunction, ...]:
    frames = (mapped(one, f"line {number}, trace") for one in listed(sample.get("trace"), f"line {number}, trace"))
    return tuple(_place(frame) for frame in frames)


def _place(frame: Mapping[str, Any]) -> SourceFunction:
    line = frame.get("lineno")
    file = frame.get("relative_path") or frame.get("absolute_path") or ""
    return SourceFunction(str(frame.get("name") or ""), str(file), line if isinstance(line, int) else 0)
