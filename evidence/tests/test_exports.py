"""What is exported comes back the same when read."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evidence.exports import exports
from evidence.formats.folded import folded
from evidence.formats.pprof import pprof
from evidence.formats.speedscope import speedscope
from evidence.profile.stacks import SampleType, Stacks

words = st.text(
    st.characters(codec="utf-8", exclude_characters=";", exclude_categories=("C", "Z")), min_size=1, max_size=8
)
paths = st.lists(words, min_size=1, max_size=6)
profiles = st.lists(st.tuples(paths, st.tuples(st.integers(1, 2**40), st.integers(0, 2**40))), min_size=1, max_size=12)
Profile = list[tuple[list[str], tuple[int, int]]]


def made(profile: Profile, hints: dict[str, str] | None = None, **about: Any) -> Stacks:
    """Make stacks of paths and two values each."""
    codes: dict[str, int] = {}
    frames = [codes.setdefault(name, len(codes)) for path, _ in profile for name in path]
    return Stacks(
        format="test",
        sample_types=(SampleType("samples", "samples"), SampleType("cpu", "nanoseconds")),
        names=list(codes),
        offsets=np.cumsum([0, *(len(path) for path, _ in profile)]),
        frames=np.array(frames, dtype=np.int32),
        values=np.array([values for _, values in profile], dtype=np.int64).T.copy(),
        hints=[(hints or {}).get(name, "") for name in codes],
        default_type=1,
        about=about,
    )


def text(stacks: Stacks, type: int = 0) -> bytes:
    """Fold stacks."""
    return b"".join(exports.folded(stacks, type=type))


@given(profiles)
def test_pprof_and_back_gives_the_same_text_for_every_sample_type(profile: Profile) -> None:
    stacks = made(profile)
    back = pprof.read(gzip.decompress(exports.pprof(stacks)))
    assert back.totals == stacks.totals
    assert back.sample_types == stacks.sample_types
    assert back.default_type == 1
    assert [text(back, type) for type in (0, 1)] == [text(stacks, type) for type in (0, 1)]


@given(profiles)
def test_folded_text_holds_the_total_and_each_stack_once(profile: Profile) -> None:
    stacks = made(profile)
    lines = text(stacks).decode().splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == stacks.totals[0]
    stacks_of = [line.rpartition(" ")[0].split(";") for line in lines]
    assert stacks_of == sorted(stacks_of)
    assert len(set(map(tuple, stacks_of))) == len(stacks_of)


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5), st.tuples(st.integers(1, 9), st.just(0)))
    )
)
def test_folding_what_was_unfolded_gives_the_same(profile: Profile) -> None:
    written = text(made(profile)) if profile else b""
    if written:
        assert text(folded.read(written)) == written


@given(profiles)
def test_speedscope_reads_every_sample_type(profile: Profile) -> None:
    stacks = made(profile)
    written = b"".join(exports.speedscope(stacks, title="Basket"))
    document = json.loads(written)
    assert [one["endValue"] for one in document["profiles"]] == stacks.totals
    assert speedscope.claim(written)
    back = speedscope.read(written)
    assert back.totals == stacks.totals
    assert text(back, 0) == text(stacks, 0)


def test_what_counts_nothing_is_left_out() -> None:
    assert text(made([(["main", "wait"], (0, 5)), (["main"], (3, 0))])) == b"main 3\n"


def test_hints_become_the_suffixes_of_flamegraph_pl() -> None:
    stacks = made([(["main", "tick", "do_syscall", "done_[k]"], (1, 1))], {"tick": "jit", "do_syscall": "kernel"})
    assert text(stacks) == b"main;tick_[j];do_syscall_[k];done_[k] 1\n"


def test_names_never_break_their_line() -> None:
    stacks = made([(["a;b", "c\nd", "e\rf\u2028g", ""], (1, 1))])
    assert text(stacks) == b"a:b;c d;e f g;(unnamed) 1\n"


def test_samples_without_a_stack_keep_the_total() -> None:
    stacks = made([([], (4, 4)), (["main"], (1, 1))])
    assert text(stacks) == b"(no stack) 4\nmain 1\n"
    assert pprof.read(gzip.decompress(exports.pprof(stacks))).totals == stacks.totals


def test_pprof_keeps_the_kernel_and_what_is_said_of_the_profile() -> None:
    period = {"name": "cpu", "unit": "nanoseconds", "value": 10_000_000}
    stacks = made(
        [(["main", "do_syscall"], (1, 10))], {"do_syscall": "kernel"},
        duration_ns=15, time_ns=99, comments=["by hand"], period=period,
    )  # fmt: skip
    back = pprof.read(gzip.decompress(exports.pprof(stacks)))
    assert dict(zip(back.names, back.hints, strict=True)) == {"main": "", "do_syscall": "kernel"}
    assert dict(back.about) == {"duration_ns": 15, "time_ns": 99, "comments": ["by hand"], "period": period}


def test_an_empty_profile_is_written_too() -> None:
    stacks = made([])
    stacks.values = np.zeros((2, 0), dtype=np.int64)
    assert text(stacks) == b""
    assert len(pprof.read(gzip.decompress(exports.pprof(stacks)))) == 0
