"""OpenTelemetry's profiles: an export request or stored data, in protobuf or in its JSON form.

Source: opentelemetry-proto, ``profiles/v1development``, in the layout where one dictionary holds what all profiles
point to, and index 0 of each of its tables stands for nothing.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from evidence.formats import HEAD, Buffer
from evidence.formats.base import fields, units, unsupported
from evidence.formats.base.gather import Gather
from evidence.formats.otlp import otlp_dictionary
from evidence.formats.otlp.otlp_dictionary import Dictionary
from evidence.profile.errors import BadProfile, NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NAME = "otlp"
# What tells one process from another, on samples or on their resource, the most telling first.
PROCESS = ("process.executable.name", "process.command", "service.name")
LABELS = 100
TITLES = ("resourceProfiles", "resource_profiles", "stringTable", "locationTable")


def looks_like(head: bytes) -> bool:
    """Tell the JSON by its first word, and protobuf by fields nested as no pprof nests them."""
    if unsupported.kind(head) == "json":
        return any(f'"{title}"'.encode() in head for title in TITLES)
    inner = _inner(head)
    if head[:1] == b"\x0a":
        return inner[:1] in (b"\x0a", b"\x12", b"\x1a")
    return head[:1] == b"\x12" and inner[:2] == b"\x0a\0"


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read all profiles of all resources; those that count the same are one sample type.

    Where there are several processes, each is the root frame of its stacks. Raises ``BadProfile`` naming profile and
    sample, ``TooMuch``, and ``NotRecognised`` for data without profiles.
    """
    message = _message(data)
    dictionary = Dictionary(message.dictionary)
    profiles = list(_profiles(message, dictionary))
    if not profiles:
        raise NotRecognised("This OTLP file has no profiles.")
    if not any(profile.samples for profile, _, _ in profiles):
        return _original(profiles, limits)
    kinds = [_kind(profile.sample_type, dictionary, f"{where}.sample_type") for profile, _, where in profiles]
    types = list(dict.fromkeys(kind for kind, _ in kinds))
    gather = Gather(types, limits=limits)
    codes = otlp_dictionary.Codes(dictionary, gather)
    labels = _Labels(len(types))
    for (profile, resource, where), (kind, times) in zip(profiles, kinds, strict=True):
        for sample, value, attributes, here in _samples(profile, dictionary, times=times, where=where):
            values = [value if kind == one else 0 for one in types]
            described = {**resource, **attributes}
            process = next((described[key] for key in PROCESS if key in described), "")
            labels.add(attributes, values)
            codes.add(sample.stack_index, process, values, where=here)
    codes.pour()
    return gather.stacks(NAME, default_type=_default(types), about=_about(profiles, labels, dictionary))


def _message(data: Buffer) -> Any:
    from google.protobuf import json_format
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData

    message = ProfilesData()
    if unsupported.kind(data[:HEAD]) == "json":
        try:
            return json_format.ParseDict(fields.parse(data), message, ignore_unknown_fields=True)
        except (json_format.Error, AttributeError, TypeError, ValueError, SystemError) as error:
            # The last of them is what protobuf's C code raises for half a character in a key.
            raise BadProfile(f"The JSON isn't OTLP profiles: {str(error)[:200]}") from error
    try:
        message.ParseFromString(data[:])
    except DecodeError as error:
        raise BadProfile("The protobuf is malformed or truncated") from error
    return message


def _profiles(message: Any, dictionary: Dictionary) -> Iterator[tuple[Any, dict[str, str], str]]:
    """Yield each profile with the attributes of its resource, and where it stands."""
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
    """Yield each sample with what it counts: the sum of its values, or one for each of its times."""
    for at, sample in enumerate(profile.samples):
        here = f"{where}.samples[{at}]"
        value = sum(sample.values) * times if sample.values else len(sample.timestamps_unix_nano) * times
        yield sample, value, dictionary.attributes(sample.attribute_indices, here), here


def _default(types: Sequence[SampleType]) -> int:
    return next((at for at, kind in enumerate(types) if kind == SampleType("cpu", "nanoseconds")), 0)


class _Labels:
    """What each value of each attribute of samples counts."""

    def __init__(self, types: int) -> None:
        self.counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0] * types))

    def add(self, attributes: Mapping[str, str], values: Sequence[int]) -> None:
        for key, said in attributes.items():
            if len(self.counts) < LABELS or key in self.counts:
                known = self.counts[key]
                if len(known) < LABELS or said in known:
                    known[said] = [sum(pair) for pair in zip(known[said], values, strict=True)]


def _about(
    profiles: Sequence[tuple[Any, dict[str, str], str]], labels: _Labels, dictionary: Dictionary
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
    about["duration_ns"] = max(profile.duration_nano for profile, _, _ in profiles)
    periods = [(profile.period_type, profile.period) for profile, _, _ in profiles if profile.period]
    if periods:
        kind, _ = _kind(periods[0][0], dictionary, "period_type")
        about["period"] = [kind.name, kind.unit, periods[0][1]]
    return about


def _original(profiles: Sequence[tuple[Any, dict[str, str], str]], limits: Limits) -> Stacks:
    """Read the profile in another format that a sender may wrap instead of samples."""
    from evidence import formats
    from evidence.formats.base import unpack

    wrapped = next((profile.original_payload for profile, _, _ in profiles if profile.original_payload), b"")
    with tempfile.NamedTemporaryFile() as file:
        file.write(wrapped)
        file.flush()
        data = unpack.unpacked(Path(file.name), limits=limits) if wrapped else b""
    module = formats.sniff(data[: formats.HEAD]) if wrapped else None
    if module is None or module.NAME == NAME:
        raise NotRecognised("This OTLP file has no samples.")
    return module.read(data, limits=limits)


def _inner(head: bytes) -> bytes:
    """Return what the first field holds, which begins after its tag and its length."""
    return head[1:12].lstrip(bytes(range(0x80, 0x100)))[1:]
