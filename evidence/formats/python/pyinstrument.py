"""pyinstrument's JSON (``pyinstrument -r json``): a tree of frames with the time in each.

Source: github.com/joerick/pyinstrument, ``renderers/jsonrenderer.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base import naming
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text import fields, outline
from evidence.formats.base.json_text.fields import listed, mapped, scaled
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import TooMuch
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NAME = "pyinstrument"
WALL = (SampleType("wall", "nanoseconds"),)
SECOND = 1_000_000_000
# Frames that stand for the time in which a frame itself ran, or waited.
OWN = {"[self]", "<built-in>"}


def claim(head: bytes) -> Claim | None:
    """Tell by the root of its tree."""
    found = outline.of(head)
    if "root_frame" in found or found.has("duration", "sample_count", "cpu_time"):
        return Claim(Certainty.SURE, "it has pyinstrument's duration and root frame")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the time of each frame without its children. Raises ``BadProfile`` naming the frame; ``TooMuch``."""
    file = mapped(fields.parse(data, limits=limits), "the file")
    gather = Gather(WALL, limits=limits)
    nodes: list[tuple[Mapping[str, Any], int]] = []  # a frame, and the place of the one around it
    waiting = [(mapped(file.get("root_frame"), "root_frame"), -1)] if file.get("root_frame") else []
    while waiting:
        node, above = waiting.pop()
        nodes.append((node, above))
        if len(nodes) > limits.names * 4:
            raise TooMuch(f"It has more than {limits.names * 4:,} frames")
        children = listed(node.get("children") or [], f"frame {len(nodes)}, children")
        place = len(nodes) - 1
        waiting += [(mapped(child, f"a child of frame {place}"), place) for child in children]
    _pour(nodes, gather)
    about = {"command": str(file.get("target_description") or file.get("program") or "")[:300]}
    duration = scaled(file.get("duration", 0), "duration", times=SECOND)
    return gather.stacks(NAME, about={**about, **({"duration_ns": duration} if duration > 0 else {})})


def _pour(nodes: list[tuple[Mapping[str, Any], int]], gather: Gather) -> None:
    own = [scaled(node.get("time", 0), f"frame {at}, time", times=SECOND) for at, (node, _) in enumerate(nodes)]
    whole = list(own)
    for at, (_, above) in enumerate(nodes):
        if above >= 0:
            own[above] -= whole[at]
    names = naming.distinct(_place(node) for node, _ in nodes)
    stacks: list[list[int]] = []
    for at, (node, above) in enumerate(nodes):
        around = stacks[above] if above >= 0 else []
        place = _place(node)
        stack = around if place.name in OWN else [*around, gather.code(names[place])]
        stacks.append(stack)
        if own[at] > 0:
            gather.add(stack, [own[at]], where=f"frame {at}")


def _place(node: Mapping[str, Any]) -> naming.SourceFunction:
    file = node.get("file_path_short") or node.get("file_path") or ""
    line = node.get("line_no")
    owner = f"{node['class_name']}." if node.get("class_name") else ""
    function = str(node.get("function") or "")
    return naming.SourceFunction(f"{owner}{function}", str(file), line if isinstance(line, int) else 0)
