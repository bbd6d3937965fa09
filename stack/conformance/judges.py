"""The judges of a file's content: a manual count next to it, and other people's tools."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stack.errors import StackError

HOME = Path(__file__).resolve().parents[2] / "fixtures" / "conformance"
COUNTED = ".counted.json"
PATIENCE_S = 600  # Go compiles `go tool pprof` when it is first asked for: https://go.dev/doc/go1.25#tools
# Function -> its self value, and its total.
Counts = Mapping[str, tuple[int, int]]
# The formats that `go tool pprof` reads, and how; without the program it knows no names of addresses.
GO_READS: Mapping[str, tuple[str, ...]] = {
    "pprof": (),
    "legacy_pprof": ("-addresses",),
    "gperftools_cpu": ("-addresses",),
}
# The unit in which it prints whole numbers of sizes and times.
UNITS: Mapping[str, str] = {"inuse_space": "B", "delay": "ns"}
# Its name for an address: with leading zeros, and the program that contains it.
ADDRESS = re.compile(r"0*([0-9a-f]+) \[.*\]")
TOP_LINE = re.compile(r"\s*(-?\d+)(?:\w*)\s+[\d.]+%\s+[\d.]+%\s+(-?\d+)(?:\w*)\s+[\d.]+%\s+(.*\S)\s*")


@dataclass(frozen=True, slots=True)
class Judged:
    """One file and what one judge says about one of its sample types."""

    format: str
    judge: str
    path: Path
    sample_type: str
    counts: Counts


Judge = Callable[[str, Path], Iterator[Judged]]


def judged(format: str, *, by: Sequence[Judge] | None = None) -> Iterator[Judged]:
    """Yield what each judge, or each of those in ``by``, says about each file in a format."""
    for path in sorted(HOME.joinpath(format).glob("*")):
        if not path.name.endswith(COUNTED):
            for judge in by or JUDGES:
                yield from judge(format, path)


def by_hand(format: str, path: Path) -> Iterator[Judged]:
    """Yield the counts in the JSON file next to a file."""
    told = json.loads(path.with_name(path.name + COUNTED).read_text(encoding="utf-8"))
    counts = {name: (own, total) for name, (own, total) in told["functions"].items()}
    yield Judged(format, "counted by hand", path, told["sample_type"], counts)


def _by_go(format: str, path: Path) -> Iterator[Judged]:
    """Ask `go tool pprof -top` for every function, in whole numbers."""
    go = shutil.which("go")
    if format not in GO_READS or go is None:
        return
    sample_type = json.loads(path.with_name(path.name + COUNTED).read_text(encoding="utf-8"))["sample_type"]
    words = [go, "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0", "-symbolize=none"]
    words += [
        *GO_READS[format],
        f"-sample_index={sample_type}",
        f"-unit={UNITS.get(sample_type, 'minimum')}",
        str(path),
    ]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if ended.returncode:
        raise StackError(f"go tool pprof refused {path.name}: {ended.stderr.strip()[-300:]}")
    lines = (TOP_LINE.fullmatch(line) for line in ended.stdout.splitlines())
    counts = {_go_name(one[3]): (int(one[1]), int(one[2])) for one in lines if one}
    yield Judged(format, "go tool pprof", path, sample_type, counts)


def _go_name(said: str) -> str:
    found = ADDRESS.fullmatch(said)
    return f"0x{found[1]}" if found else said.removesuffix(" (inline)")


JUDGES: tuple[Judge, ...] = (by_hand, _by_go)
