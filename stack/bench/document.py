"""The page of figures, docs/benchmarks.md: one section per group, replaced when that group is measured again."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psutil

from config.env import ROOT
from stack import checkout, seed
from stack.bench.table import Figure, number

PAGE: Final = ROOT / "docs" / "benchmarks.md"
INTRO: Final = (
    "# Benchmarks\n\nWhat `make bench` measured: each figure with its bound and a reference taken in the same run. "
    '`make bench ARGS="--write GROUP"` measures one group and replaces its section here; without a group, it measures '
    "all of them. Measure on a machine that does nothing else.\n"
)
SECTION: Final = re.compile(r"^## (\S+)\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where figures come from: the machine, the date, the commit, the command, the seed."""

    machine: str
    at: datetime
    commit: str
    command: str
    seed: int

    def __str__(self) -> str:
        at = f"{self.at:%Y-%m-%d %H:%M} UTC"
        return f"{self.machine}. {at}, commit {self.commit}, `{self.command}`, seed {self.seed}."


def origin(group: str) -> Provenance:
    """Return the provenance of figures measured now."""
    command = f"python -m stack bench {group} --write"
    return Provenance(_machine(), datetime.now(UTC), _commit(), command, seed.SEED)


def replace(group: str, figures: Sequence[tuple[str, Figure]], *, origin: Provenance, order: Sequence[str]) -> None:
    """Replace one group's section of the page with figures, each with the heading above it; keep all others."""
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    PAGE.write_text(page(before, group, figures, origin=origin, order=order), encoding="utf-8")


def page(
    before: str, group: str, figures: Sequence[tuple[str, Figure]], *, origin: Provenance, order: Sequence[str]
) -> str:
    """Return the page with one section replaced; sections of groups that no longer exist are dropped."""
    sections = {found[1]: found[0].rstrip() + "\n" for found in SECTION.finditer(before)}
    sections[group] = _section(group, figures, origin)
    return "\n".join([INTRO, *(sections[one] for one in order if one in sections)])


def _section(group: str, figures: Sequence[tuple[str, Figure]], origin: Provenance) -> str:
    lines, above = [f"## {group}", str(origin)], ""
    for head, figure in figures:
        if head != above:
            lines += ["", f"**{head}**", "", "| figure | measured | bound | | reference |", "|---|---|---|---|---|"]
            above = head
        lines.append(_row(figure))
    return "\n".join(lines) + "\n"


def _row(figure: Figure) -> str:
    verdict = "PASS" if figure.holds else "FALLS SHORT"
    bound = f"{'≥' if figure.more else '≤'} {number(figure.target)}{figure.unit}"
    cells = (figure.name, f"{number(figure.value)}{figure.unit}", bound, verdict, figure.reference)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _machine() -> str:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next((one.split(":")[1].strip() for one in info.read_text().splitlines() if "model name" in one), cpu)
    memory = psutil.virtual_memory().total / 1024**3
    return f"{os.cpu_count()} cores of {cpu}, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"


def _commit() -> str:
    """Return the commit, and whether the working tree differs from it; unknown without a checkout."""
    ours = ["git", "-C", str(ROOT), "status", "--porcelain", "--", ".", f":!{PAGE.relative_to(ROOT)}"]
    changed = subprocess.run(ours, capture_output=True, text=True, check=False)
    return (checkout.commit() or "unknown") + (" with changes" if changed.stdout.strip() else "")
