"""Parse JSON with little memory: large files are read in stretches, and long lists of numbers become columns. Pure.

The result equals that of ``fields.parse``, except that such lists are ``JsonColumn``s.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base.json_text import fields
from evidence.formats.base.json_text.columns import COLUMNS, JsonColumn
from evidence.formats.base.json_text.streamed import JsonWindow
from evidence.profile.limits import DEFAULT, MIB, Limits

# Files larger than this are read this way, which takes less memory and more time.
LARGE = 32 * MIB
# Lists with fewer elements stay lists, as does anything nested deeper.
FEW = 64
LEVELS = 12


def parse(data: Buffer, *, limits: Limits = DEFAULT, without: Collection[str] = ()) -> Any:
    """Parse JSON; in a large file, values under the keys in ``without`` are read and dropped.

    Raises ``BadProfile`` naming the place, and ``TooMuch``.
    """
    if len(data) <= LARGE:
        return fields.parse(data, limits=limits)
    window = JsonWindow(data)
    found = _Reading(window, frozenset(without)).value(LEVELS)
    if window.next():
        raise window.wrong("something behind its end")
    return found


class _Reading:
    def __init__(self, window: JsonWindow, without: frozenset[str]) -> None:
        self._window, self._without = window, without

    def value(self, levels: int, *, kept: bool = True) -> Any:
        """Read the value that begins here: at once if it is in the window, else piece by piece."""
        mark = self._window.next()
        if mark not in {"{", "["} or not levels:
            return self._window.value()
        if small := self._window.whole():
            return self._slim(small[0], levels)
        return self._object(levels, kept=kept) if mark == "{" else self._list(levels, kept=kept)

    def _object(self, levels: int, *, kept: bool) -> dict[str, Any]:
        window, found = self._window, dict[str, Any]()
        for _ in window.between("{", "}"):
            name = fields.words(window.value(), "a key of the file")
            window.take(":")
            wanted = kept and name not in self._without
            value = self.value(levels - 1, kept=wanted)
            if wanted:
                found[name] = value
        return found

    def _list(self, levels: int, *, kept: bool) -> Sequence[Any]:
        window, found = self._window, _Elements()
        for _ in window.between("[", "]"):
            batch = window.batch() or [self.value(levels - 1, kept=kept)]
            if kept:
                found.add(batch, lambda one: self._slim(one, levels - 1))
        return [] if found.all is None else found.all

    def _slim(self, value: Any, levels: int) -> Any:
        """Return a value with its long lists of numbers as columns, and without what is not asked for."""
        if not levels:
            return value
        if isinstance(value, dict):
            return {key: self._slim(one, levels - 1) for key, one in value.items() if key not in self._without}
        if not isinstance(value, list):
            return value
        if len(value) < FEW:
            return [self._slim(one, levels - 1) for one in value]
        found = _Elements()
        found.add(value, lambda one: self._slim(one, levels - 1))
        return found.all


class _Elements:
    """The elements of one list: in a column as long as they are of its kind."""

    def __init__(self) -> None:
        self.all: list[Any] | JsonColumn | None = None

    def add(self, values: list[Any], slim: Callable[[Any], Any]) -> None:
        """Add more elements, at least one."""
        if self.all is None:
            self.all = next((column for column in (kind() for kind in COLUMNS) if column.add(values)), [])
        elif isinstance(self.all, JsonColumn):
            if self.all.add(values):
                return
            self.all = [*self.all]
        if isinstance(self.all, list):
            self.all.extend(map(slim, values))
