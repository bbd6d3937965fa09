"""A call tree as speedscope reads it, with totals kept, small enough for a browser to hold. Pure.

Source of the format: speedscope's ``file-format-schema.json``, *sampled* profiles.
"""

from __future__ import annotations

import json
from typing import Any

from evidence.drawing import flamegraph
from evidence.tree.calltree import ROOT, CallTree

BUDGET = 20_000
NARROW = "(narrower frames)"
UNITS = {"nanoseconds": "nanoseconds", "bytes": "bytes"}


def sampled(tree: CallTree, *, type: int, title: str) -> bytes:
    """Return one sample type as speedscope's JSON: the widest stacks; narrower ones keep their weight as one frame."""
    found = flamegraph.widest(tree, tree.totals[type], budget=BUDGET)
    frames: dict[str, int] = {}
    stacks: dict[int, list[int]] = {}
    inside: dict[int, int] = {}
    rows = list(zip(found.node.tolist(), found.width.tolist(), found.own.tolist(), strict=True))
    for node, width, _ in rows:
        above = int(tree.parent[node])
        if node == ROOT:
            stacks[node] = []
            continue
        stacks[node] = [*stacks[above], frames.setdefault(tree.name_of(node), len(frames))]
        inside[above] = inside.get(above, 0) + width
    samples, weights = [], []
    for node, width, own in rows:
        rest = width - own - inside.get(node, 0)
        for stack, weight in ((stacks[node], own), ([*stacks[node], -1], rest)):
            if weight > 0:
                samples.append(stack)
                weights.append(weight)
    narrow = frames.setdefault(NARROW, len(frames))
    samples = [stack if stack[-1:] != [-1] else [*stack[:-1], narrow] for stack in samples]
    return _written(tree, type, title, list(frames), samples, weights)


def _written(
    tree: CallTree, type: int, title: str, frames: list[str], samples: list[list[int]], weights: list[int]
) -> bytes:
    kind = tree.sample_types[type]
    profile: dict[str, Any] = {
        "type": "sampled",
        "name": f"{title} ({kind.name})",
        "unit": UNITS.get(kind.unit, "none"),
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }
    said = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": [profile],
        "name": title,
        "activeProfileIndex": 0,
        "exporter": "firekind",
    }
    return json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
