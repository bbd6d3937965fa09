"""The sentence and the guards of a profile, by tables."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.analysis import dominant, guards, sentence
from evidence.formats.folded import folded
from evidence.formats.jfr import jfr
from evidence.formats.perf import perf_script
from evidence.formats.tests.written_jfr import recording
from evidence.profile import amounts
from evidence.profile.stacks import SampleType
from evidence.tree import calltree
from evidence.tree.calltree import CallTree


def tree_of(text: str, *, name: str = "samples", unit: str = "samples", **about: object) -> CallTree:
    stacks = folded.read(text.encode())
    stacks.sample_types = (SampleType(name, unit),)
    stacks.about = {**stacks.about, **about}
    return calltree.build(stacks)


SAID = [
    # A path is followed while it keeps half of its start; the application's deepest function is named.
    (
        "main;run_gossip;join_peers;connect;handshake 15\nmain;run_gossip;join_peers;connect 20\nmain;idle 65\n",
        "35 % of samples pass through `connect` (self 20 %), called from `join_peers`.",
    ),
    # What an application is built on is how it costs, and not where.
    (
        "main;checkout::price;core::slice::sort;memcpy 61\nmain;checkout::render 39\n",
        "61 % of samples pass through `checkout::price` (self 0 %); 61 % end in `memcpy`.",
    ),
    (
        (
            "main;vmm::dump;ext4_write_[k];ext4_map_[k] 25\nmain;vmm::dump;do_fsync_[k] 20\n"
            "main;vmm::dump;wait_[k] 16\nmain;vmm::other 39\n"
        ),
        "61 % of samples pass through `vmm::dump` (self 0 %); 61 % in the kernel.",
    ),
    # A sample counts once however often a function recurs on its stack.
    (
        "main;walk;walk;walk 60\nmain;rest 40\n",
        "60 % of samples pass through `walk` (self 60 %).",
    ),
    # Called from many places: the function that all of them have in common.
    (
        "".join(f"main;caller_{n};encode 4\nmain;caller_{n} 6\n" for n in range(10)),
        "40 % of samples pass through `encode` (self 40 %).",
    ),
    # Where the path branches: the two largest branches that have a name and a tenth of it.
    (
        "main;work;parse 20\nmain;work;load;read 22\nmain;work;render 13\nmain;x 15\nmain;y 15\nmain;z 15\n",
        "55 % of samples pass through `work` (self 0 %); below it, 22 % in `load` and 20 % in `parse`.",
    ),
    (
        "main;work;[unknown] 20\nmain;work;work;load 10\nmain;work;parse 20\nmain;work;small 5\nmain;x 45\n",
        "55 % of samples pass through `work` (self 0 %); below it, 20 % in `parse`.",
    ),
    ("main;" + ";".join(["f"] * 3) + " 0\n", "It's empty: no samples at all."),
    (
        "".join(f"main;handler_{n} 1\n" for n in range(100)),
        "No single function stands out: apart from what nearly everything passes, none has 2 % of samples.",
    ),
    ("".join(f"handler_{n} 1\n" for n in range(100)), "No single function stands out: none has 2 % of samples."),
    # The path ends before its callees are too little to be worth a sentence.
    (
        "(idle) 897\n(garbage collector) 40\n"
        + "".join(f"read_{n} 8\n" for n in range(5))
        + "serve 5\nserve;parse 18\n",
        "2.3 % of samples pass through `serve` (self 0.5 %); 1.8 % end in `parse`.",
    ),
    # py-spy's native frames: the interpreter, the C library and addresses in them are how, and not where.
    (
        (
            "0x7f06c004524a (libc.so.6);run (w.py:11);sleep (libpython3.11.so.1.0);clock_nanosleep (libc.so.6) 41\n"
            "0x7f06c004524a (libc.so.6);run (w.py:11);work (w.py:4) 30\n"
            "0x7f06c004524a (libc.so.6);load (w.py:6) 29\n"
        ),
        "71 % of samples pass through `run (w.py:11)` (self 0 %); 41 % end in `clock_nanosleep (libc.so.6)`.",
    ),
    # Every wait ends in the scheduler, which `offcputime -f` does not mark as the kernel's.
    (
        (
            "vmm;run;save_state;fsync;entry_SYSCALL_64_after_hwframe;do_syscall_64;__x64_sys_fsync;io_schedule;schedule;"
            "finish_task_switch.isra.0 70\nvmm;run;poll;schedule;finish_task_switch.isra.0 30\n"
        ),
        (
            "70 % of samples pass through `fsync` (self 0 %), called from `save_state`; "
            "70 % end in `finish_task_switch.isra.0`."
        ),
    ),
    # Idle time is no cost, even if all the rest is what programs are built on.
    ("swapper;do_idle 80\nmain;memcpy 20\n", "20 % of samples pass through `memcpy` (self 20 %)."),
    ("(idle) 90\nmain 10\n", "10 % of samples pass through `main` (self 10 %)."),
    (
        "(idle) 90\n",
        (
            "No single function stands out: apart from what nearly everything passes and what is idle, "
            "none has 2 % of samples."
        ),
    ),
    # If nothing belongs to the application, what it's built on is named.
    (
        "a_[k] 40\nb_[k] 30\nc_[k] 30\n",
        "40 % of samples pass through `a_[k]` (self 40 %).",
    ),
]


@pytest.mark.parametrize(("text", "said"), SAID)
def test_the_sentence_names_what_somebody_can_change(text: str, said: str) -> None:
    assert sentence.of(tree_of(text)).text == said


FLAT = re.compile(
    r"No single function stands out: (?:apart from (what nearly everything passes)?(?: and )?(what is idle)?, )?none "
)
NAMES = ["main", "serve", "parse", "a_[k]", "b_[k]", "runtime.mallocgc", "(idle)", "[unknown]", "memcpy"]
STACKS = st.lists(st.tuples(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), st.integers(1, 99)), min_size=1)
TAILS = st.integers(0, 60)


@given(STACKS, TAILS)
def test_what_is_said_of_any_profile_is_so(samples: list[tuple[list[str], int]], tail: int) -> None:
    lines = [f"{';'.join(stack)} {value}\n" for stack, value in samples] + [f"tail_{n} 20\n" for n in range(tail)]
    tree = tree_of("".join(lines))
    said, shares = sentence.of(tree), tree.function_totals[0] / tree.total(0)
    if flat := FLAT.match(said.text):
        left = [
            share
            for name, share in zip(tree.names, shares.tolist(), strict=True)
            if not (flat[1] and share >= dominant.NEARLY_ALL) and not (flat[2] and name == "(idle)")
        ]
        assert max(left, default=0) < dominant.WORTH
    else:
        assert said.share == shares[tree.by_name[said.function]] >= dominant.WORTH


def test_no_function_is_called_from_a_thread_or_a_process() -> None:
    for root in ("thread (21357): MainThread", "thread (0x7F3A): waiter", 'process 71:"python app.py"'):
        said = sentence.of(tree_of(f"{root};render (app.py:8) 70\n{root};other (app.py:9) 30\n"))
        assert said.text == "70 % of samples pass through `render (app.py:8)` (self 70 %)."
    perf = "shop 7 1.5: cycles: \n\t 1 price (/shop)\n\n" * 7 + "shop 7 1.5: cycles: \n\t 2 other (/shop)\n\n" * 3
    assert sentence.of(calltree.build(perf_script.read(perf.encode()))).caller == ""


COUNTED = [
    ("sched:sched_switch", "samples", "61 % of sched:sched_switch samples pass through `hash`"),
    ("samples", "thousandths of samples", "61 % of samples pass through `hash`"),
    ("cpu", "nanoseconds", "61 % of CPU time is spent in `hash`"),
    ("cpu-clock:pppH", "samples", "61 % of CPU samples pass through `hash`"),
    ("cpu_atom/cycles/P", "events", "61 % of CPU cycles of cpu_atom pass through `hash`"),
    ("alloc_space", "bytes", "61 % of allocated bytes pass through `hash`"),
    ("inuse_objects", "objects", "61 % of objects in use pass through `hash`"),
    ("off_cpu", "nanoseconds", "61 % of off-CPU time is spent in `hash`"),
    ("delay", "nanoseconds", "61 % of wait time is spent in `hash`"),  # Go's: for locks, or for channels too
    ("goroutine", "goroutines", "61 % of goroutines pass through `hash`"),
]


@pytest.mark.parametrize(("name", "unit", "begins"), COUNTED)
def test_what_is_counted_is_called_by_its_name(name: str, unit: str, begins: str) -> None:
    said = sentence.of(tree_of("main;price;hash 61\nmain;rest 39\n", name=name, unit=unit))
    assert said.text.startswith(begins)
    assert (said.function, said.share) == ("hash", 0.61)


def test_one_is_warned_of_few_samples() -> None:
    assert "Only 61 samples, so percentages are rough." in sentence.of(tree_of("main;work 61\n")).guards


@given(STACKS)
def test_of_a_few_samples_a_sentence_says_what_the_table_does(samples: list[tuple[list[str], int]]) -> None:
    few = [(stack, 1 + value % 7) for stack, value in samples[:14]]
    tree = tree_of("".join(f"{';'.join(stack)} {value}\n" for stack, value in few))
    said = sentence.of(tree)
    assert guards.is_rough(tree, 0)
    assert not re.search(r"\d\.\d+ %|under", said.text)
    if said.function:
        assert f"{amounts.rough(said.share)} of" in said.text
        assert f"(self {amounts.rough(said.self_share)})" in said.text


def test_one_is_warned_when_the_process_that_matters_has_next_to_none() -> None:
    tree = tree_of("firecracker;main 1\nrustc;main;compile 700\nswapper;do_idle 703\n")
    guards = sentence.of(tree, subject="Pausing firecracker takes longer").guards
    assert guards[0] == "Only 1 of 1,404 samples is of `firecracker`: too few to trust."
    assert guards[1] == "50 % of it is idle. Hide idle frames to see the rest."
    assert not any("firecracker" in one for one in sentence.of(tree, subject="The build is slow").guards)


def test_one_is_warned_when_a_cpu_profile_explains_little_of_the_time() -> None:
    text = "main;work 400000000\n"
    (guard,) = sentence.of(tree_of(text, name="cpu", unit="nanoseconds", duration_ns=10_000_000_000)).guards
    assert guard.startswith("It explains 4 % of the elapsed time")
    assert not sentence.of(tree_of(text, name="cpu", unit="nanoseconds", duration_ns=500_000_000)).guards


def test_hot_functions_leave_out_plumbing_and_what_everything_passes() -> None:
    tree = tree_of("main;serve;price;memcpy 61\nmain;serve;render 38\nmain;serve;rare 1\n")
    assert [one["name"] for one in dominant.hot(tree)] == ["price", "render"]


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.61, "61 %"), (0.0994, "9.9 %"), (0.1, "10 %"), (0.00004, "under 0.1 %"), (0, "0 %"), (1, "100 %")],
)
def test_a_share_is_written_as_people_read_it(share: float, said: str) -> None:
    assert amounts.percent(share) == said


def test_almost_all_begins_a_sentence_as_sentences_begin() -> None:
    said = sentence.of(tree_of("main;work 99999\nmain;rest 1\n"))
    assert said.text == "Over 99.9 % of samples pass through `work` (self over 99.9 %)."
    (warned,) = guards.of(tree_of("(idle) 99999\nmain 1\n"), 0)
    assert warned.startswith("Over 99.9 % of it is idle.")


def test_totals_beyond_what_a_float_holds_stay_exact() -> None:
    tree = tree_of(f"main;a {2**53 + 1}\nmain;b {2**53 + 1}\n")
    assert tree.total(0) == 2 * (2**53 + 1)
    assert int(tree.function_totals.max()) == 2 * (2**53 + 1)
    assert tree.function_totals.dtype == np.int64 or tree.function_totals.dtype == np.uint64


@pytest.mark.parametrize(
    ("part", "words", "moved"),
    [
        (0, "0 %", "±0 pp"),
        (0.0556, "6 %", "+6 pp"),
        (1, "100 %", "+100 pp"),
        (0.001, "< 1 %", "< 1 pp"),
        (-0.556, "56 %", "−56 pp"),
    ],
)
def test_shares_of_a_few_samples_are_whole(part: float, words: str, moved: str) -> None:
    assert (amounts.rough(part), amounts.points(part, is_rough=True)) == (words, moved)


@pytest.mark.parametrize(
    ("name", "unit", "says"),
    [
        ("samples", "samples", ["Only 18 samples, so percentages are rough."]),
        ("count", "events", ["Only 18 events, so percentages are rough."]),  # speedscope's samples without a unit
        ("Ir", "events", []),  # counted one by one, and exact
        ("time", "nanoseconds", []),
    ],
)
def test_few_samples_are_warned_of_whatever_a_file_calls_them(name: str, unit: str, says: list[str]) -> None:
    assert [*guards.of(tree_of("main;serve 11\nmain;pay 7\n", name=name, unit=unit), 0)] == says


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0, "nanoseconds", "0 s"),
        (-1, "nanoseconds", "-1 ns"),
        (999, "nanoseconds", "999 ns"),
        (3_300_000_000, "nanoseconds", "3.30 s"),
        (0, "bytes", "0 B"),
        (1, "samples", "1 sample"),
    ],
)
def test_an_amount_is_said_in_its_largest_unit_and_no_time_in_seconds(value: int, unit: str, said: str) -> None:
    assert amounts.amount(value, unit) == said


@pytest.mark.parametrize("name", ["sync.(*Mutex).Unlock", "sync.(*RWMutex).RUnlock", "runtime.unlock"])
def test_a_wait_that_is_charged_to_who_held_the_lock_is_not_said_to_be_theirs(name: str) -> None:
    """Go's mutex profile has the stack that released the lock, its block profile the one that waited for it."""
    held = sentence.of(tree_of(f"main;shop.Save;{name} 80000\nmain;rest 20000\n", name="delay", unit="nanoseconds"))
    assert held.text.startswith("80 % of wait time is for locks held in `shop.Save`")
    assert held.guards == (
        "These are stacks that released a lock others waited for. Who waited is in a block profile.",
    )
    lock = "main;shop.Save;sync.(*Mutex).Lock 80000\nmain;rest 20000\n"
    waited = sentence.of(tree_of(lock, name="delay", unit="nanoseconds"))
    assert waited.text.startswith("80 % of wait time is spent in `shop.Save`")
    assert waited.guards == ()


def test_few_contentions_of_go_are_said_to_be_rough() -> None:
    stacks = folded.read(b"main;shop.Save;sync.(*Mutex).Unlock 61 61000\nmain;rest 8 9000\n")
    stacks.sample_types = (SampleType("contentions", "contentions"), SampleType("delay", "nanoseconds"))
    for type, begins in enumerate(("88 % of contentions are for locks held", "87 % of wait time is for locks held")):
        said = sentence.of(calltree.build(stacks), type=type)
        assert said.text.startswith(begins)
        assert said.guards[0] == "Only 69 contentions, so percentages are rough."


ROUGH = ", so percentages are rough."


@pytest.mark.parametrize(
    ("parked", "says"),
    [
        ([("main", "wait", 700_000_000)] * 2, {"cpu": [], "park": [f"Only 2 contentions{ROUGH}"]}),
        ([("main", "wait", 7_000_000)] * 120, {"cpu": [], "park": []}),
    ],
)
def test_few_samples_are_those_of_what_is_told_and_not_of_something_else_in_the_file(
    parked: list[tuple[str, str, int]], says: dict[str, list[str]]
) -> None:
    burnt, waited = [(("main", "work"), 1)] * 150, [((one, two), value) for one, two, value in parked]
    for samples in (burnt, burnt[:3]):
        tree = calltree.build(jfr.read(recording(samples) + recording(waited, kind=22, hertz=1_000_000_000)))
        said = {kind.name: [*guards.of(tree, at)] for at, kind in enumerate(tree.sample_types)}
        assert said["park"] == says["park"]
        assert said["cpu"] == ([f"Only 3 samples{ROUGH}"] if samples is not burnt else says["cpu"])


def test_what_is_counted_in_bytes_is_not_called_samples() -> None:
    tree = tree_of("redis;alloc 64\nrustc;main 100000\n", name="memory", unit="bytes")
    assert [*guards.of(tree, 0, subject="redis is slow")] == []
