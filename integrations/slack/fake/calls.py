"""The log of every call an app made, for assertions on what was asked of Slack and how it ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from integrations.slack.rules import RULES

KEPT = 100_000
"""Calls kept; older ones are forgotten, their numbers are not reused."""


@dataclass(slots=True)
class Call:
    """One call: what was asked, when, what happened (`ok`) and what the caller was told (`error`, `status`)."""

    n: int
    method: str
    args: Mapping[str, Any]
    began_at: float
    ended_at: float
    ok: bool
    error: str
    status: int
    fault: str = ""

    @property
    def writes(self) -> bool:
        """Say whether this method changes the workspace."""
        rule = RULES.get(self.method)
        return rule is None or rule.writes


class Calls:
    """A log that reads like a list."""

    def __init__(self) -> None:
        self._log: deque[Call] = deque(maxlen=KEPT)
        self.total = 0

    def add(self, call: Call) -> None:
        """Append one call."""
        self._log.append(call)
        self.total = call.n

    def of(self, method: str) -> list[Call]:
        """List the calls of one method."""
        return [call for call in self._log if call.method == method]

    def count(self, method: str = "") -> int:
        """Count the calls of one method, or all."""
        return len(self.of(method)) if method else len(self._log)

    def writes(self) -> list[Call]:
        """List the calls of methods that change the workspace."""
        return [call for call in self._log if call.writes]

    def since(self, n: int) -> list[Call]:
        """List the calls after number `n`."""
        return [call for call in self._log if call.n > n]

    def clear(self) -> None:
        """Forget all calls."""
        self._log.clear()

    def __len__(self) -> int:
        return len(self._log)

    def __iter__(self) -> Iterator[Call]:
        return iter(list(self._log))

    def __getitem__(self, index: int) -> Call:
        return self._log[index]
