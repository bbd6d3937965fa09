"""The log of what an app asked of a stand-in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, Protocol, TypeVar

KEPT: Final = 100_000
"""Calls kept; older ones are forgotten, their numbers are not reused."""


class NumberedCall(Protocol):
    """One call: its number, and whether it changes the stand-in's state."""

    @property
    def n(self) -> int: ...
    @property
    def writes(self) -> bool: ...


Call = TypeVar("Call", bound=NumberedCall)


class Log(ABC, Generic[Call]):
    """A log that reads like a list."""

    def __init__(self) -> None:
        self._log: deque[Call] = deque(maxlen=KEPT)
        self.total = 0

    def add(self, call: Call) -> None:
        """Append one call."""
        self._log.append(call)
        self.total = call.n

    def writes(self) -> list[Call]:
        """List the calls that change something."""
        return [call for call in self._log if call.writes]

    @abstractmethod
    def of(self, what: str) -> list[Call]:
        """List the calls of one kind."""

    def count(self, what: str = "") -> int:
        """Count the calls of one kind, or all."""
        return len(self.of(what)) if what else len(self)

    def since(self, n: int) -> list[Call]:
        """List the calls after number `n`."""
        return [call for call in self._log if call.n > n]

    def clear(self) -> None:
        """Clear the log."""
        self._log.clear()

    def __len__(self) -> int:
        return len(self._log)

    def __iter__(self) -> Iterator[Call]:
        return iter(list(self._log))

    def __getitem__(self, index: int) -> Call:
        return self._log[index]
