"""Chrome's trace events: an array of them, or an object that holds one; with CPU samples of V8, or with spans.

Source: *Trace Event Format* (Chromium) and the ``Profile``/``ProfileChunk`` events of the ``disabled-by-default-
v8.cpu_profiler`` category. CPU samples win over spans where a trace has both, since spans would count that time twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base import fields, held, outline
from evidence.formats.base.fields import listed, mapped
from evidence.formats.base.gather import Gather
from evidence.formats.chrome import sampled_frames, spans, v8
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import Stacks

NAME = "chrome"
Event = Mapping[str, Any]


def claim(head: bytes) -> Claim | None:
    """Tell by the events, alone or in what holds them."""
    found = outline.of(head)
    if (
        "traceEvents" in found
        or found.has("stackFrames", "samples")
        or found.has("[].ph", "[].ts")
        or found.has("[].ph", "[].pid")
    ):
        return Claim(Certainty.SURE, "it has trace events")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read CPU samples, else spans. Raises ``BadProfile`` naming the event; ``TooMuch``."""
    content = _parsed(data, limits)
    if sampled_frames.are_in(content):
        return sampled_frames.read(content, limits=limits, name=NAME)
    found = content if isinstance(content, list) else mapped(content, "the file").get("traceEvents")
    events = [mapped(event, f"event {at}") for at, event in enumerate(listed(found, "traceEvents"))]
    profiles = _profiles(events)
    if not profiles:
        return spans.read(events, limits=limits, name=NAME)
    gather = Gather(v8.CPU, limits=limits)
    for profile in profiles:
        v8.add_cpu(gather, v8.nodes_of(profile), profile)
    return v8.timed(gather, NAME)


def _parsed(data: Buffer, limits: Limits) -> Any:
    """Parse the file; an array of events may lack its end, since programs that crash leave it off."""
    try:
        return fields.parse(data, limits=limits)
    except BadProfile:
        if data[:64].lstrip()[:1] != b"[" or data[-64:].rstrip().endswith(b"]"):
            raise
        return fields.parse(held.at_once(data, limits=limits).rstrip().removesuffix(b",") + b"]", limits=limits)


def _profiles(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Return the CPU profiles of a trace, one a thread, each joined from its chunks."""
    profiles: dict[str, dict[str, Any]] = defaultdict(lambda: {"nodes": [], "samples": [], "timeDeltas": []})
    for at, event in enumerate(events):
        if event.get("name") in ("Profile", "ProfileChunk", "CpuProfile"):
            where = f"event {at}, args"
            # Chrome writes some without anything in them.
            data = mapped(mapped(event.get("args", {}), where).get("data", {}), f"{where}.data")
            _join(profiles[f"{event.get('pid')} {event.get('id')}"], data, f"{where}.data")
    return [profile for profile in profiles.values() if profile["nodes"]]


def _join(profile: dict[str, Any], data: Event, where: str) -> None:
    part = {**mapped(data.get("cpuProfile", {}), f"{where}.cpuProfile")}
    if "timeDeltas" in data:
        part["timeDeltas"] = data["timeDeltas"]
    for key in ("nodes", "samples", "timeDeltas"):
        profile[key] += listed(part.get(key, []), f"{where}, {key}")
    for key in ("startTime", "endTime"):
        if key in data or key in part:
            profile[key] = data.get(key, part.get(key))
