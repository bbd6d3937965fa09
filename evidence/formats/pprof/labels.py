"""The labels of a pprof profile's samples, and how much each counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evidence.formats.base.protobuf import columns
from evidence.formats.pprof.tables import Strings
from evidence.profile.stacks import Ints

# Key, text, number and unit, in the order of their field numbers.
FIELDS = (1, 2, 3, 4)
MOST = 10_000
BASE = "pprof::base"  # marks the base's samples in a difference; their sign already says so
SHOWN_KEYS, SHOWN_VALUES = 50, 50


class Labels:
    """Totals by label, gathered batch by batch; beyond ``MOST`` distinct labels, new ones are ignored."""

    def __init__(self) -> None:
        self._totals: dict[tuple[int, ...], Ints] = {}

    def read(self, data: columns.Bytes, found: columns.Fields, values: Ints) -> None:
        """Add the labels of a batch; ``values`` is what its samples count, samples x types."""
        if not len(found.begin):
            return
        inner = columns.fields(data, found.begin, found.end)
        rows = np.stack([columns.scalars(data, inner.of(number), len(found.begin)) for number in FIELDS], axis=1)
        order = np.lexsort(rows.T)
        rows = rows[order]
        new = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
        sums = np.add.reduceat(values[found.message[order]], new, axis=0)
        for row, total in zip(map(tuple, rows[new].tolist()), sums, strict=True):
            if row in self._totals:
                self._totals[row] = self._totals[row] + total
            elif len(self._totals) < MOST:
                self._totals[row] = total

    def about(self, strings: Strings, *, shrinking: Sequence[int] = ()) -> dict[str, Any]:
        """Return {key: {value: a total for each sample type}}, the largest values of a key first.

        For ``shrinking`` types, a value grew or shrank by its net, and the shrunk ones come last.
        """
        labels: dict[str, dict[str, list[int]]] = {}
        largest = sorted(self._totals.items(), key=lambda item: tuple(-np.abs(item[1])))
        for (key, text, number, unit), totals in largest:
            name = strings.at(key, "label")[:200]
            if name == BASE:
                continue
            written = strings.at(text, f"label {name}") if text else f"{number} {strings.at(unit, f'label {name}')}"
            of_key = labels.setdefault(name, {})
            if len(of_key) < SHOWN_VALUES:
                shrunk = np.maximum(-totals[list(shrinking)], 0)
                of_key[written.strip()[:200]] = [*np.maximum(totals, 0).tolist(), *shrunk.tolist()]
        return {"labels": dict(list(labels.items())[:SHOWN_KEYS])} if labels else {}
