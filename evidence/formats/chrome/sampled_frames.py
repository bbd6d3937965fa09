"""Samples of a trace that point into a tree of frames: Hermes' format, and old Chrome's ``stackFrames``.

Source: *Trace Event Format* (Chromium), *Global Samples*; Hermes' ``ChromeTraceSerializer``. Times are microseconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from evidence.formats.base import branches
from evidence.formats.base.branches import Key
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text.fields import listed, mapped, scaled
from evidence.profile.errors import BadProfile
from evidence.profile.limits import Limits
from evidence.profile.stacks import Stacks

MICROSECOND = 1_000
HINTS = {"native": "native", "meta": "", "(idle)": "idle"}


def are_in(content: Any) -> bool:
    """Return whether a trace has samples and the frames that they point to."""
    return isinstance(content, dict) and bool(content.get("samples")) and bool(content.get("stackFrames"))


def read(content: Mapping[str, Any], *, limits: Limits, name: str) -> Stacks:
    """Read how often each frame was sampled, and how long until the next sample of its thread.

    Raises ``BadProfile`` for malformed content.
    """
    from evidence.formats.chrome import v8

    gather = Gather(v8.TIMED, limits=limits)
    nodes: dict[Key, tuple[int | None, Key | None]] = {}
    for key, frame in mapped(content["stackFrames"], "stackFrames").items():
        one = mapped(frame, f"stackFrames[{key!r:.40}]")
        title, parent = str(one.get("name") or ""), one.get("parent")
        code = None if title in {"", "[root]"} else gather.code(title, hint=HINTS.get(str(one.get("category")), ""))
        nodes[key] = code, None if parent is None else str(parent)
    hits, lasted, window = _seen(content)
    branches.grow(gather, nodes, {key: (hits[key], lasted[key]) for key in hits})
    return v8.timed(gather, name, window)


def _seen(content: Mapping[str, Any]) -> tuple[Counter[Key], Counter[Key], tuple[int, int]]:
    """Return how often each frame occurred, for how many nanoseconds, and the first and last sample's time."""
    threads: dict[str, list[tuple[int, str]]] = defaultdict(list)
    hits: Counter[Key] = Counter()
    for at, sample in enumerate(listed(content["samples"], "samples")):
        one = mapped(sample, f"samples[{at}]")
        frame = str(one.get("sf"))
        hits[frame] += 1
        threads[str(one.get("tid"))].append((_time(one.get("ts", 0), f"samples[{at}].ts"), frame))
    lasted: Counter[Key] = Counter()
    for samples in threads.values():
        samples.sort()
        for (begun, frame), (ended, _) in pairwise(samples):
            lasted[frame] += ended - begun
    times = [at for samples in threads.values() for at, _ in samples]
    return hits, lasted, (min(times), max(times))


def _time(said: Any, where: str) -> int:
    """Return a time in nanoseconds; Hermes writes it in quotes."""
    if isinstance(said, str):
        if not said.replace(".", "", 1).isdecimal() or len(said) > 20:
            raise BadProfile(f"{said!r:.40} isn't a time", where=where)
        said = float(said) if "." in said else int(said)
    return scaled(said, where, times=MICROSECOND)
