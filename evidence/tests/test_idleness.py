"""A profile shown without idle stacks equals a profile that never had them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.analysis import functions, idleness
from evidence.profile.stacks import SampleType
from evidence.tests.conftest import Bring
from evidence.tests.test_calltree import Sample, stacks_of
from evidence.tree import calltree
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

NAMES = ["main", "serve", "(idle)", "swapper", "serve_idle", "render"]
IDLE = {"(idle)", "swapper"}
SAMPLES = st.lists(
    st.tuples(st.lists(st.integers(0, len(NAMES) - 1), max_size=6), st.integers(0, 2**40), st.integers(0, 3)),
    max_size=20,
)


@given(SAMPLES)
def test_without_idle_each_function_and_search_count_what_a_profile_without_it_does(samples: list[Sample]) -> None:
    stacks = stacks_of(samples)
    stacks.names = list(NAMES)
    stacks.sample_types = (SampleType("cpu", "nanoseconds"), SampleType("samples", "samples"))
    tree = calltree.build(stacks)
    busy = idleness.busy(tree)
    left = [(frames, (value, count)) for frames, value, count in samples if not IDLE & {NAMES[at] for at in frames}]
    for type in (0, 1):
        assert busy.total(type) == sum(values[type] for _, values in left)
        for name in NAMES:
            code = NAMES.index(name)
            passes = sum(values[type] for frames, values in left if code in frames)
            ends = sum(values[type] for frames, values in left if frames[-1:] == [code])
            here = busy.by_name[name]
            assert functions.everywhere(busy, here, type=type) == (passes, ends)
            whole = int(tree.function_totals[type, here]), int(tree.self_[type, here])
            assert functions.everywhere(tree, here, type=type) == whole
            assert busy.search(name.__eq__, type=type).total == passes


@pytest.mark.django_db
def test_callers_and_callees_of_a_function_are_told_without_idle_too(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    bring(incident, b"main;serve 30\nmain 5\nmain;(idle) 65\n")
    address = f"/incidents/{incident.codename}/evidence/1/function.json?code=1"  # names are sorted: (idle), main
    for more, said in (("", (100, 100, 5)), ("&idle=0", (35, 35, 5))):
        found = json.loads(browse(ada).get(address + more).content)
        assert found["function"] == "main"
        assert (found["total"], found["function_total"], found["function_self"]) == said
