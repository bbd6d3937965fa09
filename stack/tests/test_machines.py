"""Several machines: the faults are planned, and a replica takes over with all that was committed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stack.machines import failing
from stack.machines.costs import AssumedLoad, MeasuredCosts, estimated
from stack.processes.guard import Guard
from stack.services import postgres, postgres_pair, services


@given(st.floats(10, 600))
def test_everything_happens_once_in_order_and_within_the_time(length_s: float) -> None:
    planned = failing.faults(length_s)
    assert [one.kind for one in planned] == list(failing.AT)
    assert {*failing.FAULTS} == {*failing.AT}
    moments = [one.at_s for one in planned]
    assert moments == sorted(moments)
    assert 0 < moments[0] < moments[-1] < length_s


@pytest.mark.slow
def test_what_was_committed_survives_the_first_server(tmp_path: Path) -> None:
    guard = Guard()
    with services.sockets(tmp_path) as sockets:
        made = postgres.start(tmp_path / "first", sockets=sockets, guard=guard)
        postgres.ensure_database(sockets)
        postgres.stop(made)
        pair = postgres_pair.start(tmp_path, sockets=sockets, guard=guard)
        try:
            address = postgres.owner_url(pair.url)
            with psycopg.connect(address) as before:
                before.execute("CREATE TABLE kept AS SELECT 7 AS n")
            pair.fail_over()
            with psycopg.connect(address) as after:
                assert after.execute("INSERT INTO kept SELECT n + 1 FROM kept RETURNING n").fetchone() == (8,)
        finally:
            pair.stop()
            guard.close()


@given(st.builds(AssumedLoad), st.integers(2, 5), st.lists(st.floats(0.1, 100), min_size=7, max_size=7))
def test_an_estimate_grows_with_what_people_do(load: AssumedLoad, times: int, ms: list[float]) -> None:
    parts = {"web": 100.0, "worker": 200.0, "PostgreSQL": 100.0}
    costs = MeasuredCosts(ms[0], ms[1], ms[2], ms[3], ms[4], ms[5], ms[6], parts)
    more = replace(
        load,
        changes_a_minute=load.changes_a_minute * times,
        pages_a_minute=load.pages_a_minute * times,
        declares_a_minute=load.declares_a_minute * times,
    )
    before, after = estimated(costs, load), estimated(costs, more)
    grow = {name for name in before if after[name] == pytest.approx(before[name] * times)}
    assert {*before} - grow == {"memory of open pages, GiB"}
    nobody = replace(load, responders=0, declares_a_minute=0)
    assert not any(estimated(costs, nobody).values())
