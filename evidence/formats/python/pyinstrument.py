"""pyinstrument's JSON (``pyinstrument -r json``): a tree of frames with the time in each; or a saved session.

Source: github.com/joerick/pyinstrument, ``renderers/jsonrenderer.py``, ``session.py`` and ``frame_info.py``. A session
(``-r session``) holds each sample separately: its frames, root first, and its duration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text import fields, outline
from evidence.formats.base.json_text.fields import listed, mapped, scaled
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType, Stacks

NAME = "pyinstrument"
WALL = (SampleType("wall", "nanoseconds"),)
SECOND = 1_000_000_000
# Frames for the time in which the parent frame itself ran, or waited.
OWN = {"[self]", "<built-in>"}
# In a session: the separator between a function's name, file and line, and the one before each further attribute.
PART, ATTRIBUTE, CLASS = "\0", "\x01", "c"


def claim(head: bytes) -> Claim | None:
    """Recognise the root of its tree."""
    found = outline.of(head)
    if "root_frame" in found or found.has("duration", "sample_count", "cpu_time"):
        return Claim(Certainty.SURE, "it has pyinstrument's duration and root frame")
    if found.has("duration", "sample_count", "start_call_stack"):
        return Claim(Certainty.SURE, "it has the samples of a session of pyinstrument")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the time of each frame without its children. Raises ``BadProfile`` naming the frame; ``TooMuch``."""
    file = mapped(fields.parse(data, limits=limits), "the file")
    gather = Gather(WALL, limits=limits)
    if "frame_records" in file:
        _pour_samples(listed(file["frame_records"], "frame_records"), gather)
    elif "root_frame" in file:
        _pour(_nodes(file["root_frame"], limits), gather)
    else:
        raise BadProfile("It has neither a root frame nor recorded frames")
    about = {"command": str(file.get("target_description") or file.get("program") or "")[:300]}
    duration = scaled(file.get("duration", 0), "duration", times=SECOND)
    return gather.stacks(NAME, about={**about, **({"duration_ns": duration} if duration > 0 else {})})


def _nodes(root: Any, limits: Limits) -> list[tuple[Mapping[str, Any], int]]:
    """Return each frame of a tree with its parent's index."""
    nodes: list[tuple[Mapping[str, Any], int]] = []
    waiting = [(mapped(root, "root_frame"), -1)] if root else []
    while waiting:
        node, above = waiting.pop()
        nodes.append((node, above))
        if len(nodes) > limits.names * 4:
            raise TooMuch(f"It has more than {limits.names * 4:,} frames")
        children = listed(node.get("children") or [], f"frame {len(nodes)}, children")
        place = len(nodes) - 1
        waiting += [(mapped(child, f"a child of frame {place}"), place) for child in children]
    return nodes


def _pour_samples(records: Sequence[Any], gather: Gather) -> None:
    samples = []
    for at, record in enumerate(records):
        where = f"frame_records[{at}]"
        pair = listed(record, where)
        if len(pair) != 2:
            raise BadProfile("A sample is its frames and its time", where=where)
        frames = [fields.words(one, where) for one in listed(pair[0], where)]
        time = scaled(pair[1], where, times=SECOND)
        if time < 0:
            raise BadProfile("A sample has a negative time", where=where)
        samples.append((frames, time))
    places = {said: _recorded(said) for said in {said for frames, _ in samples for said in frames}}
    names = gather.names_of(places.values(), begins=True)
    for at, (frames, time) in enumerate(samples):
        if time > 0:
            stack = [gather.code(names[places[said]]) for said in frames if places[said].name not in OWN]
            gather.add(stack, [time], where=f"frame_records[{at}]")


def _recorded(said: str) -> SourceFunction:
    """Return the function of a session's frame: ``row\\0app.py\\x005\\x01cRepo\\x01l6``."""
    identity, *attributes = said.split(ATTRIBUTE)
    name, file, line = [*identity.split(PART), "", ""][:3]
    owner = next((f"{one[1:]}." for one in attributes if one.startswith(CLASS)), "")
    return SourceFunction(f"{owner}{name}", file, int(line) if line.isdecimal() and len(line) < 10 else 0)


def _pour(nodes: list[tuple[Mapping[str, Any], int]], gather: Gather) -> None:
    own = [scaled(node.get("time", 0), f"frame {at}, time", times=SECOND) for at, (node, _) in enumerate(nodes)]
    whole = list(own)
    for at, (_, above) in enumerate(nodes):
        if above >= 0:
            own[above] -= whole[at]
    names = gather.names_of((_place(node) for node, _ in nodes), begins=True)
    stacks: list[list[int]] = []
    for at, (node, above) in enumerate(nodes):
        around = stacks[above] if above >= 0 else []
        place = _place(node)
        stack = around if place.name in OWN else [*around, gather.code(names[place])]
        stacks.append(stack)
        if own[at] > 0:
            gather.add(stack, [own[at]], where=f"frame {at}")


def _place(node: Mapping[str, Any]) -> SourceFunction:
    file = node.get("file_path") or node.get("file_path_short") or ""
    line = node.get("line_no")
    owner = f"{node['class_name']}." if node.get("class_name") else ""
    function = str(node.get("function") or "")
    return SourceFunction(f"{owner}{function}", str(file), line if isinstance(line, int) else 0)
