"""Lists of numbers of JSON in arrays: in a list of Python a number takes 36 bytes, and four or eight here. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, overload

WIDE_NOTHING = -(1 << 63)


class JsonColumn(Sequence[Any]):
    """Elements of a list in arrays: ``add`` says whether more of them fit, and takes them if all do."""

    def add(self, values: Sequence[Any]) -> bool:
        """Take more elements. Return False where they are of another kind."""
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
    """Whole numbers and null: in four bytes each as long as all fit, and then in eight."""

    def __init__(self) -> None:
        self._kept = array("i")
        self._nothing = -(1 << 31)

    def add(self, values: Sequence[Any]) -> bool:
        """Take more numbers. Return False where others are among them, or some take more than 64 bits."""
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
    """Numbers with a point."""

    def __init__(self) -> None:
        self._kept = array("d")

    def add(self, values: Sequence[Any]) -> bool:
        """Take more numbers. Return False where others are among them."""
        fit = set(map(type, values)) == {float}
        self._kept.extend(values if fit else ())
        return fit

    def __len__(self) -> int:
        return len(self._kept)

    def _one(self, at: int) -> float:
        return self._kept[at]


class Rows(JsonColumn):
    """Lists of whole numbers that fit 32 bits."""

    def __init__(self) -> None:
        self._kept = array("i")
        self._ends = array("q", [0])

    def add(self, values: Sequence[Any]) -> bool:
        """Take more lists. Return False where they hold something else."""
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
