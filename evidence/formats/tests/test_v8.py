import json
from typing import Any

import pytest

from evidence.analysis import guards, sentence
from evidence.formats.chrome import v8
from evidence.profile.errors import BadProfile
from evidence.profile.stacks import SampleType, Stacks
from evidence.tree import calltree


def node(id: int, name: str, *children: int, url: str = "", line: int = -1, hits: int = 0) -> dict[str, Any]:
    frame = {"functionName": name, "url": url, "lineNumber": line, "columnNumber": 0, "scriptId": "1"}
    return {"id": id, "callFrame": frame, "hitCount": hits, "children": list(children)}


NODES = [
    node(1, "(root)", 2, 3),
    node(2, "main", 4, url="file:///app/a.js", line=3, hits=1),
    node(3, "(idle)", hits=1),
    node(4, "", url="file:///app/a.js", line=9, hits=2),
]
PROFILE: dict[str, Any] = {
    "nodes": NODES,
    "startTime": 1000,
    "endTime": 1600,
    "samples": [2, 4, 4, 3],
    "timeDeltas": [100, 100, 100, 100],
}


def read(**changed: Any) -> Stacks:
    return v8.read(json.dumps({**PROFILE, **changed}).encode())


def functions(stacks: Stacks) -> dict[str, tuple[int, int]]:
    tree = calltree.build(stacks)
    own, total = tree.self_[tree.default_type].tolist(), tree.function_totals[tree.default_type].tolist()
    return dict(zip(tree.names, zip(own, total, strict=True), strict=True))


def test_time_in_which_a_thread_was_idle_is_not_called_cpu_time() -> None:
    said = sentence.of(calltree.build(read(samples=[2, 3, 3, 3])))
    assert said.text == "20 % of time is spent in `main` (self 20 %)."
    assert any(one.startswith("80 % of it is idle.") for one in said.guards)


def test_a_sample_lasts_until_the_next_one_and_the_last_until_the_end() -> None:
    stacks = read()
    assert stacks.totals == [4, 500_000]
    assert functions(stacks) == {
        "main": (100_000, 300_000),
        "(anonymous) (app/a.js:10)": (200_000, 200_000),
        "(idle)": (200_000, 200_000),
    }
    assert dict(zip(stacks.names, stacks.hints, strict=True))["(idle)"] == "idle"


def test_native_code_that_v8_runs_is_not_idle() -> None:
    stacks = read(nodes=[*NODES[:2], node(3, "(program)", hits=1), NODES[3]])
    assert not any("idle" in one for one in guards.of(calltree.build(stacks), 1))


def test_samples_that_come_out_of_order_are_put_in_order() -> None:
    assert read(timeDeltas=[100, 200, -100, 200]).totals == [4, 500_000]


def test_without_times_there_are_samples() -> None:
    stacks = read(samples=[], timeDeltas=[])
    assert (stacks.totals, stacks.default_type) == ([4], 0)


def test_a_heap_profile_counts_bytes() -> None:
    leaf = {**node(3, "leaf"), "selfSize": 30, "children": []}
    head = {**node(1, "(root)"), "selfSize": 0, "children": [{**node(2, "top"), "selfSize": 12, "children": [leaf]}]}
    stacks = v8.read(json.dumps({"head": head, "samples": []}).encode())
    assert stacks.sample_types == (SampleType("inuse_space", "bytes"),)
    assert functions(stacks) == {"top": (12, 42), "leaf": (30, 30)}


def test_the_older_form_is_read_too() -> None:
    leaf = {"functionName": "leaf", "url": "", "lineNumber": 1, "id": 3, "hitCount": 2, "children": []}
    top = {"functionName": "top", "url": "", "lineNumber": 1, "id": 2, "hitCount": 1, "children": [leaf]}
    head = {"functionName": "(root)", "url": "", "lineNumber": 0, "id": 1, "hitCount": 0, "children": [top]}
    times = {"startTime": 1, "endTime": 2, "samples": [3, 2, 3], "timestamps": [1000000, 1000100, 1000300]}
    data = json.dumps({"head": head, **times}).encode()
    assert v8.claim(data)
    assert functions(v8.read(data)) == {"top": (200_000, 300_000), "leaf": (100_000, 100_000)}


def test_a_deep_tree_is_read_without_recursion() -> None:
    nodes = [node(1, "(root)", 2), *(node(n, f"f{n}", n + 1) for n in range(2, 2000)), node(2000, "leaf", hits=1)]
    assert functions(read(nodes=nodes, samples=[2000], timeDeltas=[5]))["f2"][1] == 595_000


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"samples": [2, 4, 4, 99]}, "Node 99 does not exist"),
        ({"samples": [2, 4, 4]}, "3 samples and 4 times"),
        ({"nodes": [node(1, "a", 2), node(2, "b", 1)], "samples": [1], "timeDeltas": [0]}, "cycle"),
        ({"nodes": [node(1, "a"), node(1, "b")]}, "Two nodes"),
        ({"nodes": [{"id": 2, "parent": 77, "callFrame": {}}], "samples": [2], "timeDeltas": [1]}, "77 does not exist"),
        ({"nodes": [{"callFrame": {}}]}, "a number"),
        ({"timeDeltas": [0, 0, 0, 1e300]}, "63 bits"),
        ({"nodes": {}}, "a list"),
    ],
)
def test_what_is_wrong_is_named(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(BadProfile, match=says):
        read(**changed)
