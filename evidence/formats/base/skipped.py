"""Lines of a text that its reader does not use: counted, and the first few shown. Pure."""

from __future__ import annotations

from typing import Any

SHOWN = 10
LONGEST = 120


class Skipped:
    """How many lines were skipped, and where the first ones are."""

    def __init__(self) -> None:
        self.count = 0
        self.at: list[list[Any]] = []

    @property
    def wants_place(self) -> bool:
        """Whether the next line will be shown, so that its number is worth counting."""
        return len(self.at) < SHOWN

    @property
    def where(self) -> str:
        """Name the first line that was skipped."""
        return f"line {self.at[0][0]}" if self.at else ""

    def add(self, number: int, line: bytes) -> None:
        """Skip the line with this number."""
        self.count += 1
        if self.wants_place:
            self.at.append([number, line[:LONGEST].decode(errors="replace").strip()])

    def about(self) -> dict[str, Any]:
        """Return its part of ``Stacks.about``: empty if nothing was skipped."""
        return {"skipped": self.count, "skipped_at": self.at} if self.count else {}
