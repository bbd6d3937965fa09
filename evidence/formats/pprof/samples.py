"""The samples of a pprof profile, tens of thousands at a time: stacks, values, labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.formats.base.beside import at_once
from evidence.formats.base.protobuf import columns
from evidence.formats.pprof.changes import net_of
from evidence.formats.pprof.labels import Labels
from evidence.formats.pprof.tables import Tables
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.stacks import Codes, Ints

AT_ONCE = 1 << 13
LOCATION, VALUE, LABEL = 1, 2, 3
LONGEST_VARINT = 10
_MOST = float(1 << 63)


@dataclass(slots=True)
class PprofSamples:
    """All samples, root first, the file's last one first. Negative values are separate rows at the end.

    ``shrinking`` are the sample types with such values, in the order of those rows; ``met`` is how many samples there
    were, which is more than there are stacks if any shrinks.
    """

    offsets: Ints
    frames: Codes
    values: Ints
    labels: Labels
    shrinking: list[int]
    met: int


def read_samples(
    data: columns.Bytes,
    begin: Ints,
    end: Ints,
    *,
    times: Sequence[int],
    tables: Tables,
    limits: Limits,
    leave: Callable[[int, int], None],
) -> PprofSamples:
    """Read all samples; ``leave`` is called with the bytes that are no longer needed.

    Raises ``BadProfile`` naming the sample, and ``TooMuch``.
    """
    if len(begin) > limits.stacks:
        raise TooMuch(f"It has more than {limits.stacks:,} samples")
    reading = _Reading(data, np.array(times, dtype=np.int64), tables, limits)
    bounds = list(pairwise([*range(0, len(begin), AT_ONCE), len(begin)]))
    with at_once(reading.batch, [(begin[low:high], end[low:high], low) for low, high in bounds]) as batches:
        for (low, high), batch in zip(bounds, batches, strict=True):
            reading.add(batch)
            if high > low:
                leave(int(begin[low]), int(end[high - 1]))
    return reading.samples()


@dataclass(slots=True)
class _Batch:
    """The content of some samples, in file order: frames innermost first, values by sample type, labels."""

    frames: Codes
    depths: Ints
    values: Ints
    labels: columns.Fields


class _Reading:
    def __init__(self, data: columns.Bytes, times: Ints, tables: Tables, limits: Limits) -> None:
        self._data, self._times, self._tables, self._limits = data, times, tables, limits
        self._frames: list[Codes] = []
        self._depths: list[Ints] = []
        self._values: list[Ints] = []
        self._labels = Labels()
        self._negative = np.zeros(len(times), dtype=np.bool_)
        self._read = 0

    def batch(self, samples: tuple[Ints, Ints, int]) -> _Batch:
        """Read some samples, in parallel with others: where each begins and ends, and how many precede them."""
        begin, end, before = samples
        found = columns.fields(self._data, begin, end)
        frames, depths = self._stacks(found.of(LOCATION), len(begin), before)
        return _Batch(frames, depths, self._table(found.of(VALUE), len(begin), before), found.of(LABEL))

    def add(self, batch: _Batch) -> None:
        """Add what was read of the next samples."""
        self._read += len(batch.frames)
        if self._read > self._limits.frames:
            raise TooMuch(f"Its stacks have more than {self._limits.frames:,} frames in all")
        self._frames.append(batch.frames)
        self._depths.append(batch.depths)
        self._values.append(batch.values)
        self._negative |= (batch.values < 0).any(axis=0)
        self._labels.read(self._data, batch.labels, batch.values)

    def _stacks(self, found: columns.Fields, count: int, before: int) -> tuple[Codes, Ints]:
        """Turn location ids into the codes of functions, innermost first; return them, and each stack's depth."""
        self._bound(found, before)
        ids, sizes = columns.ints(self._data, found, count)
        edges = np.cumsum(sizes)
        at = self._tables.ids.index(
            ids, lambda place: f"sample {before + 1 + int(np.searchsorted(edges, place, 'right'))}"
        )
        if self._tables.pruned.any():
            at, sizes = _pruned(at, sizes, self._tables)
        frames, depths = _spread(at, sizes, self._tables)
        deep = np.flatnonzero(depths > self._limits.depth)
        if len(deep):
            raise TooMuch(
                f"A stack is deeper than {self._limits.depth:,} frames", where=f"sample {before + 1 + int(deep[0])}"
            )
        return frames, depths

    def _bound(self, found: columns.Fields, before: int) -> None:
        """Reject a list of locations that must be too deep before reading it."""
        long = np.flatnonzero(found.end - found.begin > self._limits.depth * LONGEST_VARINT)
        if len(long):
            where = f"sample {before + 1 + int(found.message[long[0]])}"
            raise TooMuch(f"A stack is deeper than {self._limits.depth:,} frames", where=where)

    def _table(self, found: columns.Fields, count: int, before: int) -> Ints:
        """Read one value per sample type, in its unit: shape (samples, sample types)."""
        types = len(self._times)
        long = np.flatnonzero(found.end - found.begin > types * LONGEST_VARINT)
        values, sizes = columns.ints(self._data, found, count) if not len(long) else (self._times, None)
        if sizes is None or (sizes != types).any():
            wrong = int(found.message[long[0]]) if sizes is None else int(np.flatnonzero(sizes != types)[0])
            has = "more values than" if sizes is None or sizes[wrong] > types else "fewer values than the"
            raise BadProfile(f"A sample has {has} {types} of its sample types", where=f"sample {before + 1 + wrong}")
        table = values.reshape(count, types)
        if (np.abs(table.astype(np.float64)).sum(axis=0) * self._times >= _MOST).any():
            raise BadProfile("The values add up to more than fits in 63 bits")
        return table * self._times

    def samples(self) -> PprofSamples:
        """Return everything reversed, so that each stack begins at its root."""
        types = len(self._times)
        frames = np.concatenate([np.zeros(0, dtype=np.int32), *_turned(self._frames)])
        values = np.concatenate([np.zeros((0, types), dtype=np.int64), *_turned(self._values)])
        depths = np.concatenate([np.zeros(0, dtype=np.int64), *_turned(self._depths)])
        if (np.abs(values).sum(axis=0, dtype=np.float64) >= _MOST).any():
            raise BadProfile("The values add up to more than fits in 63 bits")
        shrinking, met = np.flatnonzero(self._negative), len(values)
        if len(shrinking):
            frames, depths, values = net_of(frames, depths, values)
            values = np.concatenate([np.maximum(values, 0), np.maximum(-values[:, shrinking], 0)], axis=1)
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(depths)])
        return PprofSamples(
            offsets,
            frames,
            np.ascontiguousarray(values.T),
            self._labels,
            shrinking.tolist(),
            met,
        )


def _turned(pieces: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the pieces in reverse order, each reversed."""
    return [piece[::-1] for piece in reversed(pieces)]


def _spread(at: Ints, sizes: Ints, tables: Tables) -> tuple[Codes, Ints]:
    """Replace each location with its functions; return them, and how many each sample has."""
    each = np.diff(tables.first)
    if not len(at):
        return np.zeros(0, dtype=np.int32), sizes
    if (each == 1).all():
        return tables.frames[at], sizes
    count = each[at]
    edges = np.cumsum(count)
    place = np.repeat(tables.first[at] - (edges - count), count) + np.arange(edges[-1])
    ends = np.concatenate([np.zeros(1, dtype=np.int64), edges])[np.cumsum(sizes)]
    return tables.frames[place], np.diff(ends, prepend=0)


def _pruned(at: Ints, sizes: Ints, tables: Tables) -> tuple[Ints, Ints]:
    """End samples at the first pruned location, seen from the root, that a kept one is above."""
    kept = np.ones(len(at), dtype=np.bool_)
    flagged: NDArray[np.bool_] = tables.pruned[at]
    ends = np.cumsum(sizes)
    for sample in np.unique(np.searchsorted(ends, np.flatnonzero(flagged), "right")).tolist():
        low, high = int(ends[sample] - sizes[sample]), int(ends[sample])
        user = np.flatnonzero(~flagged[low:high])
        beneath = np.flatnonzero(flagged[low : low + int(user[-1])]) if len(user) else user
        if len(beneath):
            last = low + int(beneath[-1])
            kept[low : last + int(tables.gone[at[last]])] = False
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return at[kept], np.bincount(owner[kept], minlength=len(sizes)).astype(np.int64)
