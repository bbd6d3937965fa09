import json
from itertools import permutations
from typing import Any

import pytest

from evidence import formats
from evidence.formats.chrome import chrome
from evidence.formats.tests.test_v8 import node
from evidence.profile.errors import BadProfile, NotRecognised
from evidence.tree import calltree

Event = dict[str, Any]


def event(phase: str, at: float, name: str = "", *, tid: int = 1, **more: Any) -> Event:
    return {"ph": phase, "ts": at, "pid": 1, "tid": tid, "name": name, **more}


def functions(data: bytes) -> dict[str, tuple[int, int]]:
    tree = calltree.build(chrome.read(data))
    own, total = tree.self_[tree.default_type].tolist(), tree.function_totals[tree.default_type].tolist()
    return dict(zip(tree.names, zip(own, total, strict=True), strict=True))


def spans(*events: Event) -> bytes:
    return json.dumps({"traceEvents": events}).encode()


NESTED = (event("B", 1, "a"), event("X", 2, "b", dur=2.5), event("E", 10, ""))


@pytest.mark.parametrize("events", [NESTED, tuple(reversed(NESTED))], ids=["in order", "out of order"])
def test_spans_are_nested_by_time(events: tuple[Event, ...]) -> None:
    assert functions(spans(*events)) == {"a": (6_500, 9_000), "b": (2_500, 2_500)}


def test_spans_that_overlap_say_what_is_left_out_of_them() -> None:
    found = chrome.read(spans(event("X", 0, "a", dur=50), event("X", 25, "b", dur=50), event("X", 26, "c", dur=9)))
    assert found.totals == [50_000]
    assert "25.0 µs of theirs is left out" in found.about["caution"]
    rounded = chrome.read(spans(event("X", 0, "a", dur=50), event("X", 25, "b", dur=25.2)))
    assert "caution" not in rounded.about


def test_the_time_of_a_thread_counts_where_no_other_is_told_and_what_tells_none_is_shown() -> None:
    data = spans(event("X", 0, "a", tdur=4, tts=9), event("X", 5, "b"), event("X", 6, "c", dur=1, tdur=9))
    assert functions(data) == {"a": (4_000, 4_000), "b": (0, 0), "c": (1_000, 1_000)}
    stacks = chrome.read(data)
    assert (stacks.about["skipped"], stacks.about["skipped_at"][0][0]) == (1, 1)
    unended = chrome.read(spans(event("X", 0, "a", dur=-1), event("X", 0, "b", dur=5)))  # as Perfetto marks them
    assert (unended.totals, unended.about["skipped"]) == ([5_000], 1)


@pytest.mark.parametrize("args", [{}, {"data": {}}, None], ids=["no data", "empty data", "no arguments"])
def test_a_chunk_without_anything_in_it_changes_nothing(args: Event | None) -> None:
    nodes = [node(1, "(root)"), node(2, "work") | {"parent": 1}]
    full = {"data": {"cpuProfile": {"nodes": nodes, "samples": [2, 2]}, "timeDeltas": [5, 5]}}
    begun = event("P", 0, "Profile", id="0x1", args={"data": {"startTime": 0}})
    empty = event("P", 2, "ProfileChunk", id="0x1") | ({} if args is None else {"args": args})
    chunks = [begun, event("P", 1, "ProfileChunk", id="0x1", args=full)]
    assert functions(spans(*chunks, empty)) == functions(spans(*chunks))


def test_samples_that_point_to_frames_are_read_as_hermes_writes_them() -> None:
    frames = {
        "1": {"name": "[root]", "category": "root"},
        "2": {"name": "main(app.js:1:1)", "parent": 1, "category": "JavaScript"},
        "3": {"name": "[HostFunction] log", "parent": 2, "category": "native"},
    }
    samples = [
        {"ts": str(at), "tid": tid, "sf": frame}
        for at, tid, frame in ((10, "7", 2), (30, "7", 3), (40, "7", 2), (5, "8", 3))
    ]
    data = json.dumps({"traceEvents": [], "samples": samples, "stackFrames": frames}).encode()
    assert functions(data) == {"main(app.js:1:1)": (20_000, 30_000), "[HostFunction] log": (10_000, 10_000)}
    stacks = chrome.read(data)
    assert stacks.totals == [4, 30_000]
    for broken in ({"1": {"name": "a", "parent": 1}}, {"2": {"name": "a", "parent": 9}}):
        with pytest.raises(BadProfile):
            chrome.read(
                json.dumps({"samples": [{"ts": "1", "sf": 1}, {"ts": 2, "sf": 2}], "stackFrames": broken}).encode()
            )


def test_functions_of_one_name_that_py_spy_saw_in_several_files_are_told_apart() -> None:
    """``py-spy record -f chrometrace``: every imported module is a ``<module>``, and so is the program."""

    def ran(phase: str, at: float, name: str, file: str) -> Event:
        return event(phase, at, name, cat="py-spy", args={"filename": file, "line": int(at)})

    events = [
        ran("B", 0, "<module>", "/app/shop.py"), ran("B", 2, "<module>", "/app/tax/rates.py"),
        ran("B", 3, "load", "/app/tax/rates.py"), ran("E", 5, "load", "/app/tax/rates.py"),
        ran("E", 6, "<module>", "/app/tax/rates.py"), ran("E", 10, "<module>", "/app/shop.py"),
    ]  # fmt: skip
    assert functions(spans(*events)) == {
        "<module> (app/shop.py)": (6_000, 10_000),
        "<module> (app/tax/rates.py)": (2_000, 4_000),
        "load": (2_000, 2_000),
    }
    elsewhere = [{**one, "cat": "io"} for one in events]  # where it may be a file that was opened
    assert set(functions(spans(*elsewhere))) == {"<module>", "load"}


def test_threads_do_not_nest_in_each_other() -> None:
    named = event("M", 0, "thread_name", args={"name": "loader"})
    stacks = chrome.read(spans(*NESTED, event("X", 3, "c", dur=4, tid=2), named))
    assert stacks.totals == [13_000]
    assert stacks.about["labels"]["thread"] == {"loader (1)": [9_000], "thread 2": [4_000]}


def test_an_array_without_its_end_is_read() -> None:
    data = json.dumps(list(NESTED)).encode()
    assert functions(data[:-1]) == functions(data[:-1] + b",\n") == functions(data)


def test_an_end_without_beginning_is_skipped_and_a_beginning_without_end_lasts() -> None:
    begun = (event("B", 2, "a"), event("B", 3, "b"), event("E", 5, "a"))
    stacks = chrome.read(spans(event("E", 1, "x"), *begun, event("B", 6, "c"), event("X", 6, "d", dur=2)))
    assert stacks.totals == [5_000]
    assert stacks.about["skipped"] == 1
    assert stacks.about["skipped_at"][0][0] == 0


def test_spans_that_overlap_end_with_the_one_around_them() -> None:
    assert functions(spans(event("X", 0, "a", dur=10), event("X", 5, "b", dur=10))) == {
        "a": (5_000, 10_000),
        "b": (5_000, 5_000),
    }


def test_cpu_samples_in_chunks_are_joined_and_win_over_spans() -> None:
    def chunk(part: Event, deltas: list[int]) -> Event:
        return event("P", 1, "ProfileChunk", id="0x1", args={"data": {"cpuProfile": part, "timeDeltas": deltas}})

    child = {**node(2, "f"), "parent": 1}
    data = spans(
        *NESTED,
        event("P", 1, "Profile", id="0x1", args={"data": {"startTime": 1000}}),
        chunk({"nodes": [node(1, "(root)"), child], "samples": [2]}, [10]),
        chunk({"samples": [2]}, [100]),
    )
    stacks = chrome.read(data)
    assert stacks.totals == [2, 100_000]
    assert stacks.names == ["f"]


def test_threads_that_ran_beside_each_other_were_recorded_for_as_long_as_one() -> None:
    def profiled(key: str, start: int, deltas: list[int]) -> list[Event]:
        data = {"startTime": start, "timeDeltas": deltas}
        data["cpuProfile"] = {"nodes": [node(1, "(root)"), {**node(2, "f"), "parent": 1}], "samples": [2, 2, 2]}
        return [event("P", start, "Profile", id=key, args={"data": data})]

    stacks = chrome.read(spans(*profiled("0x1", 1000, [0, 60, 40]), *profiled("0x2", 1010, [0, 50, 40])))
    assert stacks.totals == [6, 190_000]
    assert stacks.about["duration_ns"] == 100_000
    frames = {"1": {"name": "main", "category": "JavaScript"}}
    samples = [{"ts": at, "tid": tid, "sf": 1} for tid in (7, 8) for at in (10, 40)]
    hermes = chrome.read(json.dumps({"traceEvents": [], "samples": samples, "stackFrames": frames}).encode())
    assert (hermes.totals[1], hermes.about["duration_ns"]) == (60_000, 30_000)


def test_pieces_of_a_profile_count_in_the_order_of_time_however_a_file_has_them() -> None:
    def chunk(ts: float, part: Event, deltas: list[int]) -> Event:
        return event("P", ts, "ProfileChunk", id="0x1", args={"data": {"cpuProfile": part, "timeDeltas": deltas}})

    nodes = [node(1, "(root)"), {**node(2, "f"), "parent": 1}, {**node(3, "g"), "parent": 2}]
    events = [
        event("P", 1, "Profile", id="0x1", args={"data": {"startTime": 1}}),
        chunk(2, {"nodes": nodes[:2], "samples": [1, 2]}, [0, 100]),
        chunk(3.5, {"nodes": nodes[2:], "samples": [3, 3]}, [1000, 30]),
        chunk(4, {"samples": [2]}, [7]),
    ]
    told = functions(spans(*events))
    assert told["g"] == (37_000, 37_000)
    for order in permutations(events):
        assert functions(spans(*order)) == told
        assert chrome.read(spans(*order)).samples == chrome.read(spans(*events)).samples


def test_a_trace_with_nothing_to_draw_is_no_profile() -> None:
    with pytest.raises(NotRecognised, match="no CPU samples and no spans"):
        chrome.read(spans(event("i", 1, "tick")))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"traceEvents": [{"ph": "B"', "truncated"),
        (b'[{"ph": "B", "ts": 1', "truncated"),
        (spans({"ph": "X", "ts": "soon"}), "a number"),
        (b'{"traceEvents": {"ph": "X"}}', "a list"),
        (b'{"traceEvents": [3]}', "an object"),
        (spans(event("X", 1e300, "a", dur=1)), "63 bits"),
        (spans(event("P", 1, "Profile", args=3)), "an object"),
    ],
)
def test_what_is_wrong_is_named(data: bytes, says: str) -> None:
    with pytest.raises(BadProfile, match=says):
        chrome.read(data)


def test_json_formats_are_told_apart() -> None:
    profile = {"nodes": [node(1, "(root)"), node(2, "ph")], "samples": [], "timeDeltas": []}
    told = [formats.sniff(data) for data in (spans(*NESTED), json.dumps(profile).encode())]
    assert [module and module.NAME for module in told] == ["chrome", "v8"]
