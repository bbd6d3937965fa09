"""Profiles to measure with, made by walking a random program: always the same for the same parameters.

A program is functions that call a few others, some far more often than the rest. Walking it from a thread downwards
gives stacks with a few hot paths and a long tail, which is the hard case for building trees.
"""

from __future__ import annotations

import random
import zlib
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

MADE = Path(".data/bench-evidence")
PLACES = ("net::quic", "gossip::state", "store::page", "http/server", "db/pool", "tls::record", "alloc::heap", "sched")
DOES = ("poll", "read", "write", "connect", "flush", "encode", "lookup", "wake", "handle", "seal", "grow", "walk")
KERNEL = ("do_syscall_64", "vfs_write", "tcp_sendmsg", "schedule", "page_fault", "ext4_map_blocks", "futex_wait")
THREADS = ("worker", "reactor", "gc", "main")


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """How to make a set. ``repeated`` writes a line for every walk, as tracers do; else equal stacks share a line.

    ``drift`` is the share of functions that call others than before: the same program after a change.
    """

    name: str
    lines: int
    seed: int
    functions: int = 4000
    shallow: int = 10
    mean: int = 36
    deep: int = 80
    skew: float = 4.0
    repeated: bool = False
    terse: bool = False
    drift: float = 0.0


SETS = {
    made.name: made
    for made in (
        EvidenceSet("300", 300, 5, functions=600),
        EvidenceSet("10k", 10_000, 1),
        EvidenceSet("100k", 100_000, 2),
        EvidenceSet("100k-after", 100_000, 2, drift=0.05),
        EvidenceSet("1m", 1_000_000, 3, functions=1500, shallow=8, mean=11, skew=2.6, repeated=True, terse=True),
    )
}


def made(name: str) -> Path:
    """Return the path of a set, making it if needed."""
    path = MADE / f"{name}.folded"
    if not path.exists():
        MADE.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines(SETS[name]))
        part.rename(path)
    return path


def lines(made: EvidenceSet) -> Iterator[str]:
    """Yield the lines of a set."""
    counts = _dice(made.seed + 1)
    walks = (";".join(walk) for walk in _walks(made))
    if made.repeated:
        for _, stack in zip(range(made.lines), walks, strict=False):
            yield f"{stack} {counts.randrange(200, 90_000)}\n"
        return
    met: set[str] = set()
    while len(met) < made.lines:
        if (stack := next(walks)) not in met:
            met.add(stack)
            yield f"{stack} {min(int(counts.paretovariate(1.2)), 50_000)}\n"


def _dice(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # what is made must be the same each time, not a secret


def _walks(made: EvidenceSet) -> Iterator[list[str]]:
    """Walk the program forever, from a thread down to where something stops it."""
    dice = _dice(made.seed)
    names = [_name(dice, number, terse=made.terse) for number in range(made.functions)]
    calls = [_calls(dice, caller, made) for caller in range(made.functions)]
    _drifted(calls, made)
    threads = [f"{name}-{number}" for name in THREADS for number in range(4)]
    starts = [dice.randrange(made.functions) for _ in range(12)]
    stops = 1 / max(made.mean - made.shallow, 1)
    roll = dice.random
    while True:
        at = starts[int(roll() ** 2 * len(starts))]
        walk = [threads[int(roll() ** 2 * len(threads))], names[at]]
        while len(walk) < made.deep and (len(walk) < made.shallow or roll() > stops):
            callees, shares = calls[at]
            at = callees[bisect(shares, roll())]
            walk.append(names[at])
        yield walk


def _calls(dice: random.Random, caller: int, made: EvidenceSet) -> tuple[list[int], list[float]]:
    """Return the functions that a function calls, most of them near it, and each one's upper roll of the dice."""
    count = dice.randint(2, 6)
    near = [(caller + 1 + int(dice.expovariate(0.4))) % made.functions for _ in range(count)]
    callees = [one if dice.random() < 0.8 else dice.randrange(made.functions) for one in near]
    weights = [1 / (rank + 1) ** made.skew for rank in range(count)]
    return callees, [share / sum(weights) for share in accumulate(weights[:-1])]


def _drifted(calls: list[tuple[list[int], list[float]]], made: EvidenceSet) -> None:
    dice = _dice(made.seed + 2)
    for callees, _ in calls:
        if dice.random() < made.drift:
            dice.shuffle(callees)


def _name(dice: random.Random, number: int, *, terse: bool) -> str:
    if terse:
        return f"{dice.choice(KERNEL)}_{number}"
    if dice.random() < 0.15:
        return f"{dice.choice(KERNEL)}.part.{number}_[k]"
    place, does = dice.choice(PLACES), dice.choice(DOES)
    if dice.random() < 0.3:
        return f"<{place}::Task{number} as core::future::future::Future>::{does}"
    return (
        f"example.org/{place}.(*{does.title()}er).{does}.func{number}"
        if number % 2
        else f"{does} ({place}.py:{number})"
    )


def perf_script(samples: int = 16_000) -> Path:
    """Return the path of simulated ``perf script`` output for a whole machine, making it if needed."""
    path = MADE / "perf-machine.txt"
    if not path.exists():
        stacks = [line.rpartition(" ")[0].split(";") for line in made("10k").read_text().splitlines()]
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(_perf_samples(stacks, samples))
        part.rename(path)
    return path


def _perf_samples(stacks: list[list[str]], samples: int) -> Iterator[str]:
    """Yield samples as from a busy machine: hardly a stack twice, and each process at its own addresses.

    The shape is that of recordings of a machine that runs tests and browsers: 300 processes with 60 names, calls from a
    few places in each function, leaves from anywhere in them, the kernel below some stacks.
    """
    dice = _dice(4)
    for number in range(samples):
        thread, *frames = stacks[int(dice.random() ** 2 * len(stacks))]
        process = int(dice.random() ** 3 * 300)
        who = f"{thread}-{process % 60} {4711 + process}/{4711 + 7 * process + number % 5} [{number % 8:03}]"
        yield f"{who} {1000 + number / 999:.6f}: {250_000 + number:10} cycles:P: \n"
        for depth, name in enumerate(reversed(frames)):
            yield _perf_line(name, process, int(dice.random() * 4) if depth else int(dice.random() * 200))
        yield "\n"


def _perf_line(name: str, process: int, place: int) -> str:
    found = zlib.crc32(name.encode()) % (1 << 16)
    at = 4096 * found + 4 * place
    if name.endswith("_[k]"):
        return f"\t{0xFFFFFFFF80000000 + at:16x} {name.removesuffix('_[k]')}+0x{4 * place:x} ([kernel.kallsyms])\n"
    base, file = 0x5500_0000_0000 + (process << 32), f"/usr/lib/x86_64-linux-gnu/libexample-{found % 31}.so.6"
    return f"\t{base + at:16x} {name}+0x{4 * place:x} ({file})\n"


def pprof(of: Path) -> Path:
    """Return the path of a set as pprof, making it if needed."""
    path = MADE / f"{of.stem}.pb.gz"
    if not path.exists():
        from evidence import formats
        from evidence.exports import exports

        MADE.mkdir(parents=True, exist_ok=True)
        path.write_bytes(exports.pprof(formats.read_file(of)))
    return path


def jfr() -> Path:
    """Return the path of the middle set as a JFR recording, making it if needed."""
    path = MADE / "100k.jfr"
    if not path.exists():
        from evidence.formats.tests import written_jfr

        lines = (line.rpartition(" ") for line in made("100k").read_text().splitlines())
        path.write_bytes(written_jfr.recording((stack.split(";"), min(int(count), 20)) for stack, _, count in lines))
    return path
