"""The benchmark's own arithmetic."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from config import env
from config.parsing import sandbox
from integrations.api import query_schemas
from stack.bench import document
from stack.bench.declaring import longest_chain
from stack.bench.load import Answers
from stack.bench.seeded import growth
from stack.bench.storms import crowd, storm
from stack.bench.table import Figure, ReportTable
from stack.errors import StackError
from stack.outside.api import EvidenceQuery
from stack.supervisor import surroundings


def call(method: str, began_at: float, **args: Any) -> dict[str, Any]:
    return {"method": method, "began_at": began_at, "args": args, "ok": True}


def test_a_stream_has_told_of_an_event_once_it_names_that_number_or_a_later_one() -> None:
    recorded = [(4, 100.0), (5, 100.2), (6, 101.0), (7, 101.5)]
    told = crowd.waited(recorded, [(3, 99.0), (5, 100.5), (6, 101.25)])
    assert told == pytest.approx([0.5, 0.3, 0.25, float("inf")])


def test_the_longest_chain_follows_what_needs_what() -> None:
    calls = [
        call("conversations.create", 0, name="inc-x"),
        call("conversations.invite", 1, channel="C1"),
        call("chat.postMessage", 1, channel="C1"),
        call("conversations.setTopic", 1, channel="C1"),
        call("pins.add", 2, channel="C1", timestamp="1700000000.000100"),
    ]
    assert longest_chain(calls) == 3


def test_a_call_that_failed_is_not_in_the_chain() -> None:
    calls = [call("conversations.create", 0, name="inc-x"), call("pins.add", 1, timestamp="1.0") | {"ok": False}]
    assert longest_chain(calls) == 1


def test_a_figure_holds_on_its_own_side_of_the_target() -> None:
    assert Figure("a", 1.2, 1.2).holds
    assert not Figure("a", 79, 80, more=True).holds


def test_the_table_remembers_what_falls_short() -> None:
    lines: list[str] = []
    table = ReportTable(lines.append)
    table.add(Figure("slow", 3, 2, " s", "beside 1 s", "neighbours 9 s"))
    table.add(Figure("quick", 1, 2, " s"))
    assert [figure.name for figure in table.short] == ["slow"]
    assert "FALLS SHORT" in lines[0]
    assert "neighbours 9 s" in lines[0]
    assert "PASS" in lines[1]


def test_answers_know_their_percentiles() -> None:
    answers = Answers([n / 1000 for n in range(1, 101)], took_s=2)
    assert answers.percentile_ms(0.99) == 100
    assert answers.per_s == 50


def test_a_refusal_does_not_count_as_quick() -> None:
    answers = Answers([0.001])
    answers.statuses[302] += 1
    with pytest.raises(StackError, match="302"):
        answers.must_be(200)


def test_the_storm_starts_beside_the_sandbox(tmp_path: Path) -> None:
    sandbox.check(env.present({**surroundings.with_sandbox(data_dir=tmp_path, port=8000), **storm.ENV}))


def test_a_group_replaces_its_own_section_of_the_page() -> None:
    order = ("idle", "pages", "storm")
    old = _page("", "storm", Figure("answered", 2, 3, " s"), order=order)
    both = _page(old, "idle", Figure("processor", 1.5, 1, " %", "web 0.2 | worker 1.3"), order=order)
    assert both.index("## idle") < both.index("## storm")
    assert "| processor | 1.50 % | ≤ 1 % | FALLS SHORT | web 0.2 / worker 1.3 |" in both
    again = _page(both, "storm", Figure("answered", 1, 3, " s"), order=order)
    assert "| answered | 1 s | ≤ 3 s | PASS |  |" in again
    assert "| answered | 2 s |" not in again
    assert again.count("## ") == 2
    assert _page(again, "storm", Figure("answered", 1, 3, " s"), order=order) == again


def test_a_section_says_where_its_figures_come_from() -> None:
    page = _page("", "storm", Figure("answered", 2, 3, " s"), order=("storm",))
    assert "Two cores. 2026-01-02 03:04 UTC, commit abc, `python -m stack bench storm --write`, seed 1." in page


@pytest.mark.parametrize(
    ("most", "sizes"),
    [
        ({}, (1_000, 10_000, 100_000)),
        ({growth.MOST: "1000000"}, growth.SIZES),
        ({growth.MOST: "10"}, (1_000,)),
    ],
)
def test_growth_begins_small_and_goes_as_far_as_asked(most: dict[str, str], sizes: tuple[int, ...]) -> None:
    assert growth.sizes(most) == sizes


def _page(before: str, group: str, figure: Figure, *, order: tuple[str, ...]) -> str:
    at = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    origin = document.Provenance("Two cores", at, "abc", f"python -m stack bench {group} --write", 1)
    return document.page(before, group, [("Under load", figure)], origin=origin, order=order)


def test_whoever_sends_a_file_from_outside_names_what_the_api_takes() -> None:
    """It rejects any other parameter, and mypy checks callers against this table."""
    assert set(EvidenceQuery.__annotations__) == {one["name"] for one in query_schemas.UPLOAD}


@pytest.mark.parametrize(
    ("least_ms", "most_ms", "times"),
    [(10.0, 30.0, 3.0), (0.3, 2.1, 1.0), (1.0, 9.0, 3.0), (2.0, 30.0, 10.0), (30.0, 15.0, 0.5)],
)
def test_growth_counts_beyond_what_planning_takes(least_ms: float, most_ms: float, times: float) -> None:
    assert growth.grown(least_ms, most_ms) == pytest.approx(times)
