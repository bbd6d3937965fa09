"""Log lines about failures that no code expects: they count against a run, whatever was broken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from stack.chaos.judging.invariants import Violation

LAW: Final = "every failure has a name"
OURS: Final = ("web", "worker", "evidence")
SIGNS: Final = ("Internal Server Error", " in a listener", "Traceback (most recent call last)")


@dataclass(slots=True)
class UnnamedFailures:
    """Listens to processes' output, and keeps the lines that say so."""

    lines: list[tuple[str, str]] = field(default_factory=list)

    def hear(self, process: str, line: str) -> None:
        """Take a line from a process."""
        if process.startswith(OURS) and any(sign in line for sign in SIGNS):
            self.lines.append((process, line))

    def violations(self) -> Iterator[Violation]:
        """Yield each."""
        for process, line in self.lines:
            yield Violation(LAW, "", f"{process}: {line}", (line,))
