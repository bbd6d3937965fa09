"""Whether two small samples differ, without assuming a distribution. Pure, exact where that is cheap."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from statistics import median

ALPHA = 0.05
CONFIDENCE = 0.95
EXACT = 50  # values per side up to which the distribution of U is enumerated; 25 with ties
EXACT_TIED = 25

__all__ = ["ALPHA", "CONFIDENCE", "fewest", "geometric_mean", "interval", "mann_whitney", "median"]


def interval(values: Sequence[float], *, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """Return the interval that contains the median of the distribution behind ``values``; None if there are too few.

    Order statistics of the binomial distribution, the more likely side first and the lower one of two equal ones: for
    ten values the second and the ninth. Both ends are in the values' unit.
    """
    n = len(values)
    enough = math.ceil(confidence * 2**n - 1e-9)
    low = high = n // 2 if n % 2 == 0 else (n - 1) // 2
    held = math.comb(n, low)
    while held < enough:
        left, right = (math.comb(n, low - 1) if low else 0), math.comb(n, high + 1)
        if not left and not right:
            return None
        if left >= right:
            low, held = low - 1, held + left
        else:
            high, held = high + 1, held + right
    if low < 1 or high + 1 > n:
        return None
    ordered = sorted(values)
    return ordered[low - 1], ordered[high]


def mann_whitney(old: Sequence[float], new: Sequence[float]) -> float:
    """Return the two-sided p of the Mann-Whitney U test; 1 if every value is the same or a side is empty.

    Exact up to 50 values per side (25 with ties), else the normal approximation with the corrections for ties and
    continuity. Source: Mann and Whitney 1947; for ties, Klotz 1966. ``old`` and ``new`` are values in one unit, in any
    order.
    """
    ties = sorted(Counter([*old, *new]).items())
    if not old or not new or len(ties) == 1:
        return 1.0
    twice_u = _twice_u(old, ties)
    sizes = [count for _, count in ties]
    tied = len(sizes) < len(old) + len(new)
    if max(len(old), len(new)) > (EXACT_TIED if tied else EXACT):
        return _approximate(twice_u / 2, len(old), len(new), sizes)
    counts = _tied_counts(len(old), sizes) if tied else _counts(len(old), len(new))
    return _two_sided(counts, twice_u if tied else twice_u // 2)


def fewest(*, alpha: float = ALPHA) -> int:
    """Return the minimum number of values per side to find any difference."""
    n = 1
    while 2 / math.comb(2 * n, n) > alpha:
        n += 1
    return n


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the geometric mean, in the values' unit; None if a value is not above zero, or there is none."""
    known = list(values)
    if not known or min(known) <= 0:
        return None
    return math.exp(math.fsum(math.log(value) for value in known) / len(known))


def _twice_u(old: Sequence[float], ties: list[tuple[float, int]]) -> int:
    """Return 2 U of ``old``: pairs in which it is larger count two, equal ones one. Whole also with ties."""
    of_old = Counter(old)
    ranks, below = 0, 0
    for value, count in ties:
        ranks += of_old.get(value, 0) * (2 * below + count + 1)
        below += count
    return ranks - len(old) * (len(old) + 1)


def _counts(n: int, m: int) -> list[int]:
    """Return in how many orders of n and m distinct values U is 0, 1, … n m: a Gaussian binomial coefficient."""
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):  # times 1 - q^(m + i)
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):  # over 1 - q^i
            ways[u] += ways[u - i]
    return ways


def _tied_counts(n: int, sizes: Sequence[int]) -> list[int]:
    """Return in how many ways n of the values, in groups of equal ones, have 2 U of 0, 1, …"""
    ways: list[dict[int, int]] = [{0: 1}] + [{} for _ in range(n)]  # by how many were taken: twice the ranks -> ways
    below = 0
    for size in sizes:
        rank = 2 * below + size + 1
        below += size
        ways = [_taken(ways, size, rank, taken) for taken in range(n + 1)]
    least = n * (n + 1)
    most = 2 * n * (sum(sizes) - n)
    return [ways[n].get(least + twice_u, 0) for twice_u in range(most + 1)]


def _taken(ways: list[dict[int, int]], size: int, rank: int, taken: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for more in range(min(size, taken) + 1):
        times = math.comb(size, more)
        for ranks, before in ways[taken - more].items():
            at = ranks + more * rank
            found[at] = found.get(at, 0) + before * times
    return found


def _two_sided(counts: list[int], u: int) -> float:
    upto = list(accumulate(counts))
    below = upto[u]
    above = upto[-1] - (upto[u - 1] if u else 0)
    return min(1.0, 2 * min(below, above) / upto[-1])


def _approximate(u: float, n: int, m: int, sizes: Iterable[int]) -> float:
    both = n + m
    tied = sum(size**3 - size for size in sizes)
    spread = math.sqrt(n * m * ((both + 1) - tied / (both * (both - 1))) / 12)
    away = max(abs(u - n * m / 2) - 0.5, 0.0)
    return min(1.0, math.erfc(away / spread / math.sqrt(2)))
