"""What the product reads in the stories' files is what the stories say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evidence import measures
from evidence.analysis import sentence
from evidence.formats import read_file
from evidence.profile.errors import NotRecognised
from evidence.tree import calltree
from stack.story import profiles
from stack.story.profiles import writer


@pytest.fixture
def brought(tmp_path: Path) -> Any:
    def bring(story: str, name: str, unit: str = "") -> calltree.CallTree:
        path = tmp_path / name
        path.write_bytes(profiles.make(story, name))
        return calltree.build(read_file(path, unit=unit))

    return bring


def share(tree: calltree.CallTree, word: str, type: int = 0) -> float:
    return tree.search(lambda name: word in name, type=type).share


@pytest.mark.parametrize(("name", "connect"), [("earlier", 22), ("before", 35), ("after", 6), ("morning", 6)])
def test_connect_has_its_share_of_the_spans(brought: Any, name: str, connect: int) -> None:
    tree = brought("gossip", f"{name}.folded.gz")
    assert (tree.format, tree.total(0)) == ("folded", 60_000_000_000)
    assert share(tree, "iroh::endpoint::connect") == pytest.approx(connect / 100, abs=1e-12)


def test_the_sentence_names_connect_and_who_calls_it(brought: Any) -> None:
    said = sentence.of(brought("gossip", "before.folded.gz"))
    assert said.text.startswith("35 % of wall time is spent in `iroh::endpoint::connect` (self 19 %)")
    assert "called from `gossip::net::join_peers`" in said.text


def test_microseconds_off_the_cpu_become_nanoseconds(brought: Any) -> None:
    tree = brought("pause", "off-cpu.folded", unit="microseconds")
    assert (tree.sample_types[0].unit, tree.total(0)) == ("nanoseconds", 1_900_000_000)
    assert share(tree, "off-CPU") == pytest.approx(0.94)


def test_the_machine_is_idle_and_the_process_that_matters_is_hardly_seen(brought: Any) -> None:
    guards = sentence.of(brought("pause", "machine.perf.gz"), subject="while firecracker pauses").guards
    assert any("1 of 1,504 samples" in one for one in guards)
    assert any(one.startswith("47 %") for one in guards)


def test_both_kinds_of_cores_are_kept_apart(brought: Any) -> None:
    tree = brought("pause", "ext4.perf.gz")
    assert [tree.total(type) for type in range(len(tree.sample_types))] == [500, 300]
    assert [share(tree, "ext4_do_writepages", type) for type in (0, 1)] == [0.46, 0.46]


@pytest.mark.parametrize("variant", list(writer.FRESH))
def test_heap_profiles_count_four_things(brought: Any, variant: str) -> None:
    tree = brought("writer", f"{variant}.pb.gz")
    assert [(one.name, one.unit) for one in tree.sample_types] == [
        ("alloc_objects", "objects"), ("alloc_space", "bytes"), ("inuse_objects", "objects"), ("inuse_space", "bytes"),
    ]  # fmt: skip
    fresh, held = writer.FRESH[variant], writer.HELD[variant]
    allocated = tree.function_totals[:, tree.names.index("wire.WriteMessage")].tolist()
    assert allocated == [5 * fresh, 73_788 * fresh, 5 * held, 73_788 * held]


@pytest.mark.parametrize("name", ["futex.txt"])
def test_what_is_no_profile_is_kept_as_it_is(brought: Any, name: str) -> None:
    with pytest.raises(NotRecognised):
        brought("pause", name)
    assert measures.sniff(profiles.make("pause", name)) is None


@pytest.mark.parametrize(
    ("story", "name", "says"),
    [
        ("poll", "sweep.csv", "106 of 120 cells pass 1 %"),
        ("pause", "syscalls.txt", "in syscalls: "),
        ("pause", "pauses.csv", "from 111 ms to 2,297 ms"),
        ("writer", "old.txt", "50.3 µs, 73,788 B, 5 allocations"),
        ("writer", "new.txt", "46.5 µs, 2 B, 0 allocations"),
        ("keepalive", "without-keep-alive.txt", "half within 415 ms"),
        ("keepalive", "with-keep-alive.txt", "half within 202 ms"),
    ],
)
def test_measurements_say_what_was_reported(story: str, name: str, says: str) -> None:
    body = profiles.make(story, name)
    module = measures.sniff(body)
    assert module is not None
    assert says in module.sentence(module.read(body))
