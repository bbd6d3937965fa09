"""The result of reading any format: sampled stacks in columns. Pure: numpy alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.profile.source_functions import SourceFunction

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

# The hints a format may give about a name; ``layers`` guesses the rest from the name itself.
HINTS = ("", "kernel", "jit", "inlined", "native", "interpreted", "gpu", "gpu-source", "boundary", "idle")


@dataclass(frozen=True, slots=True)
class SampleType:
    """What one column of values counts: ``name`` (*cpu*, *alloc_space*, *cycles*) and ``unit`` (*nanoseconds*).

    Units are plural words: samples, nanoseconds, bytes, objects, events. Times are always nanoseconds.
    """

    name: str
    unit: str


@dataclass(slots=True)
class Stacks:
    """Sampled stacks of n samples, possibly aggregated; ``samples`` is how many there were before aggregation.

    Sample ``i`` is ``frames[offsets[i]:offsets[i + 1]]``, codes into ``names``, root first; ``values[t, i]`` is what it
    counts for sample type ``t``, never negative. A sample without frames counts for the root alone. ``names`` are
    distinct; ``hints`` holds one of ``HINTS`` for each name. ``about`` holds plain values for people: ``skipped``
    (lines that could not be read) with ``skipped_at`` (the first few: [[line number, text], …]), ``labels`` ({key:
    {value: [total per sample type]}}), ``comments``, ``duration_ns``, ``command``, ``caution`` (guards from its
    reader)…  ``places`` are the functions that names stand for, if a file is known.
    """

    format: str
    sample_types: tuple[SampleType, ...]
    names: list[str]
    offsets: Ints
    frames: Codes
    values: Ints
    hints: list[str] = field(default_factory=list)
    default_type: int = 0
    about: Mapping[str, Any] = field(default_factory=dict)
    samples: int = 0
    places: Mapping[str, SourceFunction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.samples = self.samples or len(self)
        self.hints = self.hints or [""] * len(self.names)

    @property
    def totals(self) -> list[int]:
        """The exact sum of each sample type over all samples."""
        return [int(total) for total in self.values.sum(axis=1, dtype=np.int64)]

    def __len__(self) -> int:
        return len(self.offsets) - 1
