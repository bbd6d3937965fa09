"""Functions that a JVM numbers differently in each run are the same in all of them, with any recorder."""

from __future__ import annotations

import pytest

from evidence.analysis import compare
from evidence.formats.tests.test_laws import read
from evidence.formats.tests.writers import WRITERS, Sample
from evidence.tree import calltree
from evidence.tree.calltree import CallTree

# The same lambdas as two runs name them, and their common names.
RUNS = [
    ("Shop$$Lambda$93+0x00007fa1ec009a20.1384010761.run", "Shop$$Lambda$95+0x00007feef8009a20.339155769.run"),
    ("shop.Cart$$Lambda$14/0x0000000800c03000.apply", "shop.Cart$$Lambda$15/0x0000000800c04000.apply"),
    ("shop.Cart$$Lambda$1/1345636186.accept", "shop.Cart$$Lambda$2/99636186.accept"),
    ("shop.Cart$$Lambda.0x00007f1234.get", "shop.Cart$$Lambda.0x00007f9876.get"),
    ("java.lang.invoke.LambdaForm$MH+0x00007fa1ec008000.27319466.invoke", "java.lang.invoke.LambdaForm$MH/172.invoke"),
]
SHOWN = [
    "Shop$$Lambda.run", "shop.Cart$$Lambda.apply", "shop.Cart$$Lambda.accept", "shop.Cart$$Lambda.get",
    "java.lang.invoke.LambdaForm$MH.invoke",
]  # fmt: skip
OTHERS = ("Shop.lambda$main$4", "shop.Lambda$1.run", "Lambda.of", "aws::Lambda::run", "LambdaForm.of")


def tree_of(name: str, run: int) -> CallTree:
    samples: list[Sample] = [(("main", names[run], f"lambda$main${at}"), 10 + at) for at, names in enumerate(RUNS)]
    samples += [(("main", RUNS[0][run], "work", RUNS[0][1 - run], other), 20) for other in OTHERS]
    return calltree.build(read(WRITERS[name](samples)))


@pytest.mark.parametrize("name", ["folded", "jfr", "pprof", "otlp", "speedscope", "perf script"])
def test_two_runs_of_one_program_have_the_same_functions(name: str) -> None:
    trees = [tree_of(name, run) for run in (0, 1)]
    assert set(trees[0].names) == set(trees[1].names) >= {*SHOWN, *OTHERS}
    types = compare.same_type(trees)
    assert compare.moved(compare.merge(trees, types=types, labels=["before", "after"]), own=True) == []
    once = trees[0].function_totals[types[0], trees[0].by_name[SHOWN[0]]]
    assert once * 160 == trees[0].total(types[0]) * 110
