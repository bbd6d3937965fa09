"""pprof: every sample type, inlined frames, labels; errors name their place."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.analysis import deltas, parts, sentence
from evidence.formats.pprof import pprof, samples
from evidence.formats.tests.made_pprof import Made, message, number, packed
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.stacks import SampleType, Stacks
from evidence.reader import answers
from evidence.tree import calltree


def lines(stacks: Stacks, type: int = 0) -> list[str]:
    """Return the stacks as folded text, sorted."""
    ends = stacks.offsets.tolist()
    return sorted(
        ";".join(stacks.names[code] for code in stacks.frames[low:high]) + f" {value}"
        for low, high, value in zip(ends, ends[1:], stacks.values[type].tolist(), strict=False)
    )


def shop() -> Made:
    """Make a profile with two stacks, one of them through an inlined function."""
    made = Made()
    main, price = made.location("main"), made.location("hash", "price")
    made.sample([price, main], [3, 30_000_000])
    made.sample([main], [1, 10_000_000], packs=False)
    return made


def test_stacks_begin_at_their_root_and_the_innermost_inlined_function_is_their_leaf() -> None:
    stacks = pprof.read(shop().bytes())
    assert lines(stacks) == ["main 1", "main;price;hash 3"]
    assert lines(stacks, 1) == ["main 10000000", "main;price;hash 30000000"]
    assert stacks.hints[stacks.names.index("hash")] == "inlined"
    assert stacks.hints[stacks.names.index("price")] == ""


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (("samples", "count"), ("samples", "samples")),
        (("alloc_objects", "count"), ("alloc_objects", "objects")),
        (("inuse_space", "bytes"), ("inuse_space", "bytes")),
        (("delay", "microseconds"), ("delay", "nanoseconds")),
        (("goroutine", "count"), ("goroutine", "goroutines")),
        (("contentions", "count"), ("contentions", "contentions")),
    ],
)
def test_a_sample_type_says_in_our_words_what_it_counts(given: tuple[str, str], found: tuple[str, str]) -> None:
    made = Made(types=[given])
    made.sample([made.location("main")], [5])
    stacks = pprof.read(made.bytes())
    assert stacks.sample_types == (SampleType(*found),)
    assert stacks.totals == [5_000 if given[1] == "microseconds" else 5]


def test_the_default_sample_type_is_the_one_named_or_else_the_last() -> None:
    made = shop()
    assert pprof.read(made.bytes()).default_type == 1
    assert pprof.read(made.bytes(number(14, made.text("samples")))).default_type == 0


def test_labels_count_for_each_sample_type() -> None:
    made = Made()
    main = made.location("main")
    made.sample([main], [1, 10], labels=made.label("route", "/pay"))
    made.sample([main], [2, 20], labels=made.label("route", "/pay") + made.label("bytes", value=64, unit="bytes"))
    made.sample([main], [4, 40], labels=made.label("route", "/cart"))
    labels = pprof.read(made.bytes()).about["labels"]
    assert labels == {"route": {"/cart": [4, 40], "/pay": [3, 30]}, "bytes": {"64 bytes": [2, 20]}}


def test_a_profile_says_how_long_it_took_and_what_its_makers_remark() -> None:
    made = shop()
    period = message(11, number(1, made.text("cpu")) + number(2, made.text("nanoseconds")))
    extra = number(10, 15_000_000_000) + period + number(12, 10_000_000) + packed(13, [made.text("by hand")])
    about = pprof.read(made.bytes(extra)).about
    assert about["duration_ns"] == 15_000_000_000
    assert about["period"] == {"name": "cpu", "unit": "nanoseconds", "value": 10_000_000}
    assert about["comments"] == ["by hand"]


def test_places_without_a_function_are_named_by_module_and_address() -> None:
    made = Made()
    mapping = made.mapping("/usr/lib/libc.so.6", start=0x7F00_0000, offset=0x1000)
    bare, nowhere = made.location(mapping=mapping, address=0x7F00_0234), made.location(address=0xBEEF)
    made.sample([bare, nowhere], [1, 1])
    assert lines(pprof.read(made.bytes())) == ["0xbeef;libc.so.6+0x1234 1"]


def test_frames_of_the_kernels_mapping_are_the_kernels() -> None:
    made = Made()
    mapping = made.mapping("[kernel.kallsyms]")
    made.sample([made.location("do_syscall_64", mapping=mapping), made.location("main")], [1, 1])
    stacks = pprof.read(made.bytes())
    assert dict(zip(stacks.names, stacks.hints, strict=True)) == {"do_syscall_64": "kernel", "main": ""}


def test_what_a_profile_wants_dropped_goes_with_what_it_calls() -> None:
    made = Made()
    main, malloc, zero, tick = (made.location(name) for name in ("main", "malloc", "zero_page", "tick"))
    made.sample([zero, malloc, main], [5, 50])
    made.sample([tick, main], [1, 10])
    made.sample([zero, malloc], [2, 20])
    drop = number(7, made.text("mal.*"))
    assert lines(pprof.read(made.bytes(drop))) == ["main 5", "main;tick 1", "malloc;zero_page 2"]
    kept = drop + number(8, made.text("malloc"))
    assert "main;malloc;zero_page 5" in lines(pprof.read(made.bytes(kept)))


@pytest.mark.parametrize(
    ("name", "drop", "goes"),
    [
        ("operator new(unsigned long)", "operator new", True),
        ("tc_new(std::nothrow_t const&)", "(tc_)?new", True),
        (".malloc", "malloc", True),
        ("(anonymous namespace)::grow(int)", r"\(anonymous namespace\)::grow", True),
        ("Pool::operator()(int) const", r"Pool::operator\(\)", True),
        ("operator new(unsigned long)", r"operator new\(.*", False),
        ("malloc_hook(int)", "malloc", False),
    ],
)
def test_names_are_dropped_without_their_arguments_as_pprof_drops_them(name: str, drop: str, goes: bool) -> None:
    """Compare with ``go tool pprof -top``: ``simplifyFunc`` in its ``profile/prune.go``."""
    made = Made()
    made.sample([made.location(name), made.location("main")], [5, 50])
    dropped = pprof.read(made.bytes(number(7, made.text(drop))))
    assert lines(dropped) == ["main 5" if goes else f"main;{name} 5"]


def test_what_grew_and_what_shrank_are_sample_types_apart() -> None:
    made = Made(types=(("inuse_objects", "count"), ("inuse_space", "bytes")))
    label = made.label("pool", "a")
    made.sample([made.location("grown")], [2, 20], labels=label)
    made.sample([made.location("shrunk")], [3, -30], labels=label)
    stacks = pprof.read(made.bytes())
    assert [kind.name for kind in stacks.sample_types] == ["inuse_objects", "inuse_space_grown", "inuse_space_shrunk"]
    assert stacks.totals == [5, 20, 30]
    assert stacks.about["deltas"] == [["inuse_space", 1, 2]]
    assert stacks.about["labels"] == {"pool": {"a": [5, 0, 10]}}


@given(values=st.lists(st.integers(-(1 << 40), 1 << 40), min_size=1, max_size=60), batch=st.integers(1, 70))
@settings(deadline=None)
def test_a_difference_adds_up_to_its_net_whatever_its_batches(values: list[int], batch: int) -> None:
    made = Made(types=(("inuse_space", "bytes"),))
    main, label = made.location("main"), made.label("pool", "a")
    for value in values:
        made.sample([main], [value], labels=label)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(samples, "AT_ONCE", batch)
        stacks = pprof.read(made.bytes())
    grew, shrank = (*stacks.totals, 0)[:2]
    assert (grew, shrank) == (max(sum(values), 0), max(-sum(values), 0))
    assert stacks.about["labels"]["pool"]["a"] == stacks.totals
    tree = calltree.build(stacks)
    if delta := deltas.of(tree, 0):
        assert deltas.net(tree, delta) == sum(values)
        assert deltas.functions(tree, delta).tolist() == [sum(values)]


PATHS = ("main", "work", "sort", "idle")
SIDE = st.lists(st.tuples(st.lists(st.sampled_from(PATHS), max_size=3), st.integers(0, 1 << 40)), max_size=30)


@given(before=SIDE, after=SIDE, batch=st.integers(1, 40))
@settings(deadline=None)
def test_what_grew_and_shrank_is_what_each_stack_did_as_go_tool_pprof_writes_a_difference(
    before: list[tuple[list[str], int]], after: list[tuple[list[str], int]], batch: int
) -> None:
    made = Made(types=(("cpu", "nanoseconds"),))
    at = {name: made.location(name) for name in PATHS}
    base, net = made.label("pprof::base", "true"), Counter[tuple[str, ...]]()
    for stack, value in after:
        made.sample([at[name] for name in stack], [value])
        net[tuple(stack)] += value
    for stack, value in before:
        made.sample([at[name] for name in stack], [-value], labels=base)
        net[tuple(stack)] -= value
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(samples, "AT_ONCE", batch)
        stacks = pprof.read(made.bytes())
    grew, shrank = (*stacks.totals, 0)[:2]
    assert grew == sum(change for change in net.values() if change > 0)
    assert shrank == -sum(change for change in net.values() if change < 0)
    assert "pprof::base" not in stacks.about.get("labels", {})
    assert stacks.samples == len(before) + len(after)
    whole = {part.title: sum(row.share for row in part.rows) for part in parts.of(calltree.build(stacks), type=0)}
    assert all(share <= 1.000001 for share in whole.values())


@given(count=st.integers(2, 40), data=st.data(), batch=st.integers(1, 50))
@settings(deadline=None)
def test_the_first_sample_that_is_wrong_is_the_one_named_whatever_its_batches(
    count: int, data: st.DataObject, batch: int
) -> None:
    wrong = data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=3))
    made = Made()
    main = made.location("main")
    for place in range(count):
        made.sample([main, 999_999] if place in wrong else [main], [1, 2])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(samples, "AT_ONCE", batch)
        with pytest.raises(BadProfile) as told:
            pprof.read(made.bytes())
    assert told.value.where == f"sample {min(wrong) + 1}"


def test_a_difference_is_told_by_its_net_and_never_by_shares_of_what_grew() -> None:
    made = Made(types=(("inuse_space", "bytes"),))
    main = made.location("main.main")
    made.sample([made.location("shop.(*Cache).fill"), main], [5 << 20])
    made.sample([made.location("shop.(*Cache).drop"), main], [-19 << 20])
    tree = calltree.build(pprof.read(made.bytes()))
    said = sentence.of(tree)
    assert "−14.0 MiB net (5.00 MiB grew, 19.0 MiB shrank)" in said.text
    assert "most shrank in `shop.(*Cache).drop` (−19.0 MiB); most grew in `shop.(*Cache).fill` (+5.00 MiB)" in said.text
    assert "%" not in said.text
    assert sentence.of(tree, type=1).text == said.text
    assert answers.profile(tree, type=0, samples=2)["delta"]["net"] == -14 << 20


def test_unknown_fields_are_passed_over() -> None:
    made = shop()
    unknown = message(99, b"later") + number(1000, 5) + bytes([0x79]) + b"12345678" + bytes([0x7D]) + b"1234"
    assert lines(pprof.read(made.bytes(unknown))) == lines(pprof.read(made.bytes()))


def test_ids_of_locations_may_be_any_numbers() -> None:
    made = Made()
    made.function("main")
    made.body += message(4, number(1, 2**63 + 5) + message(4, number(1, 1)))
    made.sample([2**63 + 5], [1, 1])
    assert lines(pprof.read(made.bytes())) == ["main 1"]


@pytest.mark.parametrize(
    ("breaks", "says", "where"),
    [
        (lambda made: made.sample([1, 99], [1, 1]), "There is no location 99", "sample 3"),
        (lambda made: made.sample([1], [1]), "fewer values", "sample 3"),
        (lambda made: made.sample([1], [1, 2, 3]), "more values", "sample 3"),
        (lambda made: made.sample([1], [2**62, 1]) or made.sample([1], [2**62, 1]), "63 bits", ""),
    ],
)
def test_a_broken_sample_is_named(breaks: object, says: str, where: str) -> None:
    made = shop()
    assert callable(breaks)
    breaks(made)
    with pytest.raises(BadProfile, match=says) as caught:
        pprof.read(made.bytes())
    assert caught.value.where == where


def test_an_index_that_points_to_no_string_or_function_is_named() -> None:
    made = Made()
    made.body += message(5, number(1, 1) + number(2, 4711))
    with pytest.raises(BadProfile, match="String 4711 doesn't exist"):
        pprof.read(made.bytes())
    made = Made()
    made.body += message(4, number(1, 1) + message(4, number(1, 8)))
    with pytest.raises(BadProfile, match="There is no function 8") as caught:
        pprof.read(made.bytes())
    assert caught.value.where == "location 1"


def test_every_cut_is_told_by_its_byte_or_by_what_is_missing() -> None:
    whole = shop().bytes()
    for size in range(len(whole)):
        with suppress(BadProfile):
            pprof.read(whole[:size])
    with pytest.raises(BadProfile, match="ends 1 bytes early") as caught:
        pprof.read(whole[:-1])
    assert caught.value.where == f"byte {len(whole) - 1}"


def test_what_passes_the_limits_is_refused() -> None:
    made = shop()
    made.sample([1] * 50, [1, 1])
    for limits in (Limits(depth=20), Limits(stacks=2), Limits(names=2), Limits(frames=30), Limits(sample_types=1)):
        with pytest.raises(TooMuch):
            pprof.read(made.bytes(), limits=limits)


def test_it_is_told_from_other_binaries() -> None:
    whole = shop().bytes()
    assert pprof.claim(whole)
    assert pprof.claim(whole[:40])
    assert not pprof.claim(b"")
    assert not pprof.claim(b"FLR\x00\x00\x02")
    assert not pprof.claim(message(1, message(1, b"resource")) + message(2, b"x"))
