"""The table: each figure next to its reference, its target and what others reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stack.terminal import paint

TIMES = " \N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One row. `value` is compared with `target`; lower is better unless `more` is set."""

    name: str
    value: float
    target: float
    unit: str = ""
    reference: str = ""
    neighbours: str = ""
    more: bool = False

    @property
    def holds(self) -> bool:
        """Whether the target is met."""
        return self.value >= self.target if self.more else self.value <= self.target


class ReportTable:
    """Rows printed as they come, without waiting for the last one."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._head = ""
        self.figures: list[Figure] = []
        self.headed: list[tuple[str, Figure]] = []  # each with the heading above it

    def head(self, text: str) -> None:
        """Begin a group of rows."""
        self._head = text
        self._say("")
        self._say(paint(f"  {text}", "cyan"))

    def add(self, figure: Figure) -> None:
        """Print a row."""
        self.figures.append(figure)
        self.headed.append((self._head, figure))
        bound = f"{'≥' if figure.more else '≤'} {number(figure.target)}{figure.unit}"
        verdict = paint("PASS", "green") if figure.holds else paint("FALLS SHORT", "red")
        value = f"{number(figure.value)}{figure.unit}"
        reference = figure.reference + (f" ({figure.neighbours})" if figure.neighbours else "")
        self._say(f"    {figure.name:<50} {value:>10}  {bound:>10}  {verdict:<11}  {paint(reference, 'grey')}")

    @property
    def short(self) -> list[Figure]:
        """The rows that miss their target."""
        return [figure for figure in self.figures if not figure.holds]


def number(value: float) -> str:
    """Format a figure with as many digits as are meaningful."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
