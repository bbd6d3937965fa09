"""A check states one thing that must hold; the first failure ends the tour."""

from __future__ import annotations

from collections.abc import Callable, Collection

from stack.errors import StackError
from stack.terminal import paint


class NotSo(StackError):
    """Something that must be true is not; the message says what, and what was found instead."""


class Checks:
    """A sequence of checks, one line each."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self.count = 0

    def so(self, what: str, holds: object, *, instead: object = "") -> None:
        """Continue if it holds. Raises NotSo."""
        if not holds:
            raise NotSo(f"Check failed: {what}.{f' Got: {instead}' if instead != '' else ''}")
        self.count += 1
        self._tell(f"     {paint('✓', 'green')} {what}")

    def same(self, what: str, found: Collection[str], expected: Collection[str]) -> None:
        """Continue if both are the same set. Raises NotSo naming what is missing and what is extra."""
        missing, extra = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
        said = [f"missing {', '.join(missing)}"] * bool(missing) + [f"too much: {', '.join(extra)}"] * bool(extra)
        self.so(what, not said, instead="; ".join(said))
