"""Write samples as `perf script` prints them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

KERNEL = "[kernel.kallsyms]"


@dataclass(frozen=True, slots=True)
class Task:
    """What was sampled: command, thread, and the object of its own frames."""

    comm: str
    tid: int
    object: str = ""


# The event, the task, and the stack from the root on; kernel frames end in `_[k]`.
Sample = tuple[str, Task, tuple[str, ...]]


def text(samples: Mapping[Sample, int], *, chance: random.Random, cpus: range) -> str:
    """Write each sample that often, shuffled in time."""
    order = [key for key, count in samples.items() for _ in range(count)]
    chance.shuffle(order)
    at = 81_230.0
    blocks = []
    for event, task, stack in order:
        at += chance.uniform(0.001, 0.004)
        head = f"{task.comm} {task.tid:7d} [{chance.choice(cpus):03d}] {at:.6f}: {event}: \n"
        blocks.append("".join((head, *_frames(task, stack), "\n")))
    return "".join(blocks)


def _frames(task: Task, stack: tuple[str, ...]) -> Iterator[str]:
    for name in reversed(stack):
        kernel = name.endswith("_[k]")
        base = 0xFFFFFFFF81000000 if kernel else 0x55D0C0400000
        place = sum(map(ord, name)) * 64
        where = KERNEL if kernel else task.object
        yield f"\t{base + place:16x} {name.removesuffix('_[k]')}+0x{place % 251:x} ({where})\n"
