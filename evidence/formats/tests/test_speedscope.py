import json
from dataclasses import replace
from typing import Any

import pytest

from evidence.exports import exports
from evidence.formats.base.gather import Gather
from evidence.formats.speedscope import speedscope
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import DEFAULT
from evidence.profile.stacks import SampleType
from evidence.tree import calltree

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def file(*profiles: dict[str, Any], frames: tuple[Any, ...] = ("main", "work", "wait")) -> bytes:
    shared = {"frames": [frame if isinstance(frame, dict) else {"name": frame} for frame in frames]}
    return json.dumps({"$schema": SCHEMA, "shared": shared, "profiles": profiles}).encode()


def sampled(samples: list[list[Any]], weights: list[Any], *, unit: str = "none", name: str = "a") -> dict[str, Any]:
    return {"type": "sampled", "name": name, "unit": unit, "samples": samples, "weights": weights}


def evented(*events: tuple[str, int, float], unit: str = "milliseconds", name: str = "b") -> dict[str, Any]:
    listed = [{"type": type, "frame": frame, "at": at} for type, frame, at in events]
    return {"type": "evented", "name": name, "unit": unit, "startValue": 0, "events": listed}


def functions(data: bytes) -> dict[str, tuple[int, int]]:
    tree = calltree.build(speedscope.read(data))
    own, total = tree.self_[tree.default_type].tolist(), tree.function_totals[tree.default_type].tolist()
    return dict(zip(tree.names, zip(own, total, strict=True), strict=True))


@pytest.mark.parametrize(
    ("unit", "weight", "ours", "value"),
    [
        ("seconds", 0.01, "nanoseconds", 10_000_000),
        ("milliseconds", 2.5, "nanoseconds", 2_500_000),
        ("microseconds", 3, "nanoseconds", 3_000),
        ("nanoseconds", 7, "nanoseconds", 7),
        ("bytes", 512, "bytes", 512),
        ("none", 4, "events", 4),
    ],
)
def test_weights_become_whole_numbers_of_our_units(unit: str, weight: float, ours: str, value: int) -> None:
    stacks = speedscope.read(file(sampled([[0, 1]], [weight], unit=unit)))
    assert stacks.sample_types[0].unit == ours
    assert stacks.totals == [value]


def test_open_frames_count_the_time_between_events() -> None:
    data = file(evented(("O", 0, 0), ("O", 1, 1), ("C", 1, 3), ("O", 0, 3), ("C", 0, 4), ("C", 0, 4.5)))
    assert functions(data) == {"main": (2_500_000, 4_500_000), "work": (2_000_000, 2_000_000), "wait": (0, 0)}


def test_profiles_of_one_unit_are_merged_and_those_of_others_kept_apart() -> None:
    data = file(
        sampled([[0]], [5], unit="bytes", name="one"),
        sampled([[0, 1]], [7], unit="bytes", name="two"),
        evented(("O", 2, 0), ("C", 2, 1), name="three"),
    )
    stacks = speedscope.read(data)
    assert stacks.sample_types == (SampleType("memory", "bytes"), SampleType("time", "nanoseconds"))
    assert stacks.totals == [12, 1_000_000]
    assert stacks.about["labels"]["profile"] == {"one": [5, 0], "two": [7, 0], "three": [0, 1_000_000]}


def test_what_we_export_comes_back_with_its_sample_types() -> None:
    types = [SampleType("alloc_space", "bytes"), SampleType("inuse_space", "bytes"), SampleType("cpu", "samples")]
    gather = Gather(types, limits=DEFAULT)
    gather.add([gather.code("main"), gather.code("work")], [7, 5, 3], where="here")
    gather.add([gather.code("main")], [2, 0, 4], where="here")
    stacks = speedscope.read(b"".join(exports.speedscope(replace(gather.stacks("tests"), default_type=1))))
    assert stacks.sample_types == tuple(types)
    assert stacks.totals == [9, 5, 7]
    assert stacks.default_type == 1


def test_functions_of_one_name_in_two_files_are_told_apart() -> None:
    frames = ({"name": "init", "file": "a.py"}, {"name": "init", "file": "b.py"}, {"name": "main", "file": "a.py"})
    assert set(functions(file(sampled([[2, 0], [2, 1]], [1, 1]), frames=frames))) == {
        "init (a.py)",
        "init (b.py)",
        "main",
    }


@pytest.mark.parametrize(
    ("profile", "says", "where"),
    [
        (sampled([[0], [3]], [1, 1]), "Frame 3 does not exist", "profiles[0].samples[1]"),
        (sampled([[-1]], [1]), "Frame -1 does not exist", "profiles[0].samples[0]"),
        (sampled([["x"]], [1]), "Expected a number", "profiles[0].samples[0]"),
        (sampled([[0]], [1, 2]), "1 samples and 2 weights", "profiles[0]"),
        (sampled([[0]], [-1]), "negative value", "profiles[0].samples[0]"),
        (sampled([[0]], [1e300], unit="seconds"), "63 bits", "profiles[0].weights[0]"),
        (sampled([[0]], [1 << 63]), "63 bits", "profiles[0].weights[0]"),
        (evented(("O", 0, 5), ("C", 0, 4)), "before the one", "profiles[0].events[1]"),
        (evented(("O", 0, 0), ("O", 1, 1), ("C", 0, 4)), "closed while frame 1 is open", "profiles[0].events[2]"),
        (evented(("C", 0, 1)), "closed while none is open", "profiles[0].events[0]"),
        (evented(("O", 0, 0)), "never closed", "profiles[0], end of events"),
        (evented(("?", 0, 0)), "must open", "profiles[0].events[0]"),
        ({"type": "other"}, "sampled or evented", "profiles[0]"),
        ({}, "sampled or evented", "profiles[0]"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(profile: dict[str, Any], says: str, where: str) -> None:
    with pytest.raises(BadProfile, match=says) as error:
        speedscope.read(file(profile))
    assert error.value.where == where


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (file(sampled([[0]], [1]))[:-9], "truncated"),
        (b'{"shared": {"frames": ' + b"[" * 200_000, "nested"),
        (b'{"shared": ' + b"9" * 10_000 + b"}", "be parsed"),
        (b'{"shared": NaN}', "NaN"),
        (b'{"shared": "\xff"}', "be parsed"),
        (b"[]", "Expected an object"),
        (b'{"profiles": []}', "no profile"),
    ],
)
def test_broken_json_is_a_clear_error(data: bytes, says: str) -> None:
    with pytest.raises(BadProfile, match=says):
        speedscope.read(data)


def test_limits_hold() -> None:
    data = file(sampled([[0] * 50], [1]))
    for limits in (replace(DEFAULT, depth=49), replace(DEFAULT, frames=49), replace(DEFAULT, names=2)):
        with pytest.raises(TooMuch):
            speedscope.read(data, limits=limits)


def test_names_can_be_shown_and_stored() -> None:
    stacks = speedscope.read(file(sampled([[0, 1, 2]], [1]), frames=("a\0b\nc", "\ud800", "x" * 9_000)))
    assert stacks.names[:2] == ["a b c", "(unnamed)"]
    assert stacks.names[2].startswith("x" * 1_900)
    assert len(stacks.names[2]) == DEFAULT.name
