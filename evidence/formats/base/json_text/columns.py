"""Lists of JSON numbers as arrays: a number takes 36 bytes in a Python list, and four or eight here. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, overload

WIDE_NOTHING = -(1 << 63)


class JsonColumn(Sequence[Any]):
    """Elements of a list in arrays: ``add`` takes more of them if all fit, and says whether they did."""

    def add(self, values: Sequence[Any]) -> bool:
        """Add more elements. Return False if they are of another kind."""
        raise NotImplementedError

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        return [self._one(each) for each in range(*at.indices(len(self)))] if isinstance(at, slice) else self._one(at)

    def _one(self, at: int) -> Any:
        raise NotImplementedError


class Numbers(JsonColumn):
    """Whole numbers and null: four bytes each as long as all fit, then eight."""

    def __init__(self) -> None:
        self._kept = array("i")
        self._nothing = -(1 << 31)

    def add(self, values: Sequence[Any]) -> bool:
        """Add more numbers. Return False if some are not whole numbers, or take more than 64 bits."""
        if not set(map(type, values)) <= {int, type(None)}:
            return False
        more = self._packed(values)
        if more is None and self._kept.typecode == "i":
            self._kept, self._nothing = array("q", map(self._widened, self._kept)), WIDE_NOTHING
            more = self._packed(values)
        self._kept.extend(more or ())
        return more is not None

    def _packed(self, values: Sequence[Any]) -> array[int] | None:
        if self._nothing in values:
            return None
        try:
            kept = [self._nothing if one is None else one for one in values] if None in values else values
            return array(self._kept.typecode, kept)
        except OverflowError:
            return None

    def _widened(self, one: int) -> int:
        return WIDE_NOTHING if one == self._nothing else one

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[int | None]:
        return (None if one == self._nothing else one for one in self._kept)

    def _one(self, at: int) -> int | None:
        one = self._kept[at]
        return None if one == self._nothing else one


class Fractions(JsonColumn):
    """Numbers with a decimal point."""

    def __init__(self) -> None:
        self._kept = array("d")

    def add(self, values: Sequence[Any]) -> bool:
        """Add more numbers. Return False if anything else is among them."""
        fit = set(map(type, values)) == {float}
        self._kept.extend(values if fit else ())
        return fit

    def __len__(self) -> int:
        return len(self._kept)

    def _one(self, at: int) -> float:
        return self._kept[at]


class Rows(JsonColumn):
    """Lists of whole numbers that fit in 32 bits."""

    def __init__(self) -> None:
        self._kept = array("i")
        self._ends = array("q", [0])

    def add(self, values: Sequence[Any]) -> bool:
        """Add more lists. Return False if they contain anything else."""
        if set(map(type, values)) != {list} or not {kind for row in values for kind in map(type, row)} <= {int}:
            return False
        try:
            more = array("i", [one for row in values for one in row])
        except OverflowError:
            return False
        end = self._ends[-1]
        self._ends.extend([end := end + len(row) for row in values])
        self._kept.extend(more)
        return True

    def __len__(self) -> int:
        return len(self._ends) - 1

    def _one(self, at: int) -> list[int]:
        at = range(len(self))[at]
        return self._kept[self._ends[at] : self._ends[at + 1]].tolist()


COLUMNS = (Numbers, Fractions, Rows)
