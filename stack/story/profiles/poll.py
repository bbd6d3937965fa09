"""A sweep over peers, round trips and payloads: how often one poll of a connection holds its thread too long."""

from __future__ import annotations

import csv
import io
from itertools import product

from stack.story.profiles import parts

PEERS = (1, 2, 5, 10, 15)
ROUND_TRIPS_MS = (0, 10, 25, 50, 100, 200)
PAYLOADS_KIB = (4, 16, 64, 256)
SLOW_US, SLOW_SHARE = 50, 1.0
# Cells in which at least one poll in a hundred is slow, and those in which a third are.
SLOW_CELLS, WORST_CELLS = 106, 6
OUTER_MEAN = 0.22
COLUMNS = ("peers", "rtt_ms", "payload_kib", "slow_polls_pct", "p99_us", "slow_time_pct", "outer_slow_polls_pct")


def sweep() -> bytes:
    """Write the table, one row per cell, in the order in which the cells were run."""
    cells = list(product(PEERS, ROUND_TRIPS_MS, PAYLOADS_KIB))
    calm_first = sorted(cells, key=_load)
    outer = _outer(len(cells))
    text = io.StringIO()
    text.write(f"# a poll is slow from {SLOW_US} µs on; reconstruction\n# threshold: slow_polls_pct {SLOW_SHARE:g} %\n")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for n, cell in enumerate(cells):
        rank = calm_first.index(cell)
        slow = _slow(rank, of=len(cells))
        rows.writerow([*cell, f"{slow:.2f}", f"{_p99(slow):.0f}", f"{_time(slow):.1f}", f"{outer[n]:.2f}"])
    return text.getvalue().encode()


def _load(cell: tuple[int, int, int]) -> tuple[float, ...]:
    """Return how busy a connection is: many peers and large payloads keep its children ready, waiting rests them."""
    peers, round_trip, payload = cell
    return (peers**0.8 * payload**0.7 / (1 + round_trip / 60), peers)


def _slow(rank: int, *, of: int) -> float:
    """Return the percentage of slow polls for the cell with that rank, calmest first."""
    calm, worst = of - SLOW_CELLS, of - WORST_CELLS
    if rank < calm:
        return 0.08 + 0.85 * rank / calm
    if rank >= worst:
        return 32 + 4 * (rank - worst) / (WORST_CELLS - 1)
    return float(1.04 * 30 ** ((rank - calm) / (worst - calm)))


def _p99(slow: float) -> float:
    """Return the 99th percentile in µs for a share of slow polls: the threshold itself if that is one in 100."""
    if slow >= 32:
        return 350 + 25 * (slow - 32) / 4
    if slow >= SLOW_SHARE:
        return SLOW_US + 290 * (slow - SLOW_SHARE) / 31
    return 12 + 37 * slow


def _time(slow: float) -> float:
    """Return the percentage of wall time spent inside slow polls."""
    return float(80 * min(1.0, (slow / 33) ** 0.45))


def _outer(cells: int) -> list[float]:
    hundredths = parts.split(round(OUTER_MEAN * 100) * cells, cells, by=parts.chance("poll"), spread=0.6)
    return [one / 100 for one in hundredths]


FILES = {"sweep.csv": sweep}
