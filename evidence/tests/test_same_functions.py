"""A function is identified by its name, its file and where it begins: in reading, comparing and joining."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence import formats
from evidence.analysis import compare
from evidence.formats.tests.graph_writers import GRAPHS
from evidence.formats.tests.placed_writers import BEGIN, WRITERS, Placed, Sample, Write
from evidence.profile import source_functions
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import Stacks
from evidence.tree import calltree
from evidence.tree.calltree import CallTree

FILES = ("/srv/shop/cart.py", "/srv/shop/mail.py", "/srv/lib/a/src/cart/index.py", "/srv/lib/b/src/cart/index.py")
FUNCTIONS = [Placed(name, file, line) for name in ("run", "get") for file in FILES for line in (3, 30)]


def samples_of(functions: Sequence[Placed]) -> st.SearchStrategy[list[Sample]]:
    stacks = st.lists(st.sampled_from(functions), min_size=1, max_size=4, unique=True)
    return st.lists(st.tuples(stacks, st.integers(1, 500)), min_size=1, max_size=8)


# A file on only one side with the same ending counts as moved, so there are none of those.
UNLIKE = [one for one in FUNCTIONS if one.file != FILES[-1] and one.line == 3]
Same = Callable[[Placed], object]


def read(data: bytes) -> Stacks:
    with TemporaryDirectory() as folder:
        (Path(folder) / "file").write_bytes(data)
        return formats.read_file(Path(folder) / "file")


def tree_of(write: Write, samples: Sequence[Sample]) -> CallTree:
    return calltree.build(read(write(samples)))


def counted(samples: Sequence[Sample], same: Same, *, unit: int) -> tuple[Counter[object], Counter[object]]:
    """Count each function's self and total, by what makes two functions the same."""
    own: Counter[object] = Counter()
    total: Counter[object] = Counter()
    for stack, value in samples:
        own[same(stack[-1])] += value * unit
        total.update(dict.fromkeys(map(same, stack), value * unit))
    return own, total


def in_all(name: str) -> tuple[Same, int]:
    """Return what makes two functions in a format the same, and how many of our units one of its samples is."""
    of_file: Same = lambda one: (one.name, one.file)  # noqa: E731
    return (lambda one: one) if name in BEGIN else of_file, 1 if name == "memray" else 1000


def numbers(tree: CallTree, sides: Iterable[int]) -> list[tuple[int, ...]]:
    """Return what each function counts, whatever its name: self on each side, total on each side."""
    rows = zip(
        *(tree.self_[side].tolist() for side in sides),
        *(tree.function_totals[side].tolist() for side in sides),
        strict=True,
    )
    return sorted(row for row in rows if any(row))


@pytest.mark.parametrize("name", WRITERS)
@given(samples=samples_of(FUNCTIONS))
@settings(max_examples=25, deadline=None)
def test_what_a_profiler_tells_apart_is_told_apart(name: str, samples: list[Sample]) -> None:
    same, unit = in_all(name)
    own, total = counted(samples, same, unit=unit)
    tree = tree_of(WRITERS[name], samples)
    exact = [(own[one],) for one in total if own[one]]
    found = [(value,) for value in tree.self_[tree.default_type].tolist() if value]
    assert sorted(found) == sorted(exact)
    if name not in GRAPHS:  # whose paths are estimated
        assert numbers(tree, [tree.default_type]) == sorted((own[one], total[one]) for one in total)


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in GRAPHS])
@given(before=samples_of(UNLIKE), after=samples_of(UNLIKE))
@settings(max_examples=25, deadline=None)
def test_a_function_is_compared_with_itself_whatever_else_was_sampled(
    name: str, before: list[Sample], after: list[Sample]
) -> None:
    same, unit = in_all(name)
    (own, total), (own_after, total_after) = (counted(side, same, unit=unit) for side in (before, after))
    trees = [tree_of(WRITERS[name], side) for side in (before, after)]
    merged = compare.merge(trees, types=[tree.default_type for tree in trees], labels=["before", "after"])
    every_one = total | total_after
    expected = [(own[one], own_after[one], total[one], total_after[one]) for one in every_one]
    assert numbers(merged, [0, 1]) == sorted(expected)


def moved(name: str, before: Sequence[Sample], after: Sequence[Sample]) -> dict[str, tuple[int, int]]:
    trees = [tree_of(WRITERS[name], side) for side in (before, after)]
    merged = compare.merge(trees, types=[tree.default_type for tree in trees], labels=["before", "after"])
    per = 1 if name == "memray" else 1000
    return {
        one: (int(merged.function_totals[0, code]) // per, int(merged.function_totals[1, code]) // per)
        for code, one in enumerate(merged.names)
        if merged.function_totals[:, code].any()
    }


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("to", ["/srv/releases/2/{}", "/home/me/shop/{}", "{}"])
def test_another_release_in_another_folder_has_the_same_functions(name: str, to: str) -> None:
    folder = "/srv/releases/1/{}"
    before = [([Placed("run", folder.format("cart.py"), 3)], 40), ([Placed("run", folder.format("mail.py"), 3)], 60)]
    after = [([Placed("run", to.format("cart.py"), 9)], 70), ([Placed("run", to.format("mail.py"), 3)], 30)]
    assert sorted(moved(name, before, after).values()) == [(40, 70), (60, 30)]


def test_a_stored_tree_knows_its_functions_too(tmp_path: Path) -> None:
    samples = [([Placed("größe\ud800", FILES[0], 3)], 40), ([Placed("run", FILES[0], 3)], 60)]
    tree = tree_of(BEGIN["v8"], samples)
    tree.save(tmp_path / "tree")
    stored = CallTree.open(tmp_path / "tree")
    assert dict(stored.places) == dict(tree.places)
    assert set(stored.places) == set(tree.names)


@pytest.mark.parametrize("name", BEGIN)
def test_what_an_edit_above_moved_down_is_still_the_same(name: str) -> None:
    here = "/srv/cart.py"
    before = [([Placed("get", here, 3)], 40), ([Placed("get", here, 30)], 60)]
    after = [([Placed("get", here, 5)], 70), ([Placed("get", here, 32)], 30)]
    assert sorted(moved(name, before, after).values()) == [(40, 70), (60, 30)]
    other = [([Placed("get", here, 30)], 70), ([Placed("get", here, 90)], 30)]
    assert sorted(moved(name, before, other).values()) == [(0, 30), (40, 0), (60, 70)]


def test_functions_without_a_name_move_with_those_around_them() -> None:
    here = "/srv/cart.js"
    lines = {"": 1, "get": 10, " ": 12, "set": 20, "  ": 27}  # a blank name is distinct here, but empty to V8
    before = [([Placed(name, here, line)], 10 + line) for name, line in lines.items()]
    after = [([Placed(name, here, line + 4 * (line > 5))], 50 + line) for name, line in lines.items()]
    strip = [
        [([one._replace(name=one.name.strip()) for one in stack], value) for stack, value in side]
        for side in (before, after)
    ]
    expected = sorted((10 + line, 50 + line) for line in lines.values())
    assert sorted(moved("v8", *strip).values()) == expected


@pytest.mark.parametrize("most", [30, 60])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_no_function_without_a_name_is_taken_for_another_between_those_that_have_one(
    most: int, data: st.DataObject
) -> None:
    here, nameless = "/srv/cart.js", data.draw(st.sets(st.integers(2, most - 1), min_size=1, max_size=9))
    edit, by = data.draw(st.integers(2, most - 1)), data.draw(st.integers(1, 5))
    function_of = {
        line: Placed("get" if line == 1 else "set" if line == most else "", here, line) for line in (1, *nameless, most)
    }
    before = [([one], 1000 + line) for line, one in function_of.items()]
    after = [([one._replace(line=line + by * (line >= edit))], 1000 + line) for line, one in function_of.items()]
    pairs = [pair for pair in moved("v8", before, after).values() if all(pair)]
    assert all(one == other for one, other in pairs), "who is found at all is found as what it is"


@pytest.mark.parametrize(
    ("places", "names"),
    [
        ([("run", "a/b/c/d.py", 3, 1)], ["run"]),
        ([("run", "a/b/c/d.py", 3, 1), ("run", "e.py", 3, 1)], ["run (b/c/d.py)", "run (e.py)"]),
        ([("run", "a.py", 3, 1), ("run", "a.py", 9, 1)], ["run (a.py:3)", "run (a.py:9)"]),
        ([("t", "a.js", 1, 7), ("t", "a.js", 1, 90)], ["t (a.js:1:7)", "t (a.js:1:90)"]),
        ([("run", "x/b/c/d.py", 3, 1), ("run", "y/b/c/d.py", 3, 1)], ["run (x/b/c/d.py)", "run (y/b/c/d.py)"]),
        ([("", "a.js", 7, 1), ("", "", 0, 0)], ["(anonymous) (a.js:7)", "(anonymous)"]),
    ],
)
def test_a_name_says_as_much_of_its_place_as_it_takes(
    places: list[tuple[str, str, int, int]], names: list[str]
) -> None:
    functions = [source_functions.identity(SourceFunction(*one), begins=True) for one in places]
    assert list(map(source_functions.distinct(functions).get, functions)) == names


def test_functions_of_several_files_in_an_archive_are_no_other_files() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for at, file in enumerate(FILES[:2]):
            archive.writestr(f"{at}.cpuprofile", BEGIN["v8"]([([Placed("run", file, 3)], 10 * (at + 1))]))
    tree = calltree.build(read(packed.getvalue()))
    assert [row for row in numbers(tree, [tree.default_type]) if row[0]] == [(10_000, 10_000), (20_000, 20_000)]
