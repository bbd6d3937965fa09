"""Captures from a real Go program with ``net/http/pprof``, where Go is installed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evidence import formats
from evidence.tree import calltree
from evidence.tree.calltree import CallTree
from integrations.profilers.profiler import ListedProfiler
from integrations.profilers.sources import Listed
from stack.outside import goburner
from workflows.ports import VendorError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(goburner.missing()), reason=goburner.missing() or "none"),
]
AT = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)
KINDS = ("cpu", "heap", "allocs", "goroutine", "block", "mutex")


@pytest.fixture(scope="module")
def profiler() -> Iterator[ListedProfiler]:
    with goburner.running() as url:
        listed = Listed("burner", "pprof", f"{url}/debug/pprof", dict.fromkeys(KINDS, ""), internal=True)
        yield ListedProfiler([listed], environ={})


def capture(profiler: ListedProfiler, kind: str, folder: Path, *, seconds: int) -> CallTree:
    """Capture a profile, and read it as evidence is read."""
    taken = profiler.capture("burner", kind, seconds=seconds, at=AT)
    path = folder / taken.file_name
    with taken.body:
        path.write_bytes(taken.body.read())
    return calltree.build(formats.read_file(path))


def test_a_capture_names_the_function_that_burns(profiler: ListedProfiler, tmp_path: Path) -> None:
    tree = capture(profiler, "cpu", tmp_path, seconds=2)
    burnt = tree.function_totals[tree.default_type, tree.by_name[goburner.BURNS]] / tree.total()
    assert burnt > 0.6  # up to all of it when a busy machine allowed only few samples


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("seconds", [0, 1])
def test_each_kind_is_had_at_once_and_as_a_difference(
    kind: str, seconds: int, profiler: ListedProfiler, tmp_path: Path
) -> None:
    assert capture(profiler, kind, tmp_path, seconds=seconds).sample_types


def test_of_two_who_profile_at_once_one_is_told_to_wait(profiler: ListedProfiler) -> None:
    def take(_: int) -> str:
        try:
            profiler.capture("burner", "cpu", seconds=2, at=AT).body.close()
        except VendorError as error:
            return f"{error.code}, {'again later' if error.retryable else 'never'}"
        return "taken"

    with ThreadPoolExecutor(2) as both:
        assert sorted(both.map(take, range(2))) == ["busy, again later", "taken"]
