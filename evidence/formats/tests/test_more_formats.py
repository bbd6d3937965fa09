"""What the less common formats say besides their stacks; the laws of all formats apply to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evidence import formats
from evidence.formats.tests.more_writers import MORE, gecko
from evidence.profile.errors import BadProfile, NotRecognised
from evidence.profile.stacks import SampleType, Stacks
from evidence.tree import calltree

HEAP = b"""heap profile: 2: 1024 [5: 9216] @ heap/1048576
2: 1024 [5: 9216] @ 0x10 0x20 0x30 0x40
#\t0x1f\tmain.alloc+0x1f\t/app/main.go:5
#\t0x2f\tmain.main+0x10\t/app/main.go:9

# runtime.MemStats
# Alloc = 123456
"""
MUTEX = b"""--- mutex:
cycles/second=2000000000
sampling period=10
4000 3 @ 0x11 0x21
#\t0x10\tsync.(*Mutex).Unlock+0x65\t/go/mutex.go:65
#\t0x20\tmain.contend+0x12\t/app/main.go:7
"""
GOROUTINES = b"""goroutine profile: total 5
4 @ 0x41 0x51 0x51 0x61
# labels: {"pool":"a"}
#\t0x50\tmain.recurse+0x1\t/app/main.go:3
#\t0x50\tmain.recurse+0x1\t/app/main.go:3
#\t0x60\tmain.main+0x1\t/app/main.go:9

1 @ 0x41
"""
GPERFTOOLS = b"""heap profile:     3:     3500 [     3:     3500] @ heapprofile
     1:     1000 [     1:     1000] @ 0x44aa 0x55bb
     2:     2500 [     2:     2500] @ 0x44cc 0x55bb

MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 123 /app/shop
"""


def read(tmp_path: Path, data: bytes) -> Stacks:
    (tmp_path / "file").write_bytes(data)
    return formats.read_file(tmp_path / "file")


def folded(stacks: Stacks, type: int = -1) -> dict[str, int]:
    found: dict[str, int] = {}
    for at, value in enumerate(stacks.values[type].tolist()):
        codes = stacks.frames[stacks.offsets[at] : stacks.offsets[at + 1]].tolist()
        name = ";".join(stacks.names[code] for code in codes)
        found[name] = found.get(name, 0) + value
    return found


@pytest.mark.parametrize(
    "data",
    [
        HEAP, MUTEX, GOROUTINES, GPERFTOOLS,
        b"threadcreate profile: total 9\n9 @ 0x0 0x0\n#\t0x0\n",
        b"*version\n3\ndata-file-overflow=false\nclock=dual\n*threads\n1\tmain\n*methods\n0x0\ta.B\tc\n*end\nSLOW",
        b"CPU     ID                    FUNCTION:NAME\n  0  1 :tick-60s\n\n  libc.so.1`_write+0x15\n  12\n",
    ],
)  # fmt: skip
def test_no_text_of_others_is_taken_for_perf_script(data: bytes) -> None:
    assert "perf script" not in {one.name for one in formats.claims(data)}


def test_a_sampled_heap_is_scaled_as_pprof_does(tmp_path: Path) -> None:
    stacks = read(tmp_path, HEAP)
    assert [kind.name for kind in stacks.sample_types] == [
        "alloc_objects", "alloc_space", "inuse_objects", "inuse_space",
    ]  # fmt: skip
    # 1 / (1 - exp(-size / 512 KiB)) for an average size of 512 and of 1843.2 bytes.
    assert stacks.totals == [1_424, 2_626_050, 2_049, 1_049_088]
    assert list(folded(stacks)) == ["main.main;main.alloc"]


def test_contentions_become_nanoseconds(tmp_path: Path) -> None:
    stacks = read(tmp_path, MUTEX)
    assert [(kind.name, total) for kind, total in zip(stacks.sample_types, stacks.totals, strict=True)] == [
        ("contentions", 30),
        ("delay", 20_000),
    ]
    assert "10 times" in stacks.about["caution"]
    assert "caution" not in read(tmp_path, MUTEX.replace(b"period=10", b"period=1")).about


def test_goroutines_keep_recursion_and_what_go_hides(tmp_path: Path) -> None:
    assert folded(read(tmp_path, GOROUTINES)) == {
        "main.main;main.recurse;main.recurse;[runtime]": 4,
        "0x41": 1,
    }


def test_addresses_stand_for_themselves_where_nobody_names_them(tmp_path: Path) -> None:
    assert folded(read(tmp_path, GPERFTOOLS)) == {"0x55bb;0x44aa": 1000, "0x55bb;0x44cc": 2500}


def recorded(**thread: Any) -> dict[str, Any]:
    file: dict[str, Any] = json.loads(gecko([(("main", "0x1234"), 2), (("main", "work"), 1)]))
    file["threads"][0].update(thread)
    return file


def test_a_recording_for_firefox_tells_processes_libraries_inlining_and_time(tmp_path: Path) -> None:
    file = recorded()
    first = file["threads"][0]
    first["resourceTable"]["name"] = [len(first["stringArray"])]
    first["stringArray"].append("libshop.so")
    first["funcTable"]["resource"] = [0, 0, 0]
    first["frameTable"]["inlineDepth"] = [0, 0, 1]
    first["samples"]["threadCPUDelta"] = [5, 7]
    file["meta"]["sampleUnits"] = {"threadCPUDelta": "µs"}
    stacks = read(tmp_path, json.dumps(file).encode())
    assert folded(stacks, 0) == {"main;[libshop.so]": 2, "main;work": 1}
    assert folded(stacks, 1) == {"main;[libshop.so]": 5_000, "main;work": 7_000}
    assert dict(zip(stacks.names, stacks.hints, strict=True))["work"] == "inlined"
    second = json.loads(json.dumps(first)) | {"processName": "helper", "pid": "2"}
    both = read(tmp_path, json.dumps({**file, "threads": [first, second]}).encode())
    assert set(folded(both, 0)) >= {"app;main;work", "helper;main;work"}


@pytest.mark.parametrize("table", ["stackTable", "frameTable", "funcTable", "stringArray"])
def test_tables_may_be_shared_by_threads(tmp_path: Path, table: str) -> None:
    file = recorded()
    file["shared"] = {table: file["threads"][0].pop(table)}
    assert folded(read(tmp_path, json.dumps(file).encode())) == {"main;0x1234": 2, "main;work": 1}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"stackTable": {"frame": [0, 1], "prefix": [1, 0]}}, "cycle"),
        ({"stackTable": {"frame": [9], "prefix": [None]}}, "exist"),
        ({"stringArray": []}, "String"),
    ],
)
def test_a_recording_that_points_nowhere_is_refused(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    with pytest.raises(BadProfile, match=says) as error:
        read(tmp_path, json.dumps(recorded(**change)).encode())
    assert "threads[0]" in error.value.where


def test_samples_that_stackprof_missed_are_said(tmp_path: Path) -> None:
    file = json.loads(MORE["stackprof"]([(("main", "work"), 90)]))
    for missed, said in ((30, "30 of 120 samples were missed: what ran then isn't in it."), (0, None)):
        stacks = read(tmp_path, json.dumps({**file, "missed_samples": missed}).encode())
        assert (stacks.totals[0], stacks.about.get("caution")) == (90, said)


def test_stackprof_counts_time_and_without_stacks_says_how_to_record_them(tmp_path: Path) -> None:
    file = json.loads(MORE["stackprof"]([(("main", "work"), 3)])) | {"mode": "wall", "interval": 1000}
    stacks = read(tmp_path, json.dumps(file).encode())
    assert [kind.name for kind in stacks.sample_types] == ["samples", "wall"]
    assert stacks.totals == [3, 3_000_000]
    with pytest.raises(NotRecognised, match="raw: true"):
        read(tmp_path, json.dumps({**file, "raw": []}).encode())
    with pytest.raises(BadProfile, match="past the end"):
        read(tmp_path, json.dumps({**file, "raw": [7, 1]}).encode())


def test_kernel_and_user_stacks_of_bpftrace_are_one_stack_below_the_process(tmp_path: Path) -> None:
    text = b"Attaching 1 probe...\n\n@us[\n    vfs_read+12\n    ksys_read+0x5\n,\n    read+3\n    main+1\n, shop]: 7\n"
    assert folded(read(tmp_path, text)) == {"shop;main;read;ksys_read;vfs_read": 7}
    first = b"@[shop, \n    vfs_read+12\n    main+1\n]: 7\n"
    assert folded(read(tmp_path, first)) == {"shop;main;vfs_read": 7}


OFFCPU = b"""Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.

    finish_task_switch
    schedule
    main
    -                java (1234)
        5000123

"""


@pytest.mark.parametrize(
    ("data", "unit", "kind", "total"),
    [
        (OFFCPU, "", SampleType("off_cpu", "nanoseconds"), 5_000_123_000),
        (OFFCPU, "samples", SampleType("off_cpu", "nanoseconds"), 5_000_123_000),  # the file's own unit wins
        (OFFCPU[OFFCPU.index(b"\n") :], "", SampleType("samples", "samples"), 5_000_123),
        (OFFCPU[OFFCPU.index(b"\n") :], "microseconds", SampleType("time", "nanoseconds"), 5_000_123_000),
    ],
)
def test_times_that_bpf_counts_are_not_called_samples(
    tmp_path: Path, data: bytes, unit: str, kind: SampleType, total: int
) -> None:
    (tmp_path / "out").write_bytes(data)
    stacks = formats.read_file(tmp_path / "out", unit=unit)
    assert (stacks.sample_types, stacks.totals) == ((kind,), [total])


def test_a_dump_of_java_counts_threads_by_state(tmp_path: Path) -> None:
    text = b"""Full thread dump OpenJDK 64-Bit Server VM (17):

"main" #1 prio=5 os_prio=0 cpu=4ms tid=0x7 nid=0x5e4 in Object.wait()  [0x7]
   java.lang.Thread.State: WAITING (on object monitor)
\tat java.lang.Object.wait(java.base@17.0.1/Native Method)
\t- waiting on <0x0006> (a java.lang.Process)
\tat java.base/java.lang.Process.waitFor(Process.java:434)
\tat shop.Main.main(Main.java:3)

"GC Thread#0" os_prio=0 cpu=4ms tid=0x7 nid=0x5e5 runnable

"http-1" #12 daemon prio=5 tid=0x8 nid=0x5e6 runnable  [0x7]
   java.lang.Thread.State: RUNNABLE
\tat app//shop.Cart.total(Cart.java:3)
"""
    stacks = read(tmp_path, text * 2)
    assert folded(stacks) == {"shop.Main.main;java.lang.Process.waitFor;java.lang.Object.wait": 2, "shop.Cart.total": 2}
    assert stacks.about["labels"]["state"] == {"WAITING": [2], "RUNNABLE": [2]}
    assert stacks.about["dumps"] == 2


def test_a_backtrace_of_gdb_is_named_as_everywhere_else(tmp_path: Path) -> None:
    text = b"""Thread 2 (Thread 0x7f12 (LWP 72) "pool"):
#0  0x00007f89 in poll () from /lib/libc.so.6
#1  0x0000 in shop::Pool<int, (shop::Kind)1>::wait (this=0x0, f=...) at /src/pool.cc:7
#2  (anonymous namespace)::run (n=3) at /src/main.cc:9
#3  0x00007f90 in ?? () from /lib/libshop.so

Thread 1 (Thread 0x7f11 (LWP 71) "main"):
#0  main (argc=1) at /src/main.cc:3
"""
    assert folded(read(tmp_path, text)) == {
        "[libshop.so];(anonymous namespace)::run;shop::Pool<int, (shop::Kind)1>::wait;poll": 1,
        "main": 1,
    }


def test_the_tree_of_macos_counts_threads_and_unknown_code(tmp_path: Path) -> None:
    text = b"""Analysis of sampling shop (pid 71) every 1 millisecond
Call graph:
    90 Thread_12   DispatchQueue_1: com.apple.main-thread  (serial)
    + 90 start  (in dyld) + 1942  [0x1a0]
    +   60 -[Cart total:]  (in shop) + 24  [0x1b0,0x1b4]
    +   ! 50 ???  (in libfoo.dylib)  load address 0x1 + 0x2  [0x3]
    +   10 std::vector<int>::at(unsigned long)  (in shop) + 4  [0x1c0]
    7 Thread_13
      7 poll  (in libsystem) + 8  [0x1d0]

Total number in stack (recursive counted multiple, when >=5):
"""
    main = "Thread_12 DispatchQueue_1: com.apple.main-thread (serial);start"
    assert folded(read(tmp_path, text)) == {
        main: 20,
        f"{main};-[Cart total:]": 10,
        f"{main};-[Cart total:];[libfoo.dylib]": 50,
        f"{main};std::vector<int>::at": 10,
        "Thread_13;poll": 7,
    }
    with pytest.raises(BadProfile, match="less than those below it"):
        read(tmp_path, text.replace(b"+ 90 start", b"+ 9 start"))


def test_pyinstrument_and_memray_tell_functions_of_one_name_apart(tmp_path: Path) -> None:
    frame = {"function": "run", "file_path_short": "shop/a.py", "line_no": 1, "time": 0.5, "children": []}
    other = {**frame, "file_path_short": "shop/b.py", "time": 0.25, "class_name": None}
    root = {"function": "<module>", "file_path_short": "app.py", "line_no": 1, "time": 1.0, "children": [frame, other]}
    file = {"duration": 1.5, "sample_count": 10, "cpu_time": 0.1, "root_frame": root, "target_description": "app.py"}
    stacks = read(tmp_path, json.dumps(file).encode())
    assert folded(stacks) == {
        "<module>": 250_000_000,
        "<module>;run (shop/a.py)": 500_000_000,
        "<module>;run (shop/b.py)": 250_000_000,
    }
    assert stacks.about["duration_ns"] == 1_500_000_000
    table = "allocator,num_allocations,size,tid,thread_name,stack_trace\n"
    table += "malloc,2,2048,1,MainThread,run;shop/a.py;5|main;app.py;1\nmmap,1,512,1,MainThread,run;shop/b.py;7\n"
    assert folded(read(tmp_path, table.encode())) == {"main;run (shop/a.py)": 2048, "run (shop/b.py)": 512}


def test_what_pyinstrument_saves_of_a_session_is_read_as_what_it_prints(tmp_path: Path) -> None:
    frames = ["<module>\0app.py\x001\x01l18", "row\0shop/repo.py\x005\x01cRepo\x01l6", "len\0<built-in>\x000"]
    records = [[frames, 0.25], [frames[:2], 0.5], [[frames[0], "[await]"], 0.125]]
    file = {"duration": 1.0, "sample_count": 3, "start_call_stack": [], "cpu_time": 0.1, "frame_records": records}
    stacks = read(tmp_path, json.dumps(file).encode())
    assert folded(stacks) == {
        "<module>;Repo.row;len": 250_000_000,
        "<module>;Repo.row": 500_000_000,
        "<module>;[await]": 125_000_000,
    }


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ('[["main"], -0.5]', "negative time"),
        ('[["main"]]', "A sample is its frames and its time"),
        ("[[7], 0.5]", "Expected a text"),
        ('[["main"], 1e30]', "fit in 63 bits"),
    ],
)
def test_a_session_of_pyinstrument_that_breaks_its_rules_is_refused(tmp_path: Path, record: str, says: str) -> None:
    file = f'{{"duration": 1, "sample_count": 1, "start_call_stack": [], "cpu_time": 1, "frame_records": [{record}]}}'
    with pytest.raises(BadProfile, match=says) as error:
        read(tmp_path, file.encode())
    assert error.value.where.startswith("frame_records[0]")


def test_a_file_of_pyinstrument_with_neither_frames_nor_samples_is_not_called_empty(tmp_path: Path) -> None:
    with pytest.raises(BadProfile, match="neither a root frame nor recorded frames"):
        read(tmp_path, b'{"duration": 1.5, "sample_count": 10, "cpu_time": 0.1}')
    assert read(tmp_path, b'{"duration": 1.5, "sample_count": 0, "cpu_time": 0.1, "root_frame": null}').totals == [0]


INLINED = b"""heap profile: 1: 64 [1: 64] @ heap/2
1: 64 [1: 64] @ 0x116 0x115 0x115 0x2b8
#\t0x115\tregexp.(*Regexp).MatchString+0x5\t/go/regexp.go:507
#\t0x114\tmain.work+0x4\t/app/main.go:61
#\t0x114\tmain.work+0x4\t/app/main.go:61
#\t0x2b7\tmain.main+0x7\t/app/main.go:95

"""


def test_an_inlined_function_of_go_does_not_stand_in_for_the_one_around_it(tmp_path: Path) -> None:
    inner = "main.main;main.work;main.work;regexp.(*Regexp).MatchString"
    assert folded(read(tmp_path, INLINED)) == {inner: 64}


STACK = [{"display_name": name, "filename_or_module": "app.py", "line": 4} for name in ("main", "work")]
SCALENE = {
    "alloc_samples": 0, "args": ["app.py"], "async_profile": True, "combined_stacks": [[STACK, 1]] * 700,
    "combined_stacks_timeline": [], "elapsed_time_sec": 2.5, "files": {}, "growth_rate": 0.0, "max_footprint_mb": 1.0,
}  # fmt: skip


def test_scalene_is_told_however_many_stacks_come_before_what_passed(tmp_path: Path) -> None:
    data = json.dumps(SCALENE).encode()
    assert data.index(b"elapsed_time_sec") > formats.HEAD
    assert read(tmp_path, data).totals == [700]


def test_how_much_was_counted_is_exact_over_all_types() -> None:
    for write in MORE.values():
        data = write([(("main", "work"), 7), (("main",), 2)])
        module = formats.sniff(data[: formats.HEAD])
        assert module
        tree = calltree.build(module.read(data))
        assert 9 in [tree.total(type) for type in range(len(tree.sample_types))]


RAW = b"""PeriodType: space bytes
Period: 1
Samples:
alloc_space/bytes
    5242880: 1 2
   %s: 3 2
Locations
     1: 0x1f main.grew /app/main.go:7:0 s=0
     2: 0x2f main.main /app/main.go:9:0 s=0
     3: 0x3f main.shrank /app/main.go:8:0 s=0
Mappings
"""
TRACED = b"""File: shop
Type: alloc_space
-----------+-------------------------------------------------------
       3TB   main.grew
             main.main
-----------+-------------------------------------------------------
      %s   main.shrank
             main.main
-----------+-------------------------------------------------------
"""


def test_a_difference_that_pprof_prints_is_refused_and_never_read_as_what_grew_alone(tmp_path: Path) -> None:
    for text, less, more in ((RAW, b"-3145728", b"3145728"), (TRACED, b"-3GB", b"5GB")):
        with pytest.raises(BadProfile, match="a difference of two profiles"):
            read(tmp_path, text % less)
        assert calltree.build(read(tmp_path, text % more)).total() in {8 << 20, (3 << 40) + (5 << 30)}
