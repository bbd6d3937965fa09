"""Profiles of a real Go program give us the same numbers as ``go tool pprof``."""

from __future__ import annotations

import gzip
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence.exports import exports
from evidence.formats.pprof import pprof
from evidence.profile.stacks import Stacks
from evidence.tree import calltree
from evidence.tree.calltree import CallTree
from stack.outside import goburner

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(goburner.missing()), reason=goburner.missing() or "none"),
]

KINDS = ("profile?seconds=1", "heap", "allocs", "goroutine", "mutex", "block")
_ROW = re.compile(
    r"\s*(-?\d+)(?:ns|B)?\s+[\d.]+%\s+[\d.]+%\s+(-?\d+)(?:ns|B)?\s+[\d.]+%\s+(.+?)(?: \((?:partial-)?inline\))?$"
)
_UNITS = {"nanoseconds": "ns", "bytes": "B"}


@pytest.fixture(scope="module")
def profiles() -> Iterator[dict[str, bytes]]:
    """Take one profile of each kind."""
    with goburner.running() as url:
        yield {kind: goburner.fetch(f"{url}/debug/pprof/{kind}") for kind in KINDS}


def top(file: Path, sample_type: str, unit: str) -> dict[str, tuple[int, int]]:
    """Ask pprof for self and total of every function."""
    asked = ["-top", "-nodefraction=0", "-nodecount=100000", f"-sample_index={sample_type}", f"-unit={unit}"]
    says = subprocess.run(["go", "tool", "pprof", *asked, file], capture_output=True, text=True, check=True).stdout
    rows = (_ROW.match(line) for line in says.split("flat%", 1)[1].splitlines()[1:])
    return {row[3]: (int(row[1]), int(row[2])) for row in rows if row}


def said_of(tree: CallTree, type: int | None = None) -> Iterator[tuple[str, int, int]]:
    """Yield name, self and total of every function of a tree, by default for its default sample type."""
    chosen = tree.default_type if type is None else type
    yield from zip(tree.names, tree.self_[chosen].tolist(), tree.function_totals[chosen].tolist(), strict=True)


def ours(tree: CallTree, type: int) -> dict[str, tuple[int, int]]:
    """Return the same for our tree, without functions that count nothing."""
    return {name: (own, total) for name, own, total in said_of(tree, type) if total}


def read(body: bytes) -> Stacks:
    """Read a profile as the server sent it."""
    return pprof.read(gzip.decompress(body))


@pytest.mark.parametrize("kind", KINDS)
def test_every_function_counts_what_pprof_says(kind: str, profiles: dict[str, bytes], tmp_path: Path) -> None:
    file = tmp_path / "go.pb.gz"
    file.write_bytes(profiles[kind])
    stacks = read(profiles[kind])
    tree = calltree.build(stacks)
    for type in range(len(stacks.sample_types)) if kind == "heap" else [stacks.default_type]:
        kind_of = stacks.sample_types[type]
        theirs = top(file, kind_of.name, _UNITS.get(kind_of.unit, "count"))
        said = {name: pair for name, pair in theirs.items() if pair[1]}
        assert {name: pair for name, pair in ours(tree, type).items() if name in said} == said
        assert tree.total(type) == stacks.totals[type]


def test_what_burns_allocates_and_waits_is_named(profiles: dict[str, bytes]) -> None:
    cpu, heap, mutex = (calltree.build(read(profiles[kind])) for kind in ("profile?seconds=1", "allocs", "mutex"))
    burnt = cpu.function_totals[cpu.default_type, cpu.by_name[goburner.BURNS]] / cpu.total()
    assert 0.5 < burnt < 1  # its other part is a tenth of the time, with a dozen or so samples per second
    # The cost of writing the profile is in it, and is large next to a program that hardly ran.
    its_own = {name: own for name, own, _ in said_of(heap) if name.startswith("main.")}
    assert its_own[goburner.ALLOCATES] > sum(its_own.values()) / 2
    assert mutex.function_totals[mutex.default_type, mutex.by_name[goburner.WAITS]] > 0


@pytest.mark.parametrize("kind", ["profile?seconds=1", "heap"])
def test_pprof_reads_what_we_write(kind: str, profiles: dict[str, bytes], tmp_path: Path) -> None:
    stacks = read(profiles[kind])
    file = tmp_path / "ours.pb.gz"
    file.write_bytes(exports.pprof(stacks))
    sample_type = stacks.sample_types[stacks.default_type]
    theirs = top(file, sample_type.name, _UNITS.get(sample_type.unit, "count"))
    said = {name: pair for name, pair in theirs.items() if pair[1]}
    assert ours(calltree.build(stacks), stacks.default_type) == said
