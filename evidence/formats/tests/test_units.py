from pathlib import Path

import pytest

from evidence import formats
from evidence.analysis import compare, sentence
from evidence.formats.base import units
from evidence.profile.errors import BadProfile
from evidence.profile.stacks import SampleType
from evidence.tree import calltree


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("ms", (1_000_000, "nanoseconds")),
        ("Seconds", (10**9, "nanoseconds")),
        ("µs", (1000, "nanoseconds")),
        ("bytes", (1, "bytes")),
        ("KiB", (1024, "bytes")),
        ("none", (1, "events")),
        ("hours", (3_600 * 10**9, "nanoseconds")),
        ("parsecs", (1, "parsecs")),
    ],
)
def test_units_become_ours(said: str, ours: tuple[int, str]) -> None:
    assert units.ours(said) == ours


def test_a_sender_says_what_folded_stacks_count(tmp_path: Path) -> None:
    path = tmp_path / "off-cpu"
    path.write_bytes(b"main;wait 12\nmain;lock 3\n")
    stacks = formats.read_file(path, unit="microseconds")
    assert stacks.sample_types == (SampleType("time", "nanoseconds"),)
    assert stacks.totals == [15_000]
    path.write_bytes(b"main;wait 9000000000000000000\n")
    with pytest.raises(BadProfile, match="too large to be seconds"):
        formats.read_file(path, unit="seconds")


@pytest.mark.parametrize(
    ("unit", "expected", "values"),
    [
        ("ms", SampleType("time", "nanoseconds"), [12_500_000, 3_000_000]),
        ("ns", SampleType("time", "thousandths of nanoseconds"), [12_500, 3_000]),
        ("KiB", SampleType("memory", "bytes"), [12_800, 3_072]),
        ("", SampleType("samples", "thousandths of samples"), [12_500, 3_000]),
    ],
)
def test_fractions_of_a_unit_that_is_told(tmp_path: Path, unit: str, expected: SampleType, values: list[int]) -> None:
    path = tmp_path / "off-cpu"
    path.write_bytes(b"main;wait 12.5\nmain;lock 3\n")
    stacks = formats.read_file(path, unit=unit)
    assert stacks.sample_types == (expected,)
    assert stacks.values.tolist() == [values]


@pytest.mark.parametrize(
    ("unit", "says"),
    [
        ("cycles", "80 % of CPU cycles pass through `wait`"),
        ("cache misses", "80 % of cache misses pass through `wait`"),
        ("events", "80 % of events pass through `wait`"),
        ("hours", "80 % of time is spent in `wait`"),
        ("samples", "80 % of samples pass through `wait`"),
        ("ns", "80 % of time is spent in `wait`"),
    ],
)
def test_what_a_sender_says_is_counted_is_not_told_as_samples_and_has_one_name_with_decimals_or_not(
    tmp_path: Path, unit: str, says: str
) -> None:
    trees = []
    for counts in (b"main;wait 12\nmain;lock 3\n", b"main;wait 12.4\nmain;lock 3.1\n"):
        (tmp_path / "out").write_bytes(counts)
        trees.append(calltree.build(formats.read_file(tmp_path / "out", unit=unit)))
        assert sentence.of(trees[-1]).text.startswith(says)
    assert compare.same_type(trees) == [0, 0]


def test_tracing_flame_is_believed_over_its_sender(tmp_path: Path) -> None:
    path = tmp_path / "spans"
    path.write_bytes(b"ThreadId(1)-main; app::run:src/main.rs:3 99\n")
    assert formats.read_file(path, unit="seconds").totals == [99]


def test_a_file_that_says_its_unit_is_believed_over_its_sender() -> None:
    corpus = Path(__file__).resolve().parents[3] / "fixtures" / "fuzz"
    stacks = formats.read_file(corpus / "pprof" / "heap.pb", unit="seconds")
    assert [kind.unit for kind in stacks.sample_types] == ["objects", "bytes"]
    assert (
        stacks.about["caution"] == "The unit seconds isn't used: the file says itself what it counts (objects, bytes)."
    )
    for alike in ("", "kB", "count"):
        assert "caution" not in formats.read_file(corpus / "pprof" / "heap.pb", unit=alike).about
