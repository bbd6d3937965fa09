"""Chrome's trace events: an array of them, or an object that holds one; with CPU samples of V8, or with spans.

Source: *Trace Event Format* (Chromium) and the ``Profile``/``ProfileChunk`` events of the
``disabled-by-default-v8.cpu_profiler`` category. If a trace has both, CPU samples are used and spans are not, because
spans would count that time twice.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evidence.formats import Buffer
from evidence.formats.base import held
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text import fields, outline, streamed
from evidence.formats.base.json_text.fields import listed, mapped
from evidence.formats.chrome import sampled_frames, spans, v8
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, MIB, Limits
from evidence.profile.stacks import Stacks

NAME = "chrome"
Event = Mapping[str, Any]
IN_TIME = ("samples", "timeDeltas")  # what the pieces of a profile contain, to be concatenated
# Files larger than this are read event by event, which takes less memory and more time.
LARGE = 32 * MIB


def claim(head: bytes) -> Claim | None:
    """Recognise the events, on their own or in their container."""
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
    rest: dict[str, Any] = {}
    profiles = JoinedProfiles()
    spanned = spans.SpanReader()
    for place, found in enumerate(_events(data, rest, limits)):
        event = mapped(found, f"event {place}")
        profiles.add(place, event)
        if profiles.found:
            spanned.forget()
        else:
            spanned.add(place, event)
    if sampled_frames.are_in(rest):
        return sampled_frames.read(rest, limits=limits, name=NAME)
    if not profiles.found:
        return spanned.read(limits=limits, name=NAME)
    gather = Gather(v8.TIMED, limits=limits)
    window = v8.add_cpu(gather, [(v8.nodes_of(profile), profile) for profile in profiles.ordered()])
    return v8.timed(gather, NAME, window)


def _events(data: Buffer, rest: dict[str, Any], limits: Limits) -> Iterator[Any]:
    """Yield each event; the rest of the file is in ``rest`` afterwards. A large file is never held at once."""
    if len(data) > LARGE:
        yield from streamed.elements(data, "traceEvents", rest=rest)
        found = rest.get("traceEvents", [])
    else:
        content = _parsed(data, limits)
        if not isinstance(content, list):
            rest.update(mapped(content, "the file"))
        found = content if isinstance(content, list) else rest.pop("traceEvents", None)
        found = [] if found is None and sampled_frames.are_in(rest) else found
    yield from listed(found, "traceEvents")


def _parsed(data: Buffer, limits: Limits) -> Any:
    """Parse the file; an array of events may lack its end, because programs that crash leave it off."""
    try:
        return fields.parse(data, limits=limits)
    except BadProfile:
        if data[:64].lstrip()[:1] != b"[" or data[-64:].rstrip().endswith(b"]"):
            raise
        return fields.parse(held.at_once(data, limits=limits).rstrip().removesuffix(b",") + b"]", limits=limits)


class Piece(NamedTuple):
    """An event that brought a piece of a profile: its time, and how much of each list had come before it."""

    at: float
    begins: tuple[int, ...]


class JoinedProfiles:
    """The CPU profiles of a trace, one per thread, each joined from its chunks."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Any]] = {}  # those that have nodes
        self._begun: dict[str, dict[str, Any]] = {}
        self._frames: dict[tuple[Any, ...], Any] = {}
        self._pieces: dict[str, list[Piece]] = {}

    def ordered(self) -> Iterator[dict[str, Any]]:
        """Yield the profiles with their samples in order of time: a file may hold events in any order."""
        for key, profile in self.found.items():
            pieces = self._pieces[key]
            began = [piece.at for piece in pieces]
            if began != sorted(began):
                _put_in_order(profile, pieces)
            yield profile

    def add(self, place: int, event: Event) -> None:
        """Take an event that may be a piece of a profile. Raises ``BadProfile`` naming it."""
        if event.get("name") not in ("Profile", "ProfileChunk", "CpuProfile"):
            return
        where = f"event {place}, args"
        # Chrome writes some empty ones.
        data = mapped(mapped(event.get("args", {}), where).get("data", {}), f"{where}.data")
        key = f"{event.get('pid')} {event.get('id')}"
        profile = self._begun.setdefault(key, {"nodes": [], "samples": array("q"), "timeDeltas": array("q")})
        at = event.get("ts")
        begins = tuple(len(profile[name]) for name in IN_TIME)
        pieces = self._pieces.setdefault(key, [])
        at = at if isinstance(at, int | float) else pieces[-1].at if pieces else 0
        pieces.append(Piece(at, begins))
        self._join(profile, data, f"{where}.data")
        if profile["nodes"]:
            self.found[key] = profile

    def _join(self, profile: dict[str, Any], data: Event, where: str) -> None:
        part = {**mapped(data.get("cpuProfile", {}), f"{where}.cpuProfile")}
        if "timeDeltas" in data:
            part["timeDeltas"] = data["timeDeltas"]
        profile["nodes"] += map(self._slim, listed(part.get("nodes", []), f"{where}, nodes"))
        for key in IN_TIME:
            profile[key] = _joined(profile[key], listed(part.get(key, []), f"{where}, {key}"))
        for key in ("startTime", "endTime"):
            if key in data or key in part:
                profile[key] = data.get(key, part.get(key))

    def _slim(self, node: Any) -> Any:
        """Return a node that shares its function object with equal ones."""
        frame = node.get("callFrame") if isinstance(node, dict) else None
        if isinstance(frame, dict):
            known = tuple(frame.get(key) for key in ("functionName", "url", "lineNumber", "columnNumber"))
            if all(isinstance(one, str | int | None) for one in known):
                node["callFrame"] = self._frames.setdefault((*known, *map(type, known)), frame)
        return node


def _put_in_order(profile: dict[str, Any], pieces: Sequence[Piece]) -> None:
    """Put the pieces in the order of their events' times; among equals the first in the file comes first."""
    for place, name in enumerate(IN_TIME):
        numbers = profile[name]
        ends = [*(piece.begins[place] for piece in pieces[1:]), len(numbers)]
        parts = [(piece.at, numbers[piece.begins[place] : end]) for piece, end in zip(pieces, ends, strict=True)]
        profile[name] = []
        for _, part in sorted(parts, key=lambda one: one[0]):
            profile[name].extend(part)


def _joined(numbers: Any, more: Sequence[Any]) -> Any:
    """Concatenate numbers, in an array as long as all are whole, because an array takes a quarter of a list."""
    try:
        numbers.extend(array("q", more) if isinstance(numbers, array) else more)
    except (TypeError, OverflowError):
        return [*numbers, *more]
    return numbers
