"""The result of reading thread dumps: one count for each thread that has a stack, by its state. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evidence.formats.base.gather import Gather
from evidence.profile.errors import BadProfile
from evidence.profile.limits import Limits
from evidence.profile.stacks import SampleType, Stacks

LABELS = 100


class DumpedThread(NamedTuple):
    """One thread in one dump: frames innermost first, its name, its state, and its position in the file."""

    frames: list[str]
    name: str
    state: str
    line: int


def stacks(threads: Iterable[DumpedThread], *, format: str, unit: str, limits: Limits, dumps: int = 0) -> Stacks:
    """Count threads by their stacks. Raises ``BadProfile`` if none has one."""
    gather = Gather([SampleType(unit, unit)], limits=limits)
    labels: dict[str, dict[str, list[int]]] = {"state": {}, "thread": {}}
    for thread in threads:
        if not thread.frames:
            continue
        gather.add([gather.code(frame) for frame in reversed(thread.frames)], [1], where=f"line {thread.line}")
        for label, said in (("state", thread.state), ("thread", thread.name)):
            known = labels[label]
            if said and (said in known or len(known) < LABELS):
                known.setdefault(said, [0])[0] += 1
    about = {"labels": {label: known for label, known in labels.items() if known}}
    found = gather.stacks(format, about=about | ({"dumps": dumps} if dumps else {}))
    if not len(found):
        raise BadProfile("No thread of this dump has a stack")
    return found
