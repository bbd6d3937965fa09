from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.measures import sniff
from evidence.measures.benchmarks import benchstat, gobench, gotable
from evidence.measures.benchmarks.gotable import BenchmarkCell, BenchmarkTable, Column
from evidence.profile.errors import BadProfile, TooMuch

KNOWN = Path(__file__).parent / "known"


def column(name: str) -> Column:
    return Column(f"{name}.txt", gobench.read((KNOWN / f"{name}.txt").read_bytes()).columns[0].samples)


def cell(table: BenchmarkTable, name: str, side: int = 1) -> BenchmarkCell:
    found = dict(table.rows)[name][side]
    assert found is not None
    return found


def made(**variants: list[float]) -> list[Column]:
    return [Column(name, {"Write": {"ns/op": values}}) for name, values in variants.items()]


UNITS = {"sec/op": ("ns/op", 1e-9), "B/s": ("MB/s", 1e6)}


def test_our_figures_are_those_of_benchstat() -> None:
    ours = {table.unit: table for table in gotable.tables([column("old"), column("new")])}
    printed = benchstat.read((KNOWN / "benchstat.txt").read_bytes()).tables
    assert [table.unit for table in printed] == ["sec/op", "B/op", "allocs/op", "B/s"]
    for table in printed:
        unit, factor = UNITS.get(table.unit, (table.unit, 1.0))
        for name, cells in table.rows:
            for side, theirs in enumerate(cells):
                mine = cell(ours[unit], name.removesuffix("-8"), side)
                assert theirs is not None
                assert mine.median * factor == pytest.approx(theirs.median, rel=5e-4)
                assert round(mine.spread or 0, 2) == theirs.spread
                assert (mine.p is None) == (theirs.p is None)
                assert round(mine.p or 0, 3) == (theirs.p or 0)
                if theirs.differs:
                    assert round(mine.change or 0, 4) == theirs.change
        for our_mean, their_mean in zip(ours[unit].means, table.means, strict=False):
            assert (our_mean is None) == (their_mean is None)
            assert (our_mean or 0) * factor == pytest.approx(their_mean or 0, rel=1e-3)
        for our_change, their_change in zip(ours[unit].changes, table.changes, strict=False):
            assert (None if our_change is None else round(our_change, 4)) == their_change


def test_the_sentence_of_two_files_says_medians_change_p_and_what_else_moved() -> None:
    columns = [Column(one.label, {"WriteMessage": one.samples["WriteMessage"]}) for one in map(column, ("old", "new"))]
    assert gotable.sentence(columns) == (
        "WriteMessage: 50.6 µs → 46.5 µs (−8 %, p = 0.000, n = 10); 73,788 B → 2 B; 5 → 0 allocations an operation"
    )


def test_one_file_says_what_an_operation_takes() -> None:
    value = gobench.read(b"BenchmarkRead-8 100 1200 ns/op 16 B/op 2 allocs/op\n" * 3)
    assert gobench.sentence(value) == "Read: 1.20 µs, 16 B, 2 allocations an operation (n = 3)"


def test_variants_of_one_file_are_told_apart_by_a_setting() -> None:
    text = b"note: before\nBenchmarkA-4 1 10 ns/op\nnote: pooled\nBenchmarkA-4 1 20 ns/op\n"
    value = gobench.read(text)
    assert [(one.label, one.samples) for one in value.columns] == [
        ("before", {"A": {"ns/op": [10.0]}}),
        ("pooled", {"A": {"ns/op": [20.0]}}),
    ]


def test_variants_of_one_file_are_told_apart_by_a_heading() -> None:
    text = b"==> old.txt <==\nBenchmarkA 1 10 ns/op\n\n==> new.txt <==\nBenchmarkA 1 20 ns/op\n"
    assert [one.label for one in gobench.read(text).columns] == ["old.txt", "new.txt"]


def test_packages_part_benchmarks_of_one_name() -> None:
    text = b"pkg: a\nBenchmarkX 1 10 ns/op\npkg: b\nBenchmarkX 1 20 ns/op\n"
    assert list(gobench.read(text).columns[0].samples) == ["a.X", "b.X"]


def test_a_benchmark_measured_with_different_processors_keeps_their_number() -> None:
    text = b"BenchmarkX-1 1 10 ns/op\nBenchmarkX-8 1 20 ns/op\n"
    assert list(gobench.read(text).columns[0].samples) == ["X-1", "X-8"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"PASS\n", "no benchmark result"),
        (b"ok\nBenchmarkX 1 10 ns/op 5\n", r"without its unit \(line 2\)"),
        (b"BenchmarkX 1 ten ns/op\n", r"“ten” isn't a number \(line 1\)"),
        (b"BenchmarkX 1 1e999 ns/op\n", r"a number to count with \(line 1\)"),
    ],
)
def test_what_breaks_the_rules_is_named_with_its_line(text: bytes, says: str) -> None:
    with pytest.raises(BadProfile, match=says):
        gobench.read(text)


def test_too_many_measurements_are_refused() -> None:
    with pytest.raises(TooMuch):
        gobench.read(b"BenchmarkX 1 1 ns/op\n" * (gobench.MOST_VALUES + 1))


def test_chance_is_not_called_a_difference() -> None:
    table = gotable.tables(made(old=[10, 11, 12, 13], new=[10.5, 11.5, 12.5, 13.5]))[0]
    found = cell(table, "Write")
    assert not found.differs
    assert "no clear difference" in gotable.sentence(made(old=[10, 11, 12, 13], new=[10.5, 11.5, 12.5, 13.5]))


def test_too_few_values_are_said_to_be_too_few() -> None:
    assert cell(gotable.tables(made(old=[10], new=[20]))[0], "Write").too_few


def test_many_variants_are_compared_with_the_control_and_not_with_each_other() -> None:
    base = [10.0, 10.1, 10.2, 10.3, 10.4]
    columns = made(pooled=[one / 2 for one in base], control=base, worse=[one * 3 for one in base])
    table = gotable.tables(columns, control=1)[0]
    assert table.labels == ["control", "pooled", "worse"]
    assert [one and one.change and round(one.change, 2) for one in table.rows[0][1]] == [None, -0.5, 2.0]
    assert gotable.sentence(columns, control=1) == "Write: pooled −50 %, worse +200 % against control (10.2 ns)"


def test_a_benchmark_that_only_one_side_has_is_shown_and_warned_of() -> None:
    columns = [Column("a", {"X": {"ns/op": [1.0]}, "Y": {"ns/op": [1.0]}}), Column("b", {"X": {"ns/op": [1.0]}})]
    table = gotable.tables(columns)[0]
    assert table.rows[1] == ("Y", [BenchmarkCell(1.0, 1, None), None])
    assert not table.alike


def test_from_nothing_to_something_has_no_percentage() -> None:
    assert cell(gotable.tables(made(old=[0, 0, 0, 0], new=[5, 5, 5, 5]))[0], "Write").change is None


OLDER = b"""name        old time/op    new time/op    delta
GobEncode   13.6ms \xc2\xb1 1%    11.8ms \xc2\xb1 1%  -13.31%  (p=0.016 n=4+5)
JSONEncode  32.1ms \xc2\xb1 1%    31.8ms \xc2\xb1 1%     ~     (p=0.286 n=4+5)

name        old alloc/op   new alloc/op   delta
GobEncode   72.1kB \xc2\xb1 0%     0.0kB        -100.00%  (p=0.000 n=10+10)
"""


def test_the_older_form_of_benchstat_is_read() -> None:
    time, space = benchstat.read(OLDER).tables
    assert cell(time, "GobEncode") == BenchmarkCell(0.0118, 5, 0.01, 0.016, -0.1331, 0.0136, 4)
    assert not cell(time, "JSONEncode").differs
    assert (space.unit, cell(space, "GobEncode").median) == ("B/op", 0)


@pytest.mark.parametrize("name", ["old.txt", "new.txt", "benchstat.txt"])
def test_content_tells_the_reader_and_storing_it_loses_nothing(name: str) -> None:
    data = (KNOWN / name).read_bytes()
    module = sniff(data)
    assert module is (benchstat if name == "benchstat.txt" else gobench)
    value = module.read(data)
    assert module.from_dict(json.loads(json.dumps(value.as_dict()))) == value


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_what_a_windows_shell_writes_is_read(encoding: str) -> None:
    data = "BenchmarkX-8 1 10 ns/op\r\n".encode(encoding)
    assert gobench.looks_like(data)
    assert gobench.read(data).columns[0].samples == {"X": {"ns/op": [10.0]}}


@given(st.binary(max_size=300).map(lambda tail: b"BenchmarkX 1 1 ns/op\n" + tail))
def test_bytes_of_any_kind_are_read_or_refused_in_words(data: bytes) -> None:
    with suppress(BadProfile, TooMuch):
        value = gobench.read(data)
        assert gobench.sentence(value)
        assert gobench.from_dict(json.loads(json.dumps(value.as_dict(), allow_nan=False))) == value


@given(st.text(max_size=300).map(lambda tail: (KNOWN / "benchstat.txt").read_text() + tail))
def test_a_damaged_table_is_read_or_refused_in_words(text: str) -> None:
    with suppress(BadProfile, TooMuch):
        assert benchstat.sentence(benchstat.read(text.encode("utf-8", "surrogatepass")))
