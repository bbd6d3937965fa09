"""perf script text in all its forms: separate events, tidied names, skipped lines counted."""

from __future__ import annotations

import pytest

from evidence.formats.folded import folded
from evidence.formats.perf import perf_script
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.stacks import SampleType, Stacks


def folds(text: str, type: int | None = None) -> dict[str, int]:
    """Read text and return one sample type as stack -> value, without zeros."""
    return folds_of(perf_script.read(text.encode()), type)


def folds_of(stacks: Stacks, type: int | None = None) -> dict[str, int]:
    """Return one sample type as stack -> value, without zeros."""
    ends = stacks.offsets.tolist()
    values = stacks.values[stacks.default_type if type is None else type].tolist()
    return {
        ";".join(stacks.names[code] for code in stacks.frames[low:high]): value
        for low, high, value in zip(ends, ends[1:], values, strict=False)
        if value
    }


def one(*frames: str, header: str = "app 7 1.000001: 250000 cpu-clock: ") -> str:
    """Write one sample."""
    return "".join([header, "\n", *(f"\t{frame}\n" for frame in frames), "\n"])


def test_a_sample_is_weighted_by_its_period_and_counted_beside() -> None:
    text = one("401136 inner+0x1f (/srv/app)", "401200 main+0x2 (/srv/app)") * 3
    stacks = perf_script.read(text.encode())
    assert stacks.sample_types == (SampleType("cpu-clock", "nanoseconds"), SampleType("samples", "samples"))
    assert stacks.totals == [750_000, 3]
    assert folds(text) == {"app;main;inner": 750_000}


def test_without_periods_samples_are_counted() -> None:
    stacks = perf_script.read(one("1 main (/a)", header="app 7 [001] 1.5: cycles: ").encode())
    assert stacks.sample_types == (SampleType("cycles", "samples"),)
    assert stacks.totals == [1]


def test_events_of_a_hybrid_processor_stay_apart() -> None:
    text = one("1a main (/a)", header="app 7 1.5: 900 cpu_core/cycles/P: ")
    text += one("1a main (/a)", header="app 7 1.6: 50 cpu_atom/cycles/P: ")
    text += one("1b idle (/a)", header="app 7 1.7: 60 cpu_atom/cycles/P: ")
    stacks = perf_script.read(text.encode())
    assert [kind.name for kind in stacks.sample_types] == [
        "cpu_core/cycles/P", "cpu_core/cycles/P samples", "cpu_atom/cycles/P", "cpu_atom/cycles/P samples",
    ]  # fmt: skip
    assert stacks.totals == [900, 1, 110, 2]
    assert folds_of(stacks, 0) == {"app;main": 900}
    assert folds_of(stacks, 3) == {"app;main": 1, "app;idle": 1}


def test_the_default_is_the_first_event_that_counts_a_processors_work() -> None:
    text = one("1a main (/a)", header="app 7 1.5: 1 page-faults: ") + one("1a main (/a)")
    stacks = perf_script.read(text.encode())
    assert stacks.sample_types[stacks.default_type] == SampleType("cpu-clock", "nanoseconds")


@pytest.mark.parametrize(
    ("header", "comm"),
    [
        ("java 25607 4794564.109216: cycles:", "java"),
        ("java 12688 [002] 6544038.708352: cpu-clock:", "java"),
        ("V8 WorkerThread 24636/25607 [000] 94564.109216: cycles: ", "V8 WorkerThread"),
        ("    my 2 thing 913 72.176760: 257597 cycles:uppp: ", "my 2 thing"),
        (":-1 -1 [000] 3.1: 1 cpu-clock:", ":-1"),
        ("swapper     0 [012] 2281339.604067:   20834821 cycles:", "swapper"),
        ("kworker/u8:2-ev 45 [001] 10.5: 1 cycles:P: ", "kworker/u8:2-ev"),
        ("java 24636/25607 cycles: ", "java"),
        ("java 24636 ", "java"),
        ("java", "java"),
        ("app 7 [001] 1.5: sched:sched_switch: prev_comm=app prev_pid=7 ==> next_comm=x (more)", "app"),
        ("app 7 1.5: probe:tcp_sendmsg: (ffffffff8133b7a0) arg=3", "app"),
    ],
)
def test_a_header_of_any_shape_names_its_thread(header: str, comm: str) -> None:
    text = one("1a main (/a)", header=header) * 2
    assert perf_script.claim(text.encode())
    stacks = perf_script.read(text.encode())
    assert list(folds_of(stacks)) == [f"{comm};main"]
    assert stacks.about["threads"] == {comm: 2}
    assert "skipped" not in stacks.about


@pytest.mark.parametrize(
    ("frame", "name", "hint"),
    [
        ("ffffffff8103ce3b native_safe_halt ([kernel.kallsyms])", "native_safe_halt", "kernel"),
        ("ffffffff81aebbfe start_kernel ([kernel.kallsyms].init.text)", "start_kernel", "kernel"),
        ("8c3453 tcp_sendmsg (/lib/modules/6.1/build/vmlinux)", "tcp_sendmsg", "kernel"),
        ("8c3453 tcp_sendmsg (/usr/lib/debug/boot/vmlinux-6.1.0)", "tcp_sendmsg", "kernel"),
        ("ffffffffc087cbc9 mlx_handle+0xa9 (/lib/modules/6.1/kernel/net/mlx.ko.xz)", "mlx_handle", "kernel"),
        ("7d8 conntrack+0x7f8 ([nf_conntrack])", "conntrack", "kernel"),
        ("7ffd clock_gettime+0x1 ([vdso])", "clock_gettime", ""),
        ("7f72 Interpreter+0x17 (/tmp/perf-19.map)", "Interpreter", "interpreted"),
        ("7f72 Ljava/io/PrintStream;::print (/tmp/perf-19982.map)", "java/io/PrintStream:::print", "jit"),
        ("f719 fib.smx::fib+0x3c (/tmp/jitted-31714-4145673320.so)", "fib.smx::fib", "jit"),
        ("7f00 py::work:/srv/work.py (/tmp/perf-3.map)", "py::work:/srv/work.py", ""),
        ("1160 in2+0x27 (inlined)", "in2", "inlined"),
        ("273b net/http.(*conn).serve+0x6e (/srv/shop)", "net/http.(*conn).serve", ""),
        ("1 (anonymous namespace)::f(int)::g(char)+0x1 (/a)", "(anonymous namespace)::f", ""),
        ("1 ns::(anonymous namespace)::f(int) const+0x1 (/a)", "ns::(anonymous namespace)::f", ""),
        ("1 std::function<int (int)>::operator()(int) const+0x1 (/a)", "std::function<int (int)>::operator()", ""),
        ("1 A::operator->() const (/a)", "A::operator->", ""),
        ("1 core::fmt::write::h0123456789abcdef+0x1 (/a)", "core::fmt::write", ""),
        ("1 _ZN4core3fmt5write17h0123456789abcdefE+0x1 (/a)", "core::fmt::write", ""),
        ("1 _$LT$T$u20$as$u20$std..io..Read$GT$::read (/a)", "<T as std::io::Read>::read", ""),
        ("1 a;b+0x1 (/a)", "a:b", ""),
        ("7f33 [unknown] (/usr/lib/libc-2.31.so)", "[libc-2.31.so]", ""),
        ("7f33 [unknown] ([unknown])", "[unknown]", ""),
        ("7f33  (/usr/lib/libc-2.31.so)", "[libc-2.31.so]", ""),
        ("7f33 [unknown] (/memfd:doublemapper (deleted))", "[memfd:doublemapper]", "jit"),
        ("ffff [unknown] ([kernel.kallsyms])", "[kernel.kallsyms]", "kernel"),
        ("1 sync.Once[go.shape.func(int)].f+0x1 (/a)", "sync.Once[go.shape.func(int)].f", ""),
        ("1 ns::f[abi:cxx11](int) (/a)", "ns::f[abi:cxx11]", ""),
        ("1 std::vector<int>::operator[](unsigned long)+0x1 (/a)", "std::vector<int>::operator[]", ""),
        ("1153 main", "main", ""),
    ],
)
def test_a_frame_is_named_for_people(frame: str, name: str, hint: str) -> None:
    stacks = perf_script.read(one(frame).encode())
    assert stacks.names[stacks.frames[1]] == name
    assert stacks.hints[stacks.frames[1]] == hint


@pytest.mark.parametrize("kind", ["JS", "LazyCompile", "Function"])
def test_what_v8_compiled_anew_is_the_same_function(kind: str) -> None:
    """An interpreted function is compiled once it is hot, by one compiler after the other."""
    each = [f"{at}5c0 {kind}:{tier}order file:///srv/shop.mjs:7:21 (/tmp/perf-7.map)" for at, tier in enumerate("~^+*")]
    assert folds("".join(map(one, each))) == {f"app;{kind}:order file:///srv/shop.mjs:7:21": 1_000_000}
    nameless = one(f"5c0 {kind}:* file:///srv/shop.mjs:1:1 (/tmp/perf-7.map)")
    assert folds(nameless) == {f"app;{kind}: file:///srv/shop.mjs:1:1": 250_000}


def test_what_java_inlined_follows_its_caller() -> None:
    stacks = perf_script.read(one("7f89 La/A;::x->La/B;::y->La/C;::z+0x4b (/tmp/perf-1.map)").encode())
    assert folds_of(stacks) == {"app;a/A:::x;a/B:::y;a/C:::z": 250_000}
    hints = dict(zip(stacks.names, stacks.hints, strict=True))
    assert hints == {"app": "", "a/A:::x": "jit", "a/B:::y": "inlined", "a/C:::z": "inlined"}


def test_a_name_of_kernel_and_user_code_alike_has_no_hint() -> None:
    text = one("1 memset (/a)") + one("ffff memset ([kernel.kallsyms])")
    stacks = perf_script.read(text.encode())
    assert stacks.hints[stacks.names.index("memset")] == ""


def test_what_runs_when_nothing_does_is_kept_and_said() -> None:
    stacks = perf_script.read(one("ff halt ([kernel.kallsyms])", header="swapper 0 [000] 1.5: cycles:").encode())
    assert stacks.hints[stacks.names.index("swapper")] == "idle"


def test_samples_without_stacks_are_one_frame_deep() -> None:
    text = "  false 39654 19115.489713:  1 cycles:u:  ffffffff9b201293 [unknown] ([unknown])\n"
    text += "  false 39654 19115.489719:  1 cycles:u:      7fa68b1f2d84 _dl_start+0x4 (/usr/lib/ld-2.31.so)\n"
    assert perf_script.claim(text.encode())
    assert folds(text) == {"false;[unknown]": 1, "false;_dl_start": 1}


def test_tracepoints_without_stacks_count_for_their_thread() -> None:
    text = " swapper 0 [000] 12.4: sched:sched_switch: prev_comm=swapper\n app 7 [001] 12.5: sched:sched_switch: x\n"
    assert perf_script.claim(text.encode())
    assert folds(text) == {"swapper": 1, "app": 1}


def test_source_lines_comments_and_other_records_are_no_frames() -> None:
    text = "# ========\n# cmdline : /usr/bin/perf record -g ./burn \n#\n"
    text += "burn 5651 12.3: 2000000 cpu-clock: \n\t 1153 inner+0x1a (/a/burn)\n  burn.c:2\n"
    text += "\t 119b main+0x1c (/a/burn)\n  burn.c:4\n\n"
    text += "burn 5651 12.4: PERF_RECORD_COMM: burn:5651/5651\n"
    stacks = perf_script.read(text.encode())
    assert folds_of(stacks) == {"burn;main;inner": 2_000_000}
    assert stacks.about["command"] == "/usr/bin/perf record -g ./burn"
    assert "skipped" not in stacks.about


def test_windows_line_ends_change_nothing() -> None:
    text = one("1 inner (/a)", "2 main (/a)") * 2
    assert folds(text.replace("\n", "\r\n")) == folds(text)


def test_a_tab_may_follow_the_address_as_simpleperf_writes_it() -> None:
    text = "app\t7/8 [003] 1.000005:\t\t250000 cpu-cycles:\n"
    text += "\t      7a10\tart::Work::Run() (/system/lib64/libart.so)\n\t      1b\tmain (/data/app)\n\n"
    assert folds(text) == {"app;main;art::Work::Run": 250_000}
    assert perf_script.claim(text.encode())


def test_an_address_of_letters_alone_is_one_where_perf_puts_addresses() -> None:
    frames = "".join(f"\t{address:>16} {name}\n" for address, name in (("1f", "inner"), ("cadbb", "main.work")))
    stacks = perf_script.read(f"shop 7 1.5: cycles: \n{frames}\n{'cafe bar':>16} 8 1.6: cycles: \n\t  1 x\n\n".encode())
    assert folds_of(stacks) == {"shop;main.work;inner": 1, "cafe bar;x": 1}
    assert not stacks.about.get("skipped")


def test_a_blank_line_ends_a_stack_and_what_follows_is_skipped() -> None:
    text = one("1 inner (/a)", "2 main (/a)").replace("inner (/a)\n", "inner (/a)\n\n") + one("1 main (/a)")
    stacks = perf_script.read(text.encode())
    assert folds_of(stacks) == {"app;inner": 250_000, "app;main": 250_000}
    assert [kind.name for kind in stacks.sample_types] == [
        kind.name for kind in perf_script.read(one("1 main (/a)").encode()).sample_types
    ]
    assert stacks.about["skipped_at"] == [[4, "2 main (/a)"]]


def test_lines_that_say_nothing_are_counted_with_their_numbers() -> None:
    text = one("1 main (/a)", "THIS_IS_ODD") * 2 + "?\n\n" + one("1 main (/a)")
    stacks = perf_script.read(text.encode())
    assert folds_of(stacks) == {"app;main": 750_000}
    assert stacks.about["skipped"] == 3
    assert stacks.about["skipped_at"] == [[3, "THIS_IS_ODD"], [7, "THIS_IS_ODD"], [9, "?"]]


def test_a_sample_that_the_end_cuts_off_is_left_out() -> None:
    whole = one("1 main (/a)")
    cut = whole + one("1 inner (/a)", "2 main (/a)")[:-6]
    stacks = perf_script.read(cut.encode())
    assert folds_of(stacks) == {"app;main": 250_000}
    assert stacks.about["skipped"] == 3
    assert stacks.about["skipped_at"][0][0] == 4


def test_a_last_blank_line_may_be_missing() -> None:
    assert folds(one("1 main (/a)").rstrip("\n")) == {"app;main": 250_000}


def test_pieces_of_any_size_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(one(f"{n} f{n % 7} (/a)", "2 main (/a)") for n in range(300)) + "odd\n\n" + one("1 last (/a)")
    whole = perf_script.read(text.encode())
    for size in (90, 150, 1000, 4096):
        monkeypatch.setattr(perf_script, "CHUNK", size)
        pieces = perf_script.read(text.encode())
        assert folds_of(pieces) == folds_of(whole)
        assert pieces.about == whole.about


def test_how_long_it_took_is_told_by_the_clock() -> None:
    text = one("1 main (/a)", header="app 7 10.5: cycles: ") + one("1 main (/a)", header="app 7 12.75: cycles: ")
    assert perf_script.read(text.encode()).about["duration_ns"] == 2_250_000_000


def test_more_events_than_columns_count_together() -> None:
    text = "".join(one("1 main (/a)", header=f"app 7 1.5: syscalls:sys_enter_{n}: x") for n in range(9))
    stacks = perf_script.read(text.encode(), limits=Limits(sample_types=6))
    assert [kind.name for kind in stacks.sample_types][-1] == "other events"
    assert stacks.totals == [1, 1, 7]


def test_what_passes_the_limits_is_refused() -> None:
    deep = one(*(f"{n:x} f{n} (/a)" for n in range(200)))
    for limits in (Limits(depth=100), Limits(names=50), Limits(frames=50)):
        with pytest.raises(TooMuch) as caught:
            perf_script.read(one("1 main (/a)").encode() + deep.encode(), limits=limits)
        assert caught.value.where == "line 4"
    with pytest.raises(BadProfile, match="63 bits"):
        perf_script.read((one("1 main (/a)", header=f"a 7 1.5: {10**18 - 1} cycles: ") * 10).encode())


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "main;serve;hash 61\n", "a;b 1 2\n", "1 2 3\n", '{"a": 1}'])
def test_other_text_is_not_taken_for_it(text: str) -> None:
    assert not perf_script.claim(text.encode())


def test_folded_text_is_not_taken_for_it_nor_it_for_folded_text() -> None:
    text = one("1 main (/a)") * 3
    assert perf_script.claim(text.encode())
    assert not folded.claim(text.encode()) or list(perf_script.read(text.encode()).names)


def test_nothing_to_read_is_said() -> None:
    with pytest.raises(BadProfile, match="No sample"):
        perf_script.read(b"nothing of the kind\n\nhere\n")
