"""The same samples as stored by profilers that know calls but no stacks."""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import TypeVar

Function = TypeVar("Function", bound=Hashable)
Sample = tuple[Sequence[str], int]
Write = Callable[[Sequence[Sample]], bytes]


def known(
    samples: Sequence[tuple[Sequence[Function], int]],
) -> tuple[Counter[Function], Counter[Function], Counter[tuple[Function, Function]]]:
    """Return each function's self cost and total cost, and the cost of calls from one to another."""
    own: Counter[Function] = Counter()
    inside: Counter[Function] = Counter()
    calls: Counter[tuple[Function, Function]] = Counter()
    for stack, value in samples:
        own[stack[-1]] += value
        inside.update(dict.fromkeys(stack, value))
        calls.update(dict.fromkeys(pairwise(stack), value))
    return own, inside, calls


def callgrind(samples: Sequence[Sample]) -> bytes:
    own, inside, calls = known(samples)
    out = ["# callgrind format", "version: 1", "creator: us", "positions: line", "events: Ir", ""]
    ids = {name: at for at, name in enumerate(inside, 1)}
    met: set[str] = set()

    def named(name: str) -> str:
        if name in met:
            return f"({ids[name]})"
        met.add(name)
        return f"({ids[name]}) {name}"

    for name in inside:
        out += ["fl=(1)", f"fn={named(name)}", f"16 {own[name]}"]
        for (caller, callee), value in calls.items():
            if caller == name:
                out += [f"cfn={named(callee)}", "calls=1 20", f"+3 {value}"]
        out.append("")
    return "\n".join([*out, f"totals: {sum(own.values())}"]).encode()


def cprofile(samples: Sequence[Sample]) -> bytes:
    own, inside, calls = known(samples)
    keys = {name: ("~", 0, name) for name in inside}
    stats = {
        keys[name]: (
            1, 1, own[name] / 1e9, inside[name] / 1e9,
            {
                keys[caller]: (1, 1, 0.0, value / 1e9)
                for (caller, callee), value in calls.items() if callee == name
            },
        )
        for name in inside
    }  # fmt: skip
    return marshal.dumps(stats)


GRAPHS: dict[str, Write] = {"callgrind": callgrind, "cprofile": cprofile}
