"""The scale of a comparison: shares of each side's own total, or amounts as counted. Pure.

The sentence and the table use the same scale, so that their numbers agree.
"""

from __future__ import annotations

from dataclasses import dataclass

from evidence.profile import amounts


@dataclass(frozen=True, slots=True)
class ComparisonScale:
    """Shares of each side's own total or, if ``absolute``, amounts in the profiles' unit."""

    absolute: bool = False
    unit: str = ""
    is_rough: bool = False

    def side(self, value: int, total: int) -> str:
        """Format one side's value, given its total."""
        if self.absolute:
            return amounts.amount(value, self.unit)
        part = value / (total or 1)
        return amounts.rough(part) if self.is_rough else amounts.share(part)

    def change(self, values: tuple[int, int], totals: tuple[int, int]) -> str:
        """Format how much the second side differs from the first, with its sign."""
        if self.absolute:
            return amounts.difference(values[1] - values[0], self.unit)
        before, after = (value / (total or 1) for value, total in zip(values, totals, strict=True))
        return amounts.points(after - before, is_rough=self.is_rough)

    def least(self, share: float) -> str:
        """Format the smallest change that is shown, ``share`` of the whole."""
        if self.absolute:
            return f"{100 * share:g} % of the larger total"
        return "half a percentage point" if share == 0.005 else f"{100 * share:g} percentage points"


SHARES = ComparisonScale()
