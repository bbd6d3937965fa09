"""V8's own profiles: ``.cpuprofile`` (nodes, samples, timeDeltas) and ``.heapprofile`` (a tree of allocation sites).

Source: the Profiler and HeapProfiler domains of the DevTools protocol. By default, V8 leaves garbage-collected objects
out of a heap profile, so what it counts is in use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from evidence.formats import Buffer
from evidence.formats.base import branches
from evidence.formats.base.branches import Key
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text import compact, fields, outline
from evidence.formats.base.json_text.fields import listed, mapped, scaled, whole
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import Codes, Ints, SampleType, Stacks

NAME = "v8"
# V8 samples a thread by the clock, idle or not: these are not CPU times.
TIMED = (SampleType("samples", "samples"), SampleType("time", "nanoseconds"))
HEAP = (SampleType("inuse_space", "bytes"),)
ROOT = "(root)"
# V8's names for time outside JavaScript.
HINTS = {"(idle)": "idle", "(program)": "native", "(garbage collector)": "native"}
MICROSECOND = 1_000
FARTHEST = 1 << 62  # nanoseconds
V8Nodes = Sequence[Mapping[str, Any]]
Window = tuple[int, int]  # nanoseconds of the program's own clock


def claim(head: bytes) -> Claim | None:
    """Recognise call frames, or V8's older tree of functions; a Chrome trace holds them deeper, in its events."""
    found = outline.of(head)
    if found.has("nodes[].callFrame") or found.has("head.callFrame") or found.has("head.functionName"):
        return Claim(Certainty.SURE, "it has a tree of call frames")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read a CPU or heap profile. Raises ``BadProfile`` naming the node or sample; ``TooMuch``."""
    file = mapped(compact.parse(data, limits=limits), "the file")
    nodes = _flat(file) if "head" in file else nodes_of(file)
    if any("selfSize" in node for node in nodes):
        return _heap(nodes, limits=limits)
    gather = Gather(TIMED, limits=limits)
    return timed(gather, NAME, add_cpu(gather, [(nodes, file)]))


def add_cpu(gather: Gather, profiles: Sequence[tuple[V8Nodes, Mapping[str, Any]]]) -> Window:
    """Add the samples of profiles over their nodes: how often each occurred, and how long until the next sample.

    Return when the first and last were taken. Raises ``BadProfile`` for malformed content.
    """
    names = _names(gather, [nodes for nodes, _ in profiles])
    windows: list[Window] = []
    for nodes, file in profiles:
        tree = _coded(nodes, names, gather)
        seen = _seen(nodes, file, known=tree)
        windows += [seen.window] if seen.lasted else []
        branches.grow(gather, tree, {key: (count, seen.lasted.get(key, 0)) for key, count in seen.hits.items()})
    return min((begin for begin, _ in windows), default=0), max((end for _, end in windows), default=0)


def timed(gather: Gather, name: str, window: Window) -> Stacks:
    """Return CPU samples, and their time as the default if times are known.

    Threads run in parallel, so the recorded duration is the ``window`` of all, not the sum of each one's time.
    """
    stacks = gather.stacks(name)
    if not stacks.totals[1]:
        return replace(stacks, sample_types=TIMED[:1], values=stacks.values[:1])
    return replace(stacks, default_type=1, about={"duration_ns": window[1] - window[0]})


def _heap(nodes: Sequence[Mapping[str, Any]], *, limits: Limits) -> Stacks:
    gather = Gather(HEAP, limits=limits)
    sizes: dict[Key, int] = Counter()
    for at, node in enumerate(nodes):
        sizes[_id(node, at)] += whole(node.get("selfSize", 0), f"node {at}, selfSize")
    tree = _coded(nodes, _names(gather, [nodes]), gather)
    branches.grow(gather, tree, {key: (size,) for key, size in sizes.items()})
    return gather.stacks(NAME)


def nodes_of(file: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the nodes of a profile that lists them."""
    return [mapped(node, f"nodes[{at}]") for at, node in enumerate(listed(file.get("nodes"), "nodes"))]


def _flat(file: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the nodes of a nested tree as a list, each with the ids of its children."""
    found: list[Mapping[str, Any]] = []
    waiting = [mapped(file["head"], "head")]
    while waiting:
        node = waiting.pop()
        children = [
            mapped(child, f"a child of node {len(found)}") for child in listed(node.get("children", []), "children")
        ]
        found.append({**node, "children": [child.get("id") for child in children]})
        waiting.extend(children)
    return found


def _id(node: Mapping[str, Any], at: int) -> int:
    return whole(node.get("id"), f"node {at}, id")


def _parents(nodes: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return each node's parent; files give it from above (``children``) or from below (``parent``)."""
    parents: dict[int, int] = {}
    for at, node in enumerate(nodes):
        if "parent" in node:
            parents[_id(node, at)] = whole(node["parent"], f"node {at}, parent")
        for child in listed(node.get("children", []), f"node {at}, children"):
            parents[whole(child, f"node {at}, children")] = _id(node, at)
    return parents


def _names(gather: Gather, profiles: Sequence[V8Nodes]) -> dict[SourceFunction, str]:
    """Name the functions of all profiles together; V8 says where each begins."""
    return gather.names_of((_place(node, at) for nodes in profiles for at, node in enumerate(nodes)), begins=True)


def _coded(
    nodes: V8Nodes, names: Mapping[SourceFunction, str], gather: Gather
) -> dict[Key, tuple[int | None, Key | None]]:
    parents = _parents(nodes)
    tree: dict[Key, tuple[int | None, Key | None]] = {}
    for at, node in enumerate(nodes):
        key, place = _id(node, at), _place(node, at)
        if key in tree:
            raise BadProfile(f"Two nodes have the id {key}", where=f"node {at}")
        code = None if place.name == ROOT else gather.code(names[place], hint=HINTS.get(place.name, ""))
        tree[key] = code, parents.get(key)
    return tree


def _place(node: Mapping[str, Any], at: int) -> SourceFunction:
    frame = mapped(node.get("callFrame", node), f"node {at}, callFrame")
    name = fields.words(frame.get("functionName", ""), f"node {at}, functionName")
    line, column = (one + 1 if isinstance(one := frame.get(key), int) else 0 for key in ("lineNumber", "columnNumber"))
    file = frame.get("url")
    return SourceFunction(name, file if isinstance(file, str) else "", max(line, 0), max(column, 0))


class _SampledNodes(NamedTuple):
    """How often each node was sampled; for how many nanoseconds, and when, if times are known."""

    hits: dict[Key, int]
    lasted: dict[Key, int]
    window: Window = (0, 0)


def _seen(nodes: Sequence[Mapping[str, Any]], file: Mapping[str, Any], *, known: Mapping[Key, object]) -> _SampledNodes:
    sampled = listed(file.get("samples", []), "samples")
    if not sampled:
        counts = ((node, f"node {at}, hitCount", _id(node, at)) for at, node in enumerate(nodes))
        return _SampledNodes({key: whole(node.get("hitCount", 0), where) for node, where, key in counts}, {})
    keys = list(known)
    codes = _codes(sampled, {key: code for code, key in enumerate(keys)})
    hits = dict(zip(keys, np.bincount(codes, minlength=len(keys)).tolist(), strict=True))
    times = _times(file)
    if not len(times):
        return _SampledNodes(hits, {})
    if len(times) != len(sampled):
        raise BadProfile(f"There are {len(sampled)} samples and {len(times)} times of them", where="samples")
    end = max(_bounded(scaled(file.get("endTime", 0), "endTime", times=MICROSECOND)), int(times.max()))
    lasted = np.zeros(len(keys), dtype=np.int64)
    np.add.at(lasted, codes, _until_next(times, end=end))
    return _SampledNodes(hits, dict(zip(keys, lasted.tolist(), strict=True)), (int(times.min()), end))


def _until_next(times: Ints, *, end: int) -> Ints:
    """Return the time from each sample to the next one, and from the last to the end."""
    passed = np.empty_like(times)
    if (times[1:] < times[:-1]).any():  # V8 samples several threads and may write the samples out of order
        order = np.argsort(times, kind="stable")
        passed[order[:-1]] = times[order[1:]]
        passed[order[-1]] = end
        passed -= times
    else:
        np.subtract(times[1:], times[:-1], out=passed[:-1])
        passed[-1] = end - times[-1]
    return passed


def _codes(sampled: Sequence[Any], codes: Mapping[Key, int]) -> Codes:
    """Return the index of each sample's node. Raises ``BadProfile`` for one that does not exist."""

    def code(at: int, node: Any) -> int:
        key = whole(node, f"samples[{at}]")
        if key not in codes:
            raise BadProfile(f"Node {key} does not exist", where=f"samples[{at}]")
        return codes[key]

    return np.fromiter((code(at, node) for at, node in enumerate(sampled)), dtype=np.int32, count=len(sampled))


def _times(file: Mapping[str, Any]) -> Ints:
    """Return when each sample was taken, in nanoseconds, if the file says so."""
    if "timeDeltas" not in file:
        said = listed(file.get("timestamps", []), "timestamps")
        times = (_bounded(scaled(at, "timestamps", times=MICROSECOND)) for at in said)
    else:
        said = listed(file["timeDeltas"], "timeDeltas")
        deltas = (scaled(delta, f"timeDeltas[{at}]", times=MICROSECOND) for at, delta in enumerate(said))
        begun = scaled(file.get("startTime", 0), "startTime", times=MICROSECOND)
        times = (_bounded(begun + passed) for passed in accumulate(deltas))
    return np.fromiter(times, dtype=np.int64, count=len(said))


def _bounded(time: int) -> int:
    """Return a time whose difference from any other fits in 64 bits."""
    if abs(time) >= FARTHEST:
        raise BadProfile("A time doesn't fit in 62 bits", where="its times")
    return time
