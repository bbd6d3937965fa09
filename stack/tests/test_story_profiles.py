"""The stories' files agree with the stories: facts counted here by hand, without the product's readers."""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from collections.abc import Iterator
from statistics import mean, median

import pytest

from stack.story import profiles, written
from stack.story.profiles import pause, writer

CONNECT = "iroh::endpoint::connect"


def text(story: str, name: str) -> str:
    body = profiles.make(story, name)
    return (gzip.decompress(body) if name.endswith(".gz") else body).decode()


def folded(story: str, name: str) -> Iterator[tuple[str, int]]:
    return ((stack, int(count)) for stack, _, count in (one.rpartition(" ") for one in text(story, name).splitlines()))


def cells() -> list[dict[str, str]]:
    """Return the rows of the sweep."""
    return list(csv.DictReader(one for one in text("poll", "sweep.csv").splitlines() if not one.startswith("#")))


def samples(name: str) -> list[tuple[str, str, str]]:
    """Return command, event and frames of each sample in perf's output."""
    blocks = text("pause", name).strip().split("\n\n")
    heads = (re.match(r"(\S+) +\d+ \[\d+\] [\d.]+: (\S+): \n", block + "\n") for block in blocks)
    return [(head[1], head[2], block) for head, block in zip(heads, blocks, strict=True) if head]


@pytest.mark.parametrize("story", profiles.STORIES)
def test_files_are_the_same_every_time(story: str) -> None:
    assert all(profiles.make(story, name) == profiles.make(story, name) for name in profiles.names(story))


@pytest.mark.parametrize("story", profiles.STORIES)
def test_each_file_is_brought_in_by_its_story_and_called_a_reconstruction(story: str) -> None:
    brought = [step.given for step in written.read(story).steps if step.kind == "evidence"]
    assert [one["file"] for one in brought] == profiles.names(story)
    assert all("(reconstruction)" in one["title"] for one in brought)


@pytest.mark.parametrize(("name", "share"), [("before", 35), ("after", 6), ("morning", 6)])
def test_connect_takes_exactly_its_share_and_is_called_from_join_peers_alone(name: str, share: int) -> None:
    rows = list(folded("gossip", f"{name}.folded.gz"))
    through = [(stack, ns) for stack, ns in rows if CONNECT in stack]
    total = sum(ns for _, ns in rows)
    assert total == 60_000_000_000
    assert sum(ns for _, ns in through) * 100 == share * total
    assert all(re.search(r"run_gossip:\S+; \S+join_peers:\S+; iroh::endpoint::connect:", stack) for stack, _ in through)


def test_connect_is_called_900_times_a_second_before_the_fix() -> None:
    ends = Counter(stack.rpartition("; ")[2].rpartition(":src")[0] for stack, _ in folded("gossip", "before.folded.gz"))
    assert ends[CONNECT] == 900 * 15


def test_sweep_has_120_cells_of_which_106_are_slow() -> None:
    rows = cells()
    slow = [float(row["slow_polls_pct"]) for row in rows]
    assert len({(row["peers"], row["rtt_ms"], row["payload_kib"]) for row in rows}) == len(rows) == 120
    assert sum(one >= 1 for one in slow) == 106
    worst = [row for row, one in zip(rows, slow, strict=True) if one >= 32]
    assert max(slow) == 36
    assert [min(float(row["p99_us"]) for row in worst), max(float(row["p99_us"]) for row in worst)] == [350, 375]
    assert all(float(row["slow_time_pct"]) == pytest.approx(80, abs=2) for row in worst)
    assert mean(float(row["outer_slow_polls_pct"]) for row in rows) == pytest.approx(0.22)


def test_a_cell_has_one_slow_poll_in_a_hundred_where_its_99th_percentile_is_slow() -> None:
    assert all((float(row["p99_us"]) >= 50) == (float(row["slow_polls_pct"]) >= 1) for row in cells())


def test_pause_is_off_the_cpu_94_per_cent_of_the_time() -> None:
    rows = list(folded("pause", "off-cpu.folded"))
    total = sum(us for _, us in rows)
    assert (total, sum(us for stack, us in rows if "off-CPU" in stack)) == (1_900_000, 1_786_000)


def test_the_machine_shows_one_sample_of_the_process_and_47_per_cent_idle() -> None:
    counts = Counter(comm for comm, _, _ in samples("machine.perf.gz"))
    assert counts["firecracker"] == 1
    assert round(100 * counts["swapper"] / counts.total()) == 47


@pytest.mark.parametrize(("name", "share"), [("ext4", 46), ("tmpfs", 0)])
def test_write_back_has_its_share_on_either_kind_of_core(name: str, share: int) -> None:
    found = samples(f"{name}.perf.gz")
    for event, count in pause.SAMPLES.items():
        stacks = [stack for _, kind, stack in found if kind == event]
        assert len(stacks) == count
        assert sum("ext4_do_writepages" in stack for stack in stacks) * 100 == share * count


def test_pauses_grow_on_ext4_and_stay_flat_on_tmpfs() -> None:
    ext4, tmpfs = pause.PAUSES_MS["ext4"], pause.PAUSES_MS["tmpfs"]
    assert list(ext4) == sorted(ext4)
    assert (round(ext4[0], -2), round(ext4[-1], -2)) == (1500, 2300)
    assert (min(tmpfs), max(tmpfs)) == (111, 259)


def test_a_message_allocates_73788_bytes_in_5_allocations() -> None:
    assert (sum(writer.EACH.values()), len(writer.EACH)) == (73_788, 5)


@pytest.mark.parametrize(("name", "us", "rest"), [("old", 50.3, (73_788, 5)), ("new", 46.5, (2, 0))])
def test_benchmark_runs_ten_times(name: str, us: float, rest: tuple[int, int]) -> None:
    rows = re.findall(r"(\d+) ns/op\s+(\d+) B/op\s+(\d+) allocs/op", text("writer", f"{name}.txt"))
    assert len(rows) == 10
    assert round(median(int(ns) for ns, _, _ in rows) / 1000, 1) == us
    assert {(int(size), int(allocs)) for _, size, allocs in rows} == {rest}


@pytest.mark.parametrize(
    ("name", "said"),
    [("without", {50: 415, 100: 435}), ("with", {50: 202, 90: 2030, 100: 2453})],
)
def test_ab_prints_percentiles_whose_means_are_alike(name: str, said: dict[int, int]) -> None:
    found = text("keepalive", f"{name}-keep-alive.txt")
    levels = {int(level): int(ms) for level, ms in re.findall(r"^ +(\d+)% +(\d+)", found, re.MULTILINE)}
    assert {level: levels[level] for level in said} == said
    mean_ms = re.search(r"Time per request: +([\d.]+)", found)
    assert mean_ms is not None
    assert float(mean_ms[1]) == pytest.approx(410, abs=4)
