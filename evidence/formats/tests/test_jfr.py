import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from evidence.analysis import guards
from evidence.formats.jfr import jfr
from evidence.formats.tests.written_jfr import recording
from evidence.profile.errors import BadProfile, NotRecognised
from evidence.profile.stacks import SampleType, Stacks
from evidence.tree import calltree

SAMPLES = [(("main", "work"), 3), (("main", "work", "main"), 2), (("main",), 1)]


def functions(stacks: Stacks, type: int = 0) -> dict[str, tuple[int, int]]:
    tree = calltree.build(stacks)
    return {
        name: (own, total)
        for name, own, total in zip(
            tree.names, tree.self_[type].tolist(), tree.function_totals[type].tolist(), strict=True
        )
        if total
    }


@pytest.mark.parametrize("packed", [True, False], ids=["packed numbers", "full width"])
@pytest.mark.parametrize(
    ("kind", "type"),
    [
        (20, SampleType("cpu", "samples")),
        (21, SampleType("wall", "samples")),
        (22, SampleType("park", "nanoseconds")),
        (23, SampleType("alloc_space", "bytes")),
    ],
)
def test_each_kind_of_event_counts_what_it_says(kind: int, type: SampleType, packed: bool) -> None:
    stacks = jfr.read(recording(SAMPLES, kind=kind, packed=packed))
    assert stacks.sample_types[0] == type
    assert functions(stacks) == {"main": (3, 6), "work": (3, 5)}


def test_several_chunks_are_one_recording_and_kinds_are_kept_apart() -> None:
    data = recording(SAMPLES) + recording([(("main", "wait"), 500)], kind=22, hertz=1000)
    stacks = jfr.read(data)
    parked = (SampleType("park", "nanoseconds"), SampleType("park_contentions", "contentions"))
    assert stacks.sample_types == (SampleType("cpu", "samples"), *parked)
    assert stacks.totals == [6, 500_000_000, 1]
    assert stacks.about["duration_ns"] == 14 * 10**9
    assert stacks.about["labels"]["thread"]["main"] == [6, 0, 0]


APS_STATES = ("STATE_DEFAULT", "STATE_RUNNABLE", "STATE_SLEEPING")


@pytest.mark.parametrize(
    ("states", "event", "counted"),
    [
        (("STATE_RUNNABLE",), "", {"cpu": 6}),
        (("STATE_RUNNABLE",), "cpu", {"cpu": 6}),
        (("STATE_RUNNABLE",), "itimer", {"cpu": 6}),
        (("STATE_RUNNABLE",), "wall", {"wall": 6}),
        (("STATE_DEFAULT",), "wall", {"wall": 6}),
        (APS_STATES, "cpu", {"cpu": 3, "wall": 3}),
        (APS_STATES, "", {"cpu": 3, "wall": 3}),
        (("STATE_RUNNABLE", "STATE_SLEEPING"), "", {"wall": 6}),
        (("STATE_DEFAULT",), "cache-misses", {"cache-misses": 6}),
    ],
)
def test_execution_samples_count_what_was_asked_for(
    states: tuple[str, ...], event: str, counted: dict[str, int]
) -> None:
    for packed in (True, False):
        stacks = jfr.read(recording(SAMPLES, states=states, event=event, packed=packed))
        assert {kind.name: total for kind, total in zip(stacks.sample_types, stacks.totals, strict=True)} == counted
        assert {kind.unit for kind in stacks.sample_types} == {"samples"}


def test_each_sample_type_can_be_asked_for_by_its_name() -> None:
    alone = jfr.read(recording(SAMPLES, kind=24))
    assert alone.sample_types == (SampleType("cpu", "nanoseconds"),)
    both = jfr.read(recording(SAMPLES, kind=24) + recording(SAMPLES))
    assert both.sample_types == (SampleType("cpu", "samples"), SampleType("cpu_time", "nanoseconds"))
    everything = jfr.read(b"".join(recording(SAMPLES, kind=kind) for kind in range(20, 25)))
    assert len({kind.name for kind in everything.sample_types}) == len(everything.sample_types)


def test_how_often_is_counted_beside_how_much() -> None:
    stacks = jfr.read(recording(SAMPLES, kind=22) + recording(SAMPLES, kind=23))
    counted = dict(zip(stacks.sample_types, stacks.totals, strict=True))
    assert (
        counted[SampleType("alloc_samples", "samples")] == counted[SampleType("park_contentions", "contentions")] == 3
    )


def test_a_few_large_weights_are_said_to_be_few_samples() -> None:
    tree = calltree.build(jfr.read(recording([(("main", "work"), 1 << 30), (("main", "rest"), 1 << 20)], kind=23)))
    assert tree.sample_types[tree.default_type] == SampleType("alloc_space", "bytes")
    assert [*guards.of(tree, tree.default_type)] == ["Only 2 samples, so percentages are rough."]


@pytest.mark.parametrize(
    ("type", "hint"),
    [("Interpreted", "interpreted"), ("JIT compiled", "jit"), ("Inlined", "inlined"), ("Kernel", "kernel")],
)
def test_frames_say_where_they_run(type: str, hint: str) -> None:
    assert set(jfr.read(recording(SAMPLES, frame_type=type)).hints) == {hint}


@pytest.mark.parametrize("packed", [True, False])
def test_stacks_that_the_recorder_cut_off_are_said_to_lack_their_callers(packed: bool) -> None:
    """The JDK keeps 64 frames by default, fewer than a web framework's stacks have: shares of callers are too low."""
    deep, rare = tuple(f"f{at}" for at in range(64)), [(("main", "rest"), 1_000)]
    stacks = jfr.read(recording([(deep, 3), (("main", "work"), 1)], cut_at=64, packed=packed))
    said = [*guards.of(calltree.build(stacks), 0)]
    assert any(one.startswith("75 % of it has stacks that were cut off at 64 frames") for one in said)
    assert "caution" not in jfr.read(recording([(deep, 3), (("main", "work"), 1)], packed=packed)).about
    assert "caution" not in jfr.read(recording([(deep, 3), *rare], cut_at=64, packed=packed)).about
    two = jfr.read(recording([(deep, 3)], cut_at=64) + recording([(("main", "work"), 1)]))
    assert str(two.about["caution"]).startswith("75 % of it")


def test_a_recording_without_stacks_is_no_profile() -> None:
    with pytest.raises(NotRecognised, match="no event"):
        jfr.read(recording([]))


@pytest.mark.parametrize("cut", [4, 67, 100, -1])
def test_a_recording_that_is_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(BadProfile, match="cut off") as error:
        jfr.read(recording(SAMPLES)[:cut])
    assert error.value.where == "byte 0"


def test_an_unfinished_recording_is_said_to_be_so() -> None:
    data = recording(SAMPLES)
    with pytest.raises(BadProfile, match="finished"):
        jfr.read(data[:8] + bytes(8) + data[16:])


@pytest.mark.parametrize(("at", "says"), [(16, "constants|outside|exist|ends"), (24, "metadata|outside")])
def test_what_points_elsewhere_is_refused(at: int, says: str) -> None:
    data = bytearray(recording(SAMPLES))
    data[at : at + 8] = (70).to_bytes(8, "big")
    with pytest.raises(BadProfile, match=says):
        jfr.read(bytes(data))


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("java") or not shutil.which("jfr"), reason="needs a JDK")
def test_a_real_recording_counts_what_the_jdk_says(tmp_path: Path) -> None:
    (tmp_path / "Burn.java").write_text(BURN)
    (tmp_path / "small.jfc").write_text(SETTINGS)
    start = f"-XX:StartFlightRecording=filename={tmp_path}/burn.jfr,settings={tmp_path}/small.jfc"
    subprocess.run(["java", start, "-Xlog:disable", str(tmp_path / "Burn.java")], check=True, capture_output=True)
    stacks = jfr.read((tmp_path / "burn.jfr").read_bytes())
    printed = subprocess.run(
        ["jfr", "print", "--json", "--stack-depth", "64", str(tmp_path / "burn.jfr")], check=True, capture_output=True
    )
    totals: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for event in json.loads(printed.stdout)["recording"]["events"]:
        if event["type"] == "jdk.ObjectAllocationSample":
            weight = event["values"]["weight"]
            totals["alloc_space"] += weight
            frames = (event["values"]["stackTrace"] or {"frames": []})["frames"]
            names = {f"{one['method']['type']['name'].replace('/', '.')}.{one['method']['name']}" for one in frames}
            passed.update(dict.fromkeys(names, weight))
        if event["type"] == "jdk.ThreadPark":
            totals["park"] += round(float(event["values"]["duration"][2:-1]) * 10**9)
    types = [kind.name for kind in stacks.sample_types]
    assert stacks.totals[types.index("alloc_space")] == totals["alloc_space"] > 0
    assert stacks.totals[types.index("park")] == pytest.approx(totals["park"], abs=1000)
    found = functions(stacks, types.index("alloc_space"))
    assert {name: total for name, (_, total) in found.items()} == dict(passed)


BURN = """
public class Burn {
  static long kept;
  static void allocate(int n) { for (int i = 0; i < n; i++) { byte[] some = new byte[4096]; kept += some.length; } }
  public static void main(String[] args) {
    for (int i = 0; i < 40; i++) { allocate(3000); java.util.concurrent.locks.LockSupport.parkNanos(5_000_000); }
  }
}
"""
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0" label="small" description="" provider="us">
  <event name="jdk.ExecutionSample"><setting name="enabled">true</setting><setting name="period">20 ms</setting></event>
  <event name="jdk.ObjectAllocationSample"><setting name="enabled">true</setting>
    <setting name="throttle">150/s</setting><setting name="stackTrace">true</setting></event>
  <event name="jdk.ThreadPark"><setting name="enabled">true</setting>
    <setting name="stackTrace">true</setting><setting name="threshold">1 ms</setting></event>
</configuration>
"""
