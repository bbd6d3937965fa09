"""OpenTelemetry's profiles: export requests or stored data, one or several, in protobuf or in their JSON form.

Source: opentelemetry-proto, ``profiles/v1development``, in the layout where one dictionary holds what all profiles
refer to, and index 0 of each of its tables means nothing. Fields come in any order: the Go Collector writes the
dictionary first.
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from evidence.formats import Buffer
from evidence.formats.base import units
from evidence.formats.base.gather import Gather
from evidence.formats.base.json_text import outline
from evidence.formats.base.unpacking import unsupported
from evidence.formats.otlp import messages, otlp_dictionary
from evidence.formats.otlp.otlp_dictionary import Dictionary
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

# Sample types that are a snapshot, not a sum over time.
STANDING = re.compile(r"inuse|in_use|live|goroutine|thread")
NAME = "otlp"
# What distinguishes processes, on samples or on their resource, most specific first.
PROCESS = ("process.executable.name", "process.command", "service.name")
LABELS = 100
TITLES = ("resourceProfiles", "resource_profiles")
NO_SAMPLES = "This OTLP file has no samples."


def claim(head: bytes) -> Claim | None:
    """Recognise the JSON by its first words, protobuf by the fields of its nested messages."""
    if unsupported.kind(head) == "json":
        found = outline.of(head)
        named = next((title for title in TITLES if title in found), "")
        return Claim(Certainty.SURE, f"its top holds {named}") if named else None
    if not messages.begins(head):
        return None
    return Claim(Certainty.SURE, "its fields are those of profiles and their dictionary")


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read all profiles of all resources; those that count the same share a sample type.

    If there are several processes, each is the root frame of its stacks. Raises ``BadProfile`` naming profile and
    sample, ``TooMuch``, and ``NotRecognised`` for data without profiles.
    """
    files = [_OneFile(message, Dictionary(message.dictionary)) for message in messages.of(data, limits=limits)]
    found = [(file, *one) for file in files for one in _profiles(file.message, file.dictionary)]
    if not found:
        raise NotRecognised("This OTLP file has no profiles.")
    profiles = [(profile, resource, where) for _, profile, resource, where in found]
    if not any(profile.samples for profile, _, _ in profiles):
        return _original(profiles, limits)
    kinds = [_kind(profile.sample_type, file.dictionary, f"{where}.sample_type") for file, profile, _, where in found]
    types = list(dict.fromkeys(kind for kind, _ in kinds))
    gather = Gather(types, limits=limits)
    codes = {id(file): otlp_dictionary.Codes(file.dictionary, gather) for file in files}
    labels = _Labels(len(types))
    for (file, profile, resource, where), (kind, times) in zip(found, kinds, strict=True):
        for sample, value, attributes, here in _samples(profile, file.dictionary, times=times, where=where):
            values = [value if kind == one else 0 for one in types]
            described = {**resource, **attributes}
            process = next((described[key] for key in PROCESS if key in described), "")
            labels.add(attributes, values)
            codes[id(file)].add(sample.stack_index, process, values, where=here)
    several = len({process for each in codes.values() for process in each.processes}) > 1
    for each in codes.values():
        each.pour(several=several)
    periods = [_period(profile, file.dictionary, where) for file, profile, _, where in found if profile.period]
    cautions = [_added_up(profiles, [kind for kind, _ in kinds]), _left_out(profiles)]
    about = _about(profiles, labels, periods) | ({"caution": " ".join(filter(None, cautions))} if any(cautions) else {})
    return gather.stacks(NAME, default_type=_default(types), about=about)


class _OneFile(NamedTuple):
    """One message and its own dictionary."""

    message: Any
    dictionary: Dictionary


def _profiles(message: Any, dictionary: Dictionary) -> Iterator[tuple[Any, dict[str, str], str]]:
    """Yield each profile with the attributes of its resource, and its position."""
    for at, resource in enumerate(message.resource_profiles):
        described = dictionary.described(resource.resource.attributes, f"resource_profiles[{at}]")
        for within, scope in enumerate(resource.scope_profiles):
            for number, profile in enumerate(scope.profiles):
                yield profile, described, f"resource_profiles[{at}].scope_profiles[{within}].profiles[{number}]"


def _kind(value_type: Any, dictionary: Dictionary, where: str) -> tuple[SampleType, int]:
    name = dictionary.text(value_type.type_strindex, where) or "samples"
    unit = dictionary.text(value_type.unit_strindex, where)
    times, word = units.ours(unit)
    if word == "events":
        word = "samples" if name in {"samples", "sample", "cpu", "events"} else "objects"
    return SampleType(name, word), times


def _samples(
    profile: Any, dictionary: Dictionary, *, times: int, where: str
) -> Iterator[tuple[Any, int, dict[str, str], str]]:
    """Yield each sample with what it counts: the sum of its values, or one for each of its timestamps."""
    for at, sample in enumerate(profile.samples):
        here = f"{where}.samples[{at}]"
        value = sum(sample.values) * times if sample.values else len(sample.timestamps_unix_nano) * times
        yield sample, value, dictionary.attributes(sample.attribute_indices, here), here


def _added_up(profiles: Sequence[tuple[Any, dict[str, str], str]], kinds: Sequence[SampleType]) -> str:
    """Warn that a snapshot, which is not a sum over time, was taken several times."""
    times: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for (profile, resource, _), kind in zip(profiles, kinds, strict=True):
        if STANDING.match(kind.name):
            times[kind.name, *sorted(resource.items())].add(profile.time_unix_nano)
    name, taken = max(((key[0], len(found)) for key, found in times.items()), key=lambda one: one[1], default=("", 0))
    if taken < 2:
        return ""
    return f"{name} was taken {taken} times of one process and is added up: shares hold, totals don't."


def _left_out(profiles: Sequence[tuple[Any, dict[str, str], str]]) -> str:
    """Warn that profiles wrapped in another format are not read if others have samples."""
    count = sum(bool(profile.original_payload) and not profile.samples for profile, _, _ in profiles)
    return f"{count} of its {len(profiles)} profiles are wrapped in another format and left out." if count else ""


def _default(types: Sequence[SampleType]) -> int:
    return next((at for at, kind in enumerate(types) if kind == SampleType("cpu", "nanoseconds")), 0)


class _Labels:
    """What each value of each sample attribute counts."""

    def __init__(self, types: int) -> None:
        self.counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0] * types))

    def add(self, attributes: Mapping[str, str], values: Sequence[int]) -> None:
        for key, said in attributes.items():
            if len(self.counts) < LABELS or key in self.counts:
                known = self.counts[key]
                if len(known) < LABELS or said in known:
                    known[said] = [sum(pair) for pair in zip(known[said], values, strict=True)]


def _about(
    profiles: Sequence[tuple[Any, dict[str, str], str]], labels: _Labels, periods: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    resources: dict[str, str] = {}
    for _, resource, _ in profiles:
        resources |= resource
    about: dict[str, Any] = {"attributes": dict(islice(sorted(resources.items()), LABELS))}
    services = sorted({resource["service.name"] for _, resource, _ in profiles if "service.name" in resource})
    if services:
        about["service"] = ", ".join(services[:10])
    if labels.counts:
        about["labels"] = {key: dict(counts) for key, counts in labels.counts.items()}
    about["duration_ns"] = _recorded((profile.time_unix_nano, profile.duration_nano) for profile, _, _ in profiles)
    if periods and all(one == periods[0] for one in periods):
        about["period"] = periods[0]
    return about


def _recorded(windows: Iterable[tuple[int, int]]) -> int:
    """Return how many nanoseconds were recorded: consecutive windows add up, overlapping ones do not."""
    lasted = end = 0
    for begin, duration in sorted(windows):
        lasted += max(begin + duration - max(begin, end), 0)
        end = max(end, begin + duration)
    return lasted


def _period(profile: Any, dictionary: Dictionary, where: str) -> dict[str, Any]:
    """Return what a sample stands for, in the form that other formats' readers use."""
    kind, times = _kind(profile.period_type, dictionary, f"{where}.period_type")
    return {"name": kind.name, "unit": kind.unit, "value": times * profile.period}


def _original(profiles: Sequence[tuple[Any, dict[str, str], str]], limits: Limits) -> Stacks:
    """Read the profiles that senders wrap in another format instead of samples, joined if there are several."""
    from evidence.formats.base.joined import joined

    wrapped: dict[bytes, str] = {}
    for number, (profile, resource, _) in enumerate(profiles, 1):
        if profile.original_payload:
            process = next((resource[key] for key in PROCESS if key in resource), f"profile {number}")
            wrapped.setdefault(profile.original_payload, process)
    found = [(process, _unwrapped(payload, limits)) for payload, process in wrapped.items()]
    if not found:
        raise NotRecognised(NO_SAMPLES)
    return found[0][1] if len(found) == 1 else joined(found, limits=limits)


def _unwrapped(payload: bytes, limits: Limits) -> Stacks:
    from evidence import formats
    from evidence.formats.base.unpacking import unpack

    with tempfile.NamedTemporaryFile() as file:
        file.write(payload)
        file.flush()
        data = unpack.unpacked(Path(file.name), limits=limits)
    module = formats.sniff(data[: formats.HEAD])
    if module is None or module.NAME == NAME:
        raise NotRecognised(NO_SAMPLES)
    return module.read(data, limits=limits)
