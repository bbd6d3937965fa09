import gzip
import json
from typing import Any

import pytest
import zstandard
from google.protobuf import json_format
from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData

from evidence import formats
from evidence.analysis import pair_guards
from evidence.exports import exports
from evidence.formats.otlp import otlp
from evidence.formats.pprof import pprof
from evidence.profile.errors import BadProfile, NotRecognised
from evidence.profile.stacks import SampleType, Stacks
from evidence.tree import calltree
from stack.outside.collector import marshalled

STRINGS = (
    "", "samples", "count", "cpu", "nanoseconds", "main", "work", "inner", "vmlinux", "profile.frame.type", "kernel",
    "thread.name", "io-1", "process.executable.name", "api",
)  # fmt: skip


def written() -> ProfilesData:
    """A profile with two stacks: main;work;inner, where inner is inlined, and main;[vmlinux] in the kernel."""
    data = ProfilesData()
    tables = data.dictionary
    tables.string_table.extend(STRINGS)
    tables.mapping_table.add()
    tables.mapping_table.add(filename_strindex=8)
    tables.function_table.add()
    for name in (5, 6, 7):
        tables.function_table.add(name_strindex=name)
    for key, value in ((0, ""), (9, "kernel"), (11, "io-1"), (13, "api")):
        tables.attribute_table.add(key_strindex=key).value.string_value = value
    tables.location_table.add()
    tables.location_table.add().lines.add(function_index=1)
    both = tables.location_table.add()
    both.lines.add(function_index=3)
    both.lines.add(function_index=2)
    tables.location_table.add(mapping_index=1, address=4096, attribute_indices=[1])
    tables.stack_table.add()
    tables.stack_table.add(location_indices=[2, 1])
    tables.stack_table.add(location_indices=[3, 1])
    resource = data.resource_profiles.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "checkout-api"
    profile = resource.scope_profiles.add().profiles.add(duration_nano=10**9)
    profile.sample_type.type_strindex, profile.sample_type.unit_strindex = 1, 2
    profile.samples.add(stack_index=1, values=[3], attribute_indices=[2])
    profile.samples.add(stack_index=2, timestamps_unix_nano=[5, 6])
    profile.samples.add(stack_index=1, values=[1, 1], timestamps_unix_nano=[5, 6])
    return data


def read(data: ProfilesData) -> Stacks:
    return otlp.read(data.SerializeToString())


def functions(stacks: Stacks) -> dict[str, tuple[int, int]]:
    tree = calltree.build(stacks)
    own, total = tree.self_[tree.default_type].tolist(), tree.function_totals[tree.default_type].tolist()
    return dict(zip(tree.names, zip(own, total, strict=True), strict=True))


def test_stacks_of_the_dictionary_are_read_with_inlined_and_kernel_frames() -> None:
    stacks = read(written())
    assert stacks.sample_types == (SampleType("samples", "samples"),)
    assert functions(stacks) == {"main": (0, 7), "work": (0, 5), "inner": (5, 5), "[vmlinux]": (2, 2)}
    hints = dict(zip(stacks.names, stacks.hints, strict=True))
    assert hints == {"main": "", "work": "", "inner": "inlined", "[vmlinux]": "kernel"}
    assert stacks.about["service"] == "checkout-api"
    assert stacks.about["labels"] == {"thread.name": {"io-1": [3]}}


def every(unit: int, value: int) -> ProfilesData:
    """The profile, with one sample per this many of a unit."""
    data = written()
    profile = data.resource_profiles[0].scope_profiles[0].profiles[0]
    profile.period_type.type_strindex, profile.period_type.unit_strindex, profile.period = 3, unit, value
    return data


def test_what_a_sample_stands_for_is_told_as_by_pprof_so_that_it_can_be_compared_and_downloaded() -> None:
    data = every(4, 10_000_000)
    often, seldom = read(data), read(every(4, 50_000_000))
    assert often.about["period"] == {"name": "cpu", "unit": "nanoseconds", "value": 10_000_000}
    assert pprof.read(gzip.decompress(exports.pprof(often))).about["period"] == often.about["period"]
    trees = [calltree.build(one) for one in (often, seldom)]
    assert [*pair_guards.recorded(*trees, types=(0, 0))] == [
        "A sample stands for 10.0 ms before and for 50.0 ms after: counts of them can't be compared."
    ]
    data.dictionary.string_table.append("milliseconds")
    another = data.resource_profiles[0].scope_profiles.add().profiles.add()
    another.CopyFrom(data.resource_profiles[0].scope_profiles[0].profiles[0])
    another.period_type.unit_strindex, another.period = len(data.dictionary.string_table) - 1, 10
    assert read(data).about["period"] == often.about["period"]
    another.period = 11
    assert "period" not in read(data).about


@pytest.mark.parametrize(
    ("windows", "lasted"),
    [
        ([(0, 5), (5, 5), (10, 5)], 15),  # an agent that sends every few seconds
        ([(0, 5), (0, 5)], 5),  # two processes at the same time
        ([(100, 5), (0, 60), (50, 20)], 75),
        ([(0, 0), (7, 0)], 0),
    ],
)
def test_profiles_that_follow_each_other_were_recorded_for_all_of_their_time(
    windows: list[tuple[int, int]], lasted: int
) -> None:
    data = written()
    profiles = data.resource_profiles[0].scope_profiles[0].profiles
    for begin, seconds in windows:
        profiles.add().CopyFrom(profiles[0])
        profiles[-1].time_unix_nano, profiles[-1].duration_nano = 10**18 + begin * 10**9, seconds * 10**9
    del profiles[0]
    assert read(data).about["duration_ns"] == lasted * 10**9


def test_json_says_the_same_as_protobuf() -> None:
    data = json.dumps(json_format.MessageToDict(written())).encode()
    told = formats.sniff(data)
    assert told
    assert told.NAME == "otlp"
    assert functions(otlp.read(data)) == functions(read(written()))


def test_profiles_that_count_something_else_are_another_sample_type() -> None:
    data = written()
    other = data.resource_profiles[0].scope_profiles[0].profiles.add()
    other.sample_type.type_strindex, other.sample_type.unit_strindex = 3, 4
    other.samples.add(stack_index=1, values=[70])
    stacks = read(data)
    assert stacks.sample_types == (SampleType("samples", "samples"), SampleType("cpu", "nanoseconds"))
    assert stacks.totals == [7, 70]
    assert stacks.default_type == 1


def test_what_stands_is_not_told_as_added_up_without_a_caution() -> None:
    def taken(*times: int) -> Stacks:
        data = written()
        data.dictionary.string_table.append("inuse_space")
        for time in times:
            profile = data.resource_profiles[0].scope_profiles[0].profiles.add(time_unix_nano=time)
            profile.sample_type.type_strindex = len(data.dictionary.string_table) - 1
            profile.samples.add(stack_index=1, values=[70])
        return read(data)

    assert "inuse_space was taken 2 times" in taken(5, 9).about["caution"]
    assert "caution" not in taken(5).about
    assert "caution" not in taken(5, 5).about


def test_several_processes_are_each_the_root_of_their_stacks() -> None:
    data = written()
    data.resource_profiles[0].scope_profiles[0].profiles[0].samples.add(
        stack_index=1, values=[4], attribute_indices=[3]
    )
    assert functions(read(data))["api"] == (0, 4)
    assert functions(read(data))["checkout-api"] == (0, 7)


def test_a_wrapped_original_is_read_where_there_are_no_samples() -> None:
    data = written()
    profile = data.resource_profiles[0].scope_profiles[0].profiles[0]
    profile.ClearField("samples")
    profile.original_payload = gzip.compress(b"main;work 3\n")
    assert functions(read(data)) == {"main": (0, 3), "work": (3, 3)}
    profile.original_payload = data.SerializeToString()
    with pytest.raises(NotRecognised, match="no samples"):
        read(data)


def test_several_wrapped_originals_are_all_read_or_told() -> None:
    data = written()
    profiles = [profile for one in data.resource_profiles for scope in one.scope_profiles for profile in scope.profiles]
    scope = data.resource_profiles[0].scope_profiles[0]
    samples = sum(len(profile.samples) for profile in profiles)
    scope.profiles.add(original_payload=gzip.compress(b"main;work 3\n"))
    stacks = read(data)
    assert len(stacks) <= samples
    assert (
        stacks.about["caution"] == f"1 of its {len(profiles) + 1} profiles are wrapped in another format and left out."
    )
    for profile in profiles:
        profile.ClearField("samples")
    scope.profiles.add(original_payload=b"main;rest 4\n")
    scope.profiles.add(original_payload=b"main;rest 4\n")  # a repeat, as from senders that retry
    found = functions(read(data))
    assert (found["work"], found["rest"], found["main"]) == ((3, 3), (4, 4), (0, 7))


def larger() -> ProfilesData:
    """The same with a dictionary longer than the head by which formats are recognised."""
    data = written()
    data.dictionary.string_table.extend(f"another.function.of.number.{at}" for at in range(5000))
    return data


@pytest.mark.parametrize("data", [written(), larger()], ids=["small", "large"])
@pytest.mark.parametrize("bare", [False, True], ids=["as it is", "without what stands for nothing"])
def test_fields_are_read_in_any_order(data: ProfilesData, bare: bool) -> None:
    if bare:
        data.resource_profiles[0].ClearField("resource")
    for content in (marshalled(data), data.SerializeToString()):
        told = formats.sniff(content[: formats.HEAD])
        assert told
        assert told.NAME == "otlp"
        assert functions(otlp.read(content)) == functions(read(data))


def framed(*messages: bytes) -> bytes:
    return b"".join(len(one).to_bytes(4, "big") + one for one in messages)


@pytest.mark.parametrize("kind", ["protobuf", "backwards", "zstd", "lines"])
def test_messages_that_the_file_exporter_appends_add_up(kind: str) -> None:
    once = functions(read(written()))
    packed = zstandard.ZstdCompressor().compress(marshalled(written()))
    line = json.dumps(json_format.MessageToDict(written())).encode() + b"\n"
    content = {
        "protobuf": framed(written().SerializeToString(), marshalled(written())),
        "backwards": framed(*[marshalled(written())] * 2),
        "zstd": framed(packed, packed),
        "lines": line * 2,
    }[kind]
    told = formats.sniff(content[: formats.HEAD])
    assert told
    assert told.NAME == "otlp"
    assert functions(otlp.read(content)) == {name: (own * 2, total * 2) for name, (own, total) in once.items()}


def test_a_file_that_ends_within_a_message_says_where() -> None:
    content = framed(marshalled(written())) * 2
    with pytest.raises(BadProfile, match="ends within a message") as error:
        otlp.read(content[:-3])
    assert error.value.where == f"byte {len(content) // 2}"


def broken(change: str) -> ProfilesData:
    data = written()
    tables = data.dictionary
    sample = data.resource_profiles[0].scope_profiles[0].profiles[0].samples[1]
    changes: dict[str, Any] = {
        "stack": lambda: setattr(sample, "stack_index", 9),
        "negative stack": lambda: setattr(sample, "stack_index", -1),
        "location": lambda: tables.stack_table[2].location_indices.append(9),
        "function": lambda: setattr(tables.location_table[1].lines[0], "function_index", 9),
        "string": lambda: setattr(tables.function_table[1], "name_strindex", 99),
        "mapping": lambda: setattr(tables.location_table[3], "mapping_index", 9),
        "attribute": lambda: sample.attribute_indices.append(9),
        "negative value": lambda: sample.values.extend([-1, -1]),
        "63 bits": lambda: sample.values.extend([(1 << 63) - 1, 5]),
        "older layout": lambda: tables.ClearField("stack_table"),
    }
    changes[change]()
    return data


@pytest.mark.parametrize(
    "change", ["stack", "negative stack", "location", "function", "string", "mapping", "attribute", "negative value",
               "63 bits", "older layout"],
)  # fmt: skip
def test_an_index_that_points_nowhere_is_named(change: str) -> None:
    with pytest.raises(BadProfile, match=f"(?i){change.rsplit(maxsplit=1)[-1]}") as error:
        read(broken(change))
    assert "resource_profiles[0].scope_profiles[0].profiles[0].samples[" in error.value.where


@pytest.mark.parametrize("data", [written().SerializeToString()[:-5], b'{"resourceProfiles": [{"scopeProfiles": 3}]}'])
def test_broken_data_is_a_clear_error(data: bytes) -> None:
    with pytest.raises(BadProfile, match=r"truncated|isn't OTLP profiles"):
        otlp.read(data)


def test_protobuf_of_otlp_and_of_pprof_are_told_apart() -> None:
    told = formats.sniff(written().SerializeToString())
    assert told
    assert told.NAME == "otlp"
    assert not otlp.claim(b"\x0a\x04\x08\x01\x10\x02\x12\x04\x0a\x02\x01\x02")
