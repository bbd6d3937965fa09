"""The log of every request an app made, for assertions on what was asked of PagerDuty and how it ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

KEPT = 100_000
"""Requests kept; older ones are forgotten, their numbers are not reused."""


@dataclass(slots=True)
class Call:
    """One request: what was asked, when, how it was answered, and whether its work was done all the same."""

    n: int
    method: str
    path: str
    query: Sequence[tuple[str, str]]
    body: Any
    at: float
    status: int
    done: bool
    fault: str = ""
    rule: str = ""
    sender: str = ""

    @property
    def writes(self) -> bool:
        """Say whether this request is one that changes the account."""
        return self.method != "GET"


class Calls:
    """A log that reads like a list."""

    def __init__(self) -> None:
        self._log: deque[Call] = deque(maxlen=KEPT)
        self.total = 0

    def add(self, call: Call) -> None:
        """Append one request."""
        self._log.append(call)
        self.total = call.n

    def of(self, request: str) -> list[Call]:
        """List the requests of one kind: method and path, which may be a pattern (``POST /incidents/*/notes``)."""
        method, _, path = request.partition(" ")
        return [call for call in self._log if call.method == method and fnmatchcase(call.path, path)]

    def count(self, request: str = "") -> int:
        """Count the requests of one kind, or all."""
        return len(self.of(request)) if request else len(self._log)

    def writes(self) -> list[Call]:
        """List the requests that change the account."""
        return [call for call in self._log if call.writes]

    def since(self, n: int) -> list[Call]:
        """List the requests after number `n`."""
        return [call for call in self._log if call.n > n]

    def clear(self) -> None:
        """Forget all requests."""
        self._log.clear()

    def __len__(self) -> int:
        return len(self._log)

    def __iter__(self) -> Iterator[Call]:
        return iter(list(self._log))

    def __getitem__(self, index: int) -> Call:
        return self._log[index]
