"""Call graphs without stacks: self costs are exact; paths are estimated, and marked as such."""

from __future__ import annotations

import marshal
from pathlib import Path

import pytest
from hypothesis import given, settings

from evidence import formats
from evidence.analysis import guards
from evidence.formats.tests.graph_writers import GRAPHS, Sample, known
from evidence.formats.tests.test_laws import SAMPLES
from evidence.formats.tests.test_more_formats import folded, read
from evidence.profile.errors import BadProfile
from evidence.tree import calltree
from stack.fuzzing import laws

# Two paths to `json`, one of which costs three times the other; `json` calls `copy`.
SHOP: list[Sample] = [
    (("main", "cart", "json"), 60),
    (("main", "cart", "json", "copy"), 15),
    (("main", "mail", "json"), 20),
    (("main", "mail", "json", "copy"), 5),
    (("main",), 100),
]


@pytest.mark.parametrize("name", GRAPHS)
@given(samples=SAMPLES)
@settings(max_examples=25, deadline=None)
def test_what_each_function_costs_itself_is_exact(name: str, samples: list[Sample]) -> None:
    data = GRAPHS[name](samples)
    told = formats.decide(data)
    assert told
    assert told.module == name
    stacks = formats.module_of(name).read(data)
    laws.check_stacks(stacks)
    tree = calltree.build(stacks)
    own, _, _ = known(samples)
    assert dict(zip(tree.names, tree.self_[0].tolist(), strict=True)) == {one: own[one] for one in tree.names}
    assert tree.total(0) == sum(own.values())


@pytest.mark.parametrize("name", GRAPHS)
def test_paths_share_a_cost_by_what_their_calls_cost(name: str, tmp_path: Path) -> None:
    stacks = read(tmp_path, GRAPHS[name](SHOP))
    assert folded(stacks) == {";".join(stack): value for stack, value in SHOP}
    assert any("estimated" in one for one in guards.of(calltree.build(stacks), 0))


@pytest.mark.parametrize("name", GRAPHS)
def test_what_is_begun_by_nobody_as_well_is_a_root_too(name: str, tmp_path: Path) -> None:
    samples: list[Sample] = [(("run",), 60), (("main", "run"), 20), (("main",), 20)]
    assert folded(read(tmp_path, GRAPHS[name](samples))) == {"run": 60, "main;run": 20, "main": 20}


# Recursion as in `copy.deepcopy` and `json.dumps`: through each other, in cycles entered by one function.
CIRCLES: list[Sample] = [
    (("main", "load", "copy"), 50_000),
    (("main", "load", "copy", "copy_dict"), 30_000),
    (("main", "load", "copy", "copy_dict", "copy", "copy_list"), 20_000),
    (("main", "load", "copy", "copy_dict", "copy", "copy_list", "copy", "hash"), 60_000),
    (("main", "save", "copy", "copy_list", "copy", "hash"), 15_000),
    (("main", "save", "dump", "each", "each_dict", "each_list", "each_dict", "escape"), 90_000),
    (("main", "save"), 10_000),
]


@pytest.mark.parametrize("name", GRAPHS)
def test_what_never_recurs_keeps_its_total_when_it_calls_what_does(name: str) -> None:
    tree = calltree.build(formats.module_of(name).read(GRAPHS[name](CIRCLES)))
    _, inside, _ = known(CIRCLES)
    totals = dict(zip(tree.names, tree.function_totals[0].tolist(), strict=True))
    for function in ("main", "load", "save", "dump"):
        assert totals[function] == pytest.approx(inside[function], rel=0.001), function
    assert [tree.name_of(node) for node in range(1, int(tree.first[1]))] == ["main"]


@pytest.mark.parametrize("name", GRAPHS)
@given(samples=SAMPLES)
@settings(max_examples=50, deadline=None)
def test_all_that_begins_in_one_function_is_of_it_whatever_recurs(name: str, samples: list[Sample]) -> None:
    begun: list[Sample] = [(("begin", *stack), value) for stack, value in samples]
    tree = calltree.build(formats.module_of(name).read(GRAPHS[name](begun)))
    assert tree.function_totals[0, tree.by_name["begin"]] == tree.total(0)


def test_names_and_positions_of_callgrind_may_be_compressed_and_relative(tmp_path: Path) -> None:
    text = b"""version: 1
cmd: ./shop
part: 1
positions: instr line
events: Ir Dr

fl=(1) /src/shop.c
fn=(1) main
0x10 5 100 7
+3 * 20 1
cfi=(2) /src/cart.c
cfn=(2) cart
calls=3 0x20 8
* +1 500 9
jcnd=1/2 +3 +2
* *
fn=(2)
0x20 8 500 9
"""
    stacks = read(tmp_path, text)
    assert [kind.name for kind in stacks.sample_types] == ["Ir", "Dr"]
    tree = calltree.build(stacks)
    totals = {name: tree.function_totals[:, code].tolist() for code, name in enumerate(tree.names)}
    assert totals == {"main": [620, 17], "cart": [500, 9]}
    assert tree.self_.tolist() == [[500, 120], [9, 8]]


def test_each_event_of_callgrind_has_paths_of_its_own(tmp_path: Path) -> None:
    """One caller may cost in instructions what another costs in misses."""
    text = b"""version: 1
events: Ir D1mr Empty Memory_(bytes)
fn=main
1 10 0 0 64
cfn=cart
calls=1 1
1 90 1 0 -8
cfn=mail
calls=1 1
1 50 60
fn=cart
2 10 0 0 8
cfn=json
calls=1 1
2 80 1 0 -16
fn=mail
3 10 1
cfn=json
calls=1 1
3 40 59
fn=json
4 120 60 0 -16
"""
    stacks = read(tmp_path, text)
    assert [(kind.name, total) for kind, total in zip(stacks.sample_types, stacks.totals, strict=True)] == [
        ("Ir", 150), ("D1mr", 61),
    ]  # fmt: skip
    tree = calltree.build(stacks)
    assert tree.function_totals[:, tree.by_name["cart"]].tolist() == [90, 1]
    assert tree.function_totals[:, tree.by_name["mail"]].tolist() == [50, 60]
    assert any("Memory_(bytes) is left out" in one for one in guards.of(tree, 0))


@pytest.mark.parametrize("key", [("a.py", "x", 3), 5, ("a.py", 1), (1, 2, "f")])
def test_a_cprofile_of_other_values_is_refused(key: object) -> None:
    module = formats.module_of("cprofile")
    with pytest.raises(BadProfile):
        module.read(marshal.dumps({key: (1, 1, 0.5, 0.5, {})}))
    with pytest.raises(BadProfile):
        module.read(marshal.dumps({("a.py", 1, "f"): (1, 1, float("nan"), 0.5, {})}))
