"""The ids of a pprof profile's locations and functions, and what they refer to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evidence.profile.errors import BadProfile
from evidence.profile.stacks import Ints


class Ids:
    """Looks up many ids at once. Most files number them from 1; any numbers are allowed."""

    def __init__(self, ids: Ints, what: str) -> None:
        self._what = what
        self._count = len(ids)
        self._dense = self._count > 0 and int(ids.min()) >= 0 and int(ids.max()) <= 4 * self._count + 1024
        if self._dense:
            self._at = np.full(int(ids.max()) + 1, -1, dtype=np.int64)
            self._at[ids] = np.arange(self._count)
        else:
            self._order = np.argsort(ids, kind="stable")
            self._sorted = ids[self._order]

    def __len__(self) -> int:
        return self._count

    def index(self, wanted: Ints, who: Callable[[int], str], *, missing: int | None = None) -> Ints:
        """Return the index of each id, -1 for ``missing``.

        Raises ``BadProfile`` saying ``who`` refers to an absent one.
        """
        found = self._found(wanted)
        absent = np.flatnonzero(found < 0 if missing is None else (found < 0) & (wanted != missing))
        if len(absent):
            first = int(absent[0])
            raise BadProfile(f"There is no {self._what} {int(wanted[first])}", where=who(first))
        return found

    def _found(self, wanted: Ints) -> Ints:
        if not self._count:
            return np.full(len(wanted), -1, dtype=np.int64)
        if self._dense:
            inside = (wanted >= 0) & (wanted < len(self._at))
            return self._at[wanted] if inside.all() else np.where(inside, self._at[np.where(inside, wanted, 0)], -1)
        place = np.minimum(np.searchsorted(self._sorted, wanted), self._count - 1)
        return np.where(self._sorted[place] == wanted, self._order[place], -1)
