from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import errors as refused

from incidents.claiming.keyed_executor import Aside, Lane


def test_what_is_asked_for_meanwhile_is_done_once_more_and_never_at_once() -> None:
    done: list[int] = []
    go, began, ended = threading.Event(), threading.Event(), threading.Semaphore(0)

    def do(key: int) -> None:
        began.set()
        assert go.wait(60)
        done.append(key)
        ended.release()

    aside = Aside(do, at_once=4)
    aside.ask(1)
    assert began.wait(60)
    for _ in range(5):
        aside.ask(1)
    assert not done
    go.set()
    assert all(ended.acquire(timeout=60) for _ in range(2))
    aside._pool.shutdown()
    assert done == [1, 1]


def test_what_is_asked_for_again_before_it_began_is_done_once() -> None:
    done: list[int] = []
    go = threading.Event()

    def do(key: int) -> None:
        assert go.wait(60)
        done.append(key)

    aside = Aside(do, at_once=1)
    aside.ask(1)
    for _ in range(3):
        aside.ask(2)
    go.set()
    aside._pool.submit(int).result(60)  # after all that was asked for, on its only thread
    aside._pool.shutdown()
    assert done == [1, 2]


def test_others_are_done_side_by_side() -> None:
    both = threading.Barrier(2, timeout=60)

    def meet(_: int) -> None:
        both.wait()

    aside = Aside(meet, at_once=2)
    aside.ask(1)
    aside.ask(2)
    aside._pool.shutdown()
    assert both.n_waiting == 0
    assert not both.broken


@pytest.mark.parametrize("made", [Aside, Lane])
def test_what_a_database_takes_from_nobody_is_logged_once_until_it_works(
    made: type[Aside[int] | Lane[int]], caplog: pytest.LogCaptureFixture
) -> None:
    """It is tried every other second, for each incident with something to do, for as long as the outage lasts."""
    errors: list[Exception | None] = [refused.ReadOnlySqlTransaction() for _ in range(5)]
    errors += [None, refused.DiskFull(), refused.DiskFull(), refused.DeadlockDetected(), refused.DeadlockDetected()]

    def do(_: int) -> None:
        if (error := errors.pop(0)) is not None:
            raise error

    tried: Aside[int] | Lane[int] = Aside(do, at_once=1) if made is Aside else Lane(do, at_once=1, name="tried")
    logged = []
    while errors:
        tried.ask(7)
        tried._pool.submit(int).result(60)
        logged.append(sum("was interrupted" in one.getMessage() for one in caplog.records))
    assert logged == [1, 1, 1, 1, 1, 1, 2, 2, 3, 4]


class Held:
    """A lane of one thread that is held up until told, and what it did."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.go, self.held = threading.Event(), threading.Event()
        self.lane: Lane[int] = Lane(self._do, at_once=1, name="held")
        self.lane.ask(-1)
        assert self.held.wait(60)

    def _do(self, key: int) -> None:
        if key == -1:
            self.held.set()
            assert self.go.wait(60)
        else:
            self.done.append(key)

    def finish(self) -> list[int]:
        self.go.set()
        self.lane._pool.shutdown()
        return self.done


@given(st.lists(st.integers(0, 20), max_size=30))
def test_what_waits_is_done_once_however_often_it_was_asked_for(keys: list[int]) -> None:
    held = Held()
    for key in keys:
        held.lane.ask(key)
    assert sorted(held.finish()) == sorted(set(keys))


def test_what_was_asked_for_last_waits_behind_one_other_and_what_waits_longest_has_every_other_turn() -> None:
    held = Held()
    for key in range(6):
        held.lane.ask(key)
    assert held.finish() in ([5, 0, 4, 1, 3, 2], [0, 5, 1, 4, 2, 3])


def test_what_is_asked_for_while_it_is_being_done_is_done_once_more() -> None:
    held = Held()
    held.lane.ask(-1)
    held.lane.ask(1)
    held.finish()
    assert held.done == [1]
    assert not held.lane._waiting


def test_a_lane_that_ends_leaves_what_waits_and_waits_for_what_was_begun() -> None:
    held = Held()
    held.lane.ask(1)
    ending = threading.Thread(target=held.lane.end)
    ending.start()
    while held.lane._waiting:
        pass
    held.lane.ask(2)  # it may still be asked: threads take no more work, or one does the remaining work
    held.go.set()
    ending.join(10)
    assert 1 not in held.done


@pytest.mark.parametrize("error", [ValueError("a fault of ours"), SystemExit()])
def test_one_that_fails_ends_no_other(error: BaseException) -> None:
    done = list[int]()

    def do(key: int) -> None:
        if key == 0:
            raise error
        done.append(key)

    lane = Lane(do, at_once=1, name="failing")
    for key in range(3):
        lane.ask(key)
    lane._pool.shutdown()
    assert sorted(done) == [1, 2]
