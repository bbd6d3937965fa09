"""Tables of counts: every number of every tool, what counts most, and what changed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence import formats, measures
from evidence.measures import counting, counts, tables
from evidence.profile.errors import BadProfile

STRACE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 89.10    4.455000         185     24000      1200 futex
 10.00    0.500000          50     10000           epoll_wait
  0.90    0.045000          45      1000        13 openat
------ ----------- ----------- --------- --------- ----------------
100.00    5.000000         142     35000      1213 total
"""
CALMER = STRACE.replace(
    "4.455000         185     24000      1200 futex", "0.055000          55      1000           futex"
)
PERF_STAT = """
 Performance counter stats for 'shop --serve' (3 runs):

          1,250.50 msec task-clock                #    0.844 CPUs utilized            ( +-  9.87% )
                12      context-switches          #    9.600 /sec
   <not supported>      branch-misses
     2,000,000,000      cycles                    #    1.599 GHz                      (83.31%)
     3,000,000,000      instructions              #    1.50  insn per cycle

          1.481000 +- 0.000570 seconds time elapsed  ( +-  0.25% )

"""
PERF_STAT_CSV = (
    "1250.50,msec,task-clock,1250500000,100.00,0.844,CPUs utilized\n12,,context-switches,1250500000,100.00,,\n"
)
PERF_STAT_JSON = "\n".join(
    json.dumps({"counter-value": value, "unit": unit, "event": event, "event-runtime": 5, "pcnt-running": 100.0})
    for value, unit, event in (("1250.500000", "msec", "task-clock"), ("12.000000", "", "context-switches"))
)
PERF_TRACE = """
 Summary of events:

 shop (71), 290 events, 97.3%

   syscall            calls  errors  total       min       avg       max       stddev
                                     (msec)    (msec)    (msec)    (msec)        (%)
   --------------- --------  ------ -------- --------- --------- ---------     ------
   futex                 34     13   900.000     0.014    26.470   100.055      8.43%
   read                   6      0     0.500     0.015     0.083     0.028      3.35%


 shop (72), 12 events, 2.7%

   syscall            calls  errors  total       min       avg       max       stddev
                                     (msec)    (msec)    (msec)    (msec)        (%)
   --------------- --------  ------ -------- --------- --------- ---------     ------
   futex                  6      0   100.000     0.010    16.666    50.000      8.43%

"""
BPFTRACE = """Attaching 2 probes...
^C

@calls[shop, futex]: 24000
@calls[shop, read]: 12
@failed: 7
@us[read]:
[1]                    4 |@@@                             |
[2, 4)                36 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
"""
SYSCOUNT = """Tracing syscalls, printing top 10... Ctrl+C to quit.
[09:39:04]
SYSCALL                   COUNT        TIME (us)
futex                     24000       4455000.25
read                         12           100.00

"""
FUNCCOUNT = """FUNC                                    COUNT
b'vfs_open'                                 3
tcp_sendmsg                               981
Detaching...
"""
PPROF_TOP = """File: shop
Type: inuse_space
Showing nodes accounting for 42.83MB, 100% of 42.83MB total
      flat  flat%   sum%        cum   cum%
   42.33MB 98.83% 98.83%    42.33MB 98.83%  main.alloc (inline)
  512.05kB  1.17%   100%   512.05kB  1.17%  runtime.mallocgc
         0     0%   100%    42.83MB   100%  main.main
"""
FILES = {
    "pprof -top": PPROF_TOP,
    "strace": STRACE, "perf stat": PERF_STAT, "perf stat -x,": PERF_STAT_CSV, "perf stat -j": PERF_STAT_JSON,
    "perf trace": PERF_TRACE, "bpftrace": BPFTRACE, "syscount": SYSCOUNT, "funccount": FUNCCOUNT,
}  # fmt: skip


def read(text: str) -> counts.CountTables:
    return counts.read(text.encode())


@pytest.mark.parametrize("name", FILES)
def test_each_is_told_for_counts_and_for_nothing_else(name: str) -> None:
    told = formats.decide(FILES[name].encode())
    assert told
    assert told.name == "counts"
    again = measures.reopened(json.loads(json.dumps(read(FILES[name]).as_dict())))
    assert again == read(FILES[name])
    assert tables.of_counts(again).count("\r\n") == 1 + sum(
        len(table.rows) * len(table.columns) for table in again.tables
    )


SAID = {
    "pprof -top": "42.8 MiB inuse_space itself: 98.8 % of it is `main.alloc`",
    "strace": "5 s in syscalls: 89.1 % of it is `futex` (24,000 calls, 1,200 errors)",
    "perf stat": "1.48 s elapsed; 1.25 s task-clock; 12 context-switches; 2,000,000,000 cycles; "
    "3,000,000,000 instructions; 1.50 instructions a cycle",
    "perf stat -x,": "1.25 s task-clock; 12 context-switches",
    "perf stat -j": "1.25 s task-clock; 12 context-switches",
    "perf trace": "1 s in syscalls: 99.950 % of it is `futex` (40 calls, 13 errors)",
    "bpftrace": "24,012 counts: 99.950 % of them are `shop, futex`",
    "syscount": "4.46 s in syscalls: 99.998 % of it is `futex` (24,000 calls)",
    "funccount": "984 calls: 99.7 % of them are `tcp_sendmsg`",
}


@pytest.mark.parametrize("name", FILES)
def test_the_sentence_names_what_counts_most(name: str) -> None:
    assert counts.sentence(read(FILES[name])) == SAID[name]


def test_every_number_is_kept() -> None:
    [table] = read(STRACE).tables
    assert table.rows[0] == ("futex", [4.455, 24000, 1200, 0.000185])
    assert table.rows[1] == ("epoll_wait", [0.5, 10000, None, 0.00005])
    every, first, second = read(PERF_TRACE).tables
    assert (first.title, second.title) == ("shop (71)", "shop (72)")
    assert dict(every.rows)["futex"] == [1.0, 40, 13, 0.00001, 0.025, 0.100055]
    calls, failed, buckets = read(BPFTRACE).tables
    assert (calls.title, failed.rows) == ("@calls", [("failed", [7])])
    assert (buckets.title, buckets.rows) == ("@us[read]", [("[1]", [4]), ("[2, 4)", [36])])
    assert dict(read(PERF_STAT).tables[0].rows)["task-clock (s)"] == [1.2505, 9.87]


TEN = """File: shop
Type: cpu
Showing nodes accounting for 600ms, 30.00% of 2s total
Dropped 41 nodes (cum <= 0.01s)
Showing top 2 nodes out of 57
      flat  flat%   sum%        cum   cum%
     400ms 20.00% 20.00%      400ms 20.00%  main.hash
     200ms 10.00% 30.00%        1s 50.00%  main.serve
"""


def test_what_pprof_leaves_out_of_its_table_is_part_of_the_whole() -> None:
    assert counts.sentence(read(TEN)) == "2 s in functions: 20 % of it is `main.hash`; 70 % isn't shown"
    [again] = counts.from_dict(json.loads(json.dumps(read(TEN).as_dict()))).tables
    assert again.total(0) == pytest.approx(2.0)


def test_a_function_that_only_one_table_shows_is_neither_new_nor_gone_where_the_other_leaves_some_out() -> None:
    other = TEN.replace("main.hash", "main.render").replace("200ms 10.00%", "100ms  5.00%")
    other = other.replace("600ms, 30.00%", "500ms, 25.00%")
    said = counts.compared([read(TEN), read(other)])
    assert said == "`main.serve` 200 ms → 100 ms (−50 %); in all 2 s → 2 s (0 %)"
    whole = [text.replace("600ms, 30.00%", "2s, 100%").replace("500ms, 25.00%", "2s, 100%") for text in (TEN, other)]
    assert "`main.hash` 400 ms → 0 s (−100 %)" in counts.compared([*map(read, whole)])


def test_of_a_top_ten_that_may_go_on_nothing_is_said_to_be_gone() -> None:
    rows = "".join(f"call{at:<21} {at:>8} {1000 - at:>16}.00\n" for at in range(1, 10))
    full = SYSCOUNT.replace("read                         12           100.00\n", rows)
    assert len(read(full).tables[0].rows) == 10
    assert counts.sentence(read(full)).endswith("of it is `futex` (24,000 calls); only the top 10 are in it")
    assert "top 10" not in counts.sentence(read(SYSCOUNT))  # two rows: there are no more
    other = full.replace("futex ", "write ").replace("call9 ", "call8b")
    assert "futex" not in counts.compared([read(full), read(other)])
    assert "`futex` 4.46 s → 0 s (−100 %)" in counts.compared([read(full), read(SYSCOUNT.replace("futex ", "write "))])


def test_amounts_of_any_size_are_read_and_a_difference_is_refused() -> None:
    [table] = read(PPROF_TOP.replace("42.83MB", "3PB").replace("42.33MB", "3PB")).tables
    assert table.rows[0][1] == pytest.approx([3.0 * 2**50] * 2)
    with pytest.raises(BadProfile, match="Upload both profiles"):
        read(PPROF_TOP.replace("  512.05kB", " -512.05kB"))


def test_before_and_after_are_compared() -> None:
    said = counts.compared([read(STRACE), read(CALMER)])
    assert said == "`futex` 4.46 s → 55 ms (−98.8 %); in all 5 s → 600 ms (−88 %)"
    assert counts.compared([read(STRACE), read(STRACE)]).startswith("Nothing changed")
    assert "different things" in counts.compared([read(STRACE), read(PERF_STAT)])
    faster = PERF_STAT.replace("1.481000", "0.740500")
    assert counts.compared([read(PERF_STAT), read(faster)]) == "`elapsed` 1.48 s → 740 ms (−50 %)"


@given(
    rows=st.dictionaries(
        st.from_regex(r"[a-z_]{1,12}", fullmatch=True).filter(
            lambda name: name not in {"total", "syscall", "function"}
        ),
        st.tuples(st.integers(0, 10**9), st.integers(1, 10**8), st.none() | st.integers(1, 10**8)),
        min_size=1,
        max_size=20,
    )
)
def test_what_strace_prints_is_read_as_it_is_whatever_the_numbers(
    rows: dict[str, tuple[int, int, int | None]],
) -> None:
    head, dashes = STRACE.split("\n")[:2]
    lines = [
        f"{50:6.2f} {micro / 1e6:11.6f} {1:11d} {calls:9d} {'' if errors is None else errors:>9} {name}"
        for name, (micro, calls, errors) in rows.items()
    ]
    [table] = read("\n".join([head, dashes, *lines, dashes, "100.00  1.0  1  1  total"])).tables
    assert {name: (numbers[0], numbers[1], numbers[2]) for name, numbers in table.rows} == {
        name: (micro / 1e6, calls, errors) for name, (micro, calls, errors) in rows.items()
    }
    changes = counting.merged([table, table])
    assert all(one.sides[0] == one.sides[1] for one in changes)


@pytest.mark.parametrize(
    "text", ["", "% time syscall\n", STRACE.split("\n", maxsplit=1)[0], "@: x\n", "SYSCALL COUNT\n"]
)
def test_a_table_without_rows_is_refused(text: str) -> None:
    with pytest.raises(BadProfile):
        read(text)


GERMAN = """
 Performance counter stats for 'sleep 1' (5 runs):

          1.523,52 msec task-clock           #    0,002 CPUs utilized            ( +-  0,53% )
                 1      context-switches     #  657,895 /sec
         1.234.567      cycles               #    0,812 GHz                      ( +-  1,21% )  (33,20%)
   <not supported>      instructions

       1,001829283 +- 0,000570 seconds time elapsed  ( +-  0,06% )
"""


@pytest.mark.parametrize("between", [".", "\u202f", "\u00a0", "\u2019"])
def test_counters_are_read_in_the_locale_that_they_were_printed_in(between: str) -> None:
    text = GERMAN.replace("1.523", f"1{between}523").replace("1.234.567", f"1{between}234{between}567")
    (table,) = read(text).tables
    assert table.rows == [
        ("task-clock (s)", [1.52352, 0.53]),
        ("context-switches", [1.0, None]),
        ("cycles", [1_234_567.0, 1.21]),
        ("elapsed (s)", [1.001829283, 0.06]),
    ]


COUNT_ALONE = (
    SYSCOUNT.replace("        TIME (us)", "").replace("       4455000.25", "").replace("           100.00", "")
)


@pytest.mark.parametrize("turned", [False, True])
def test_what_one_side_did_not_measure_is_not_nothing(turned: bool) -> None:
    sides = [read(STRACE), read(COUNT_ALONE)]
    said = counts.compared(sides[::-1] if turned else sides)
    assert "4.46" not in said
    assert "35,000" in said
    assert "24,012" in said


def test_tables_without_a_number_in_common_are_not_compared() -> None:
    times, calls = (counting.CountTable("a tool", "syscall", [column], [("futex", [3.0])]) for column in (
        counting.CountColumn("time", "s"), counting.CountColumn("calls")
    ))  # fmt: skip
    assert counting.compared([times, calls]) == "These count different things of the same syscalls"
    assert counting.shared([times, times]) == 0
