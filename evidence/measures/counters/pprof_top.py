"""``go tool pprof -top``: functions with their flat and cumulative values, rounded.

Source: github.com/google/pprof, ``internal/report`` (printText).
"""

from __future__ import annotations

import re

from evidence.measures.counting import CountColumn, CountTable
from evidence.profile.errors import BadProfile

HEAD = re.compile(r"^ +flat +flat% +sum% +cum +cum%[ \t]*$", re.MULTILINE)
TYPE = re.compile(r"^Type: (\S.{0,100})$", re.MULTILINE)
AMOUNT = r"(-?\d[\d.]{0,20})([a-zA-Zµ]{0,6})"
# The sum of the rows, and the profile's total: nodes that count little, or come after the first ten, are dropped.
SHOWING = re.compile(rf"^Showing nodes accounting for {AMOUNT}, [\d.]+% of {AMOUNT} total$", re.MULTILINE)
DIFFERENCE = "It's a difference of two profiles, whose rows don't add up. Upload both profiles and compare them"
ROW = re.compile(rf" *{AMOUNT} +-?[\d.]+% +-?[\d.]+% +{AMOUNT} +-?[\d.]+%  (\S.{{0,2000}}?)(?: \(inline\))?[ \t]*")
UNITS = {
    "ns": ("s", 1e-9), "us": ("s", 1e-6), "µs": ("s", 1e-6), "ms": ("s", 1e-3), "s": ("s", 1.0), "mins": ("s", 60.0),
    "hrs": ("s", 3600.0), "B": ("B", 1.0), "kB": ("B", 2.0**10), "MB": ("B", 2.0**20), "GB": ("B", 2.0**30),
    "TB": ("B", 2.0**40), "PB": ("B", 2.0**50),
}  # fmt: skip


def looks_like(text: str) -> bool:
    """Return whether there is pprof's heading of a table of functions, without other text within it."""
    return HEAD.search(text) is not None


def read(text: str) -> list[CountTable]:
    """Read each table. Raises ``BadProfile`` for a difference."""
    tables = []
    for head in HEAD.finditer(text):
        rows: list[tuple[str, list[float | None]]] = []
        unit = ""
        for line in text[head.end() + 1 :].split("\n"):
            found = ROW.fullmatch(line)
            if found is None:
                break
            (own, its), (total, whole) = _amount(found[1], found[2]), _amount(found[3], found[4])
            if own < 0 or total < 0:
                raise BadProfile(DIFFERENCE)
            unit = its or whole or unit
            rows.append((found[5], [own, total]))
        said = [*TYPE.finditer(text, 0, head.start())][-1:]
        name = said[0][1].strip() if said else "samples"
        columns = [CountColumn(f"{name} itself", unit), CountColumn("with what it calls", unit, adds=False)]
        tables.append(CountTable("pprof -top", "function", columns, rows, rest=_left_out(text[: head.start()])))
    return tables


def _left_out(above: str) -> float:
    """Return how much flat value the rows leave out."""
    said = [*SHOWING.finditer(above)][-1:]
    shown, whole = (_amount(said[0][at], said[0][at + 1])[0] for at in (1, 3)) if said else (0.0, 0.0)
    return max(whole - shown, 0.0)


def _amount(number: str, unit: str) -> tuple[float, str]:
    """Return an amount in seconds, bytes or pieces, and which of them."""
    word, times = UNITS.get(unit, ("", 1.0))
    return (float(f"{float(number) * times:.12g}") if number.count(".") < 2 else 0.0), word
