from __future__ import annotations

import csv
import io
import json
import re
from contextlib import suppress
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evidence.measures import sniff, tables
from evidence.measures.sweeps import sweep, swept
from evidence.measures.sweeps.swept import Sweep, Threshold
from evidence.profile.errors import BadProfile, TooMuch

GRID = [
    (peers, rtt, kib) for peers in (1, 2, 5, 10, 15) for rtt in (0, 1, 10, 50, 100, 200) for kib in (4, 16, 64, 256)
]


def polls() -> bytes:
    """Write 120 cells, the first 14 of them below one in a hundred."""
    rows = [f"{p},{r},{k},{0.005 if i < 14 else 0.02 + i / 1000:.4f}" for i, (p, r, k) in enumerate(GRID)]
    return "\n".join(["# threshold: slow_ratio 1 %", "peers,rtt_ms,payload_kib,slow_ratio", *rows]).encode()


def read(text: str) -> Sweep:
    data = text.encode()
    assert sniff(data) is sweep
    value = sweep.read(data)
    assert sweep.from_dict(json.loads(json.dumps(value.as_dict()))) == value
    return value


def test_the_sentence_counts_the_cells_that_pass_and_names_the_worst() -> None:
    value = sweep.read(polls())
    assert (value.axes, value.values) == (["peers", "rtt_ms", "payload_kib"], ["slow_ratio"])
    assert sweep.sentence(value) == (
        "106 of 120 cells pass 1 % (slow ratio); worst 13.9 % at peers 15, rtt 200 ms, payload 256 KiB"
    )


def test_without_a_threshold_it_says_from_where_to_where() -> None:
    assert sweep.sentence(read("x,y,p99_us\n1,1,40\n1,2,60\n2,1,350\n2,2,375\n")) == (
        "P99 from 40 µs to 375 µs in 4 cells; most at x 2, y 2"
    )


def test_a_threshold_may_be_a_least_value() -> None:
    value = read("# threshold: rate < 100\nx,y,rate\n1,1,40\n1,2,160\n2,1,350\n2,2,99\n")
    assert value.threshold == Threshold("rate", 100, below=True)
    assert sweep.sentence(value) == "2 of 4 cells are below 100 (rate); worst 40 at x 1, y 1"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_what_stands_between_columns_is_found(mark: str) -> None:
    lines = [["x", "y", "value"], ["1", "1", "5"], ["1", "2", "6"], ["2", "1", "7"]]
    assert read("\n".join(mark.join(line) for line in lines)).rows == [
        ((1.0, 1.0), (5.0,)),
        ((1.0, 2.0), (6.0,)),
        ((2.0, 1.0), (7.0,)),
    ]


def test_a_decimal_comma_is_read_where_semicolons_part_columns() -> None:
    assert read("x;y;v\n1;1;0,5\n1;2;1,5\n").rows[0] == ((1.0, 1.0), (0.5,))


def test_missing_cells_are_counted_and_not_taken_for_nothing() -> None:
    value = read("x,y,v\n1,1,5\n1,2,NA\n2,1,7\n2,2,8\n")
    assert (value.combinations, len(value.cells("v")), value.skipped) == (4, 3, 1)
    assert sweep.sentence(value).endswith("; 1 missing")


def test_a_matrix_is_read_as_rows() -> None:
    value = read("size,1,2,4\n10,1,2,3\n20,4,,6\n")
    assert (value.axes, len(value.rows)) == (["size", "column"], 5)


def test_repeats_of_a_cell_give_its_median() -> None:
    value = read("x,y,v\n1,1,3\n1,1,5\n1,1,50\n2,1,9\n2,2,1\n")
    assert value.repeats == 3
    assert value.rows[0] == ((1.0, 1.0), (5.0,))


def test_a_measured_column_is_not_taken_for_an_axis() -> None:
    rows = "\n".join(
        f"{x},{y},{x * 7.5 + y * 1.1 + run:.3f},{x + run}" for x, y, run in product(range(5), range(5), range(3))
    )
    assert read(f"x,y,ms,other\n{rows}").axes == ["x", "y"]


def test_axes_may_be_named_by_a_comment() -> None:
    value = read("# axes: peers, rtt\nwhen,rtt,peers,v\n1,10,1,5\n2,10,2,6\n3,20,1,7\n4,20,2,8\n")
    assert value.axes == ["peers", "rtt"]


def test_one_axis_is_enough() -> None:
    value = read("peers,p50_ms,p99_ms\n1,3.5,4.5\n2,3.6,9\n5,3.7,20\n")
    assert (value.axes, value.values) == (["peers"], ["p50_ms", "p99_ms"])


@pytest.mark.parametrize(
    ("name", "said", "unit"),
    [
        ("rtt_ms", "rtt", "ms"),
        ("payload (KiB)", "payload", "KiB"),
        ("slow_polls_pct", "slow polls", "%"),
        ("slow_ratio", "slow ratio", "share"),
        ("peers", "peers", ""),
        ("p99", "p99", ""),
        ("%", "%", "%"),
    ],
)
def test_a_columns_name_says_its_unit(name: str, said: str, unit: str) -> None:
    assert (swept.called(name), swept.unit_of(name)) == (said, unit)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x,y,v\n1,1,2\n1,2\n1,3,4\n" + "2,2,2\n" * 20, None),
        (
            "x,y,v\n" + "".join(f"1,{i},2\n" for i in range(30)) + "1,2\n",
            r"2 columns where the header has 3 \(line 32\)",
        ),
        ("a,b\nx,y\nz,w\n", "no column of numbers"),
        ("", "isn't a table"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(text: str, says: str | None) -> None:
    with pytest.raises(BadProfile, match=says):
        sweep.read(text.encode())


def test_more_cells_than_a_picture_holds_are_refused() -> None:
    with pytest.raises(TooMuch):
        sweep.read(b"x,y,v\n" + b"".join(b"%d,%d,1\n" % (i, i % 7) for i in range(sweep.MOST_ROWS + 1)))
    with pytest.raises(TooMuch):
        sweep.read(b"x,y,v\n" * 1 + b"1,2,3\n" * (sweep.MOST_ROWS + 1))


@pytest.mark.parametrize(
    "text", ["hello, world\n1, 2\n", "1,2,3\n4,5,6\n7,8,9\n", "main;work 5\nmain;rest 7\n", "{}\n[]\n"]
)
def test_other_files_are_not_taken_for_sweeps(text: str) -> None:
    assert not sweep.looks_like(text.encode())


cells = st.floats(-1e9, 1e9).map(lambda value: round(value, 3))


@given(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), cells, min_size=2))
def test_what_is_written_is_read_again(grid: dict[tuple[int, int], float]) -> None:
    text = "x,y,v\n" + "".join(f"{x},{y},{value!r}\n" for (x, y), value in grid.items())
    value = sweep.read(text.encode())
    found = dict(value.cells(value.values[0]))
    if value.axes == ["x", "y"]:
        assert found == {(float(x), float(y)): number for (x, y), number in grid.items()}
    assert sweep.sentence(value)


@given(st.binary(max_size=400))
def test_bytes_of_any_kind_are_read_or_refused_in_words(data: bytes) -> None:
    with suppress(BadProfile, TooMuch):
        value = sweep.read(data)
        assert sweep.sentence(value)
        assert sweep.from_dict(json.loads(json.dumps(value.as_dict(), allow_nan=False))) == value


@example([[-0.0011753873448927348, None]])
@given(st.lists(st.lists(st.text(max_size=8) | st.floats(-1e6, 1e6) | st.none(), min_size=2, max_size=2), max_size=5))
def test_no_cell_of_an_export_is_a_formula(rows: list[list[str | float | None]]) -> None:
    text = tables.as_csv(["a", "=b"], rows)
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            assert not cell.lstrip().startswith(("=", "+", "@")) or cell.startswith("'")
            assert not cell.startswith("-") or re.fullmatch(r"-\d+(\.\d+)?(e[-+]?\d+)?", cell), (
                "a number is what it says"
            )


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("p99_us 1 ms", 1000),
        ("p99_us 1ms", 1000),
        ("p99 1000", 1000),
        ("p99_us >= 1e6 ns.", 1000),
        ("p99_us 0,5 ms", 500),
        ("p99_us 20 requests", 20),
    ],
)
def test_a_threshold_counts_in_the_unit_that_it_names(said: str, limit: float) -> None:
    value = read(f"# threshold: {said}\nx,y,p99_us\n1,1,300\n1,2,2000\n2,1,160\n2,2,350\n")
    assert value.threshold == Threshold("p99_us", limit)


def test_a_threshold_has_a_decimal_comma_where_its_table_has() -> None:
    value = read("# threshold: slow_pct 1,500 %\nx;y;slow_pct\n1;1;0,5\n1;2;1,4\n2;1;1,6\n2;2;3,5\n")
    assert sweep.sentence(value) == "2 of 4 cells pass 1.5 % (slow); worst 3.5 % at x 2, y 2"


@pytest.mark.parametrize("said", ["p99_us 1,500 us", "p99_us 5 MiB", "p99_us 1.2.3"])
def test_a_threshold_that_nobody_can_understand_counts_nothing(said: str) -> None:
    with pytest.raises(BadProfile, match=r"The threshold of p99_us can't be used: .* \(line 1\)"):
        read(f"# threshold: {said}\nx,y,p99_us\n1,1,300\n1,2,2000\n2,1,160\n2,2,350\n")
