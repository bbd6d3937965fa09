"""Regular looks in threads: in one while they are quick, and none held up by one that takes long."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError

from config.process.look_runner import LookRunner
from incidents.claiming.keyed_executor import Aside, Lane
from stack.outside import until

NAMES = ("a", "b", "c", "d")


@pytest.fixture(autouse=True)
def _no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.process.look_runner.connection", _Closed())


class _Closed:
    def close(self) -> None:
        """Close nothing."""


def test_quick_looks_share_one_thread() -> None:
    threads, took, round_over = Counter[str](), list[str](), threading.Event()

    def take(name: str) -> None:
        threads[threading.current_thread().name] += 1
        took.append(name)
        if name == NAMES[-1]:
            round_over.set()

    looks = LookRunner(take, at_once=4)
    for _ in range(20):
        round_over.clear()
        looks.ask(NAMES)
        assert round_over.wait(30)
        until(lambda: not looks.busy, what="the thread ends")
    assert took == [*NAMES] * 20
    assert len(threads) == 1


def test_one_that_takes_long_holds_up_no_other_and_is_never_taken_beside_itself() -> None:
    go_on, took, lock = threading.Event(), Counter[str](), threading.Lock()

    def take(name: str) -> None:
        with lock:
            took[name] += 1
        if name in {"a", "b"}:
            go_on.wait(30)

    looks = LookRunner(take, at_once=len(NAMES))

    def go_round() -> bool:
        looks.ask(NAMES)
        return min(took["c"], took["d"]) >= 10

    until(go_round, what="the others are taken")
    assert (took["a"], took["b"]) == (1, 1)
    go_on.set()

    def again() -> bool:
        looks.ask(NAMES)
        return took["a"] >= 2

    until(again, what="it is taken again once it ended")


def test_what_was_not_begun_when_a_process_is_asked_to_stop_is_left_to_others() -> None:
    began, go_on, took = threading.Event(), threading.Event(), list[str]()

    def take(name: str) -> None:
        took.append(name)
        began.set()
        go_on.wait(30)

    looks = LookRunner(take, at_once=1)
    looks.ask(NAMES)
    assert began.wait(30)
    looks.end()
    looks.ask(NAMES)
    go_on.set()
    until(lambda: not looks.busy, what="the thread ends")
    assert took == ["a"]


def test_a_database_that_is_away_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    took, away = Counter[str](), threading.Event()

    def take(name: str) -> None:
        took[name] += 1
        if away.is_set():
            raise OperationalError("gone")

    looks = LookRunner(take, at_once=1)

    def more(rounds: int) -> None:
        goal = took["a"] + rounds

        def reached() -> bool:
            looks.ask("a")
            return took["a"] >= goal

        until(reached, what="it is taken again")
        until(lambda: not looks.busy, what="the thread ends")

    for is_away in (True, False, True):
        away.set() if is_away else away.clear()
        more(5)
    assert len(caplog.records) == 2


@pytest.mark.parametrize("error", [OperationalError("gone"), ValueError("a fault of ours"), SystemExit()])
def test_one_that_fails_ends_no_other(error: BaseException) -> None:
    took = Counter[str]()

    def take(name: str) -> None:
        took[name] += 1
        if name == "b":
            raise error

    looks = LookRunner(take, at_once=2)

    def go_round() -> bool:
        looks.ask(NAMES)
        return all(took[name] >= 5 for name in NAMES)

    until(go_round, what="all are taken, again and again")


@pytest.mark.parametrize("asked_of", [LookRunner, Aside, partial(Lane, name="lane")])
def test_what_is_asked_for_as_the_process_ends_is_left_to_others(
    asked_of: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A running look may ask for more after threads stop taking work, and that is not a failure."""
    took: list[str] = []
    threads = asked_of(took.append, at_once=2)
    with monkeypatch.context() as ending:
        ending.setattr("concurrent.futures.thread._shutdown", True)
        threads.ask("a")
    assert not took
    threads.ask("a")  # nothing was kept that it would wait for
    until(lambda: took == ["a"], what="it is taken")


@pytest.mark.parametrize("asked_of", [LookRunner, Aside, partial(Lane, name="lane")])
def test_what_is_asked_for_while_no_thread_can_be_had_is_done_once_there_is_one(
    asked_of: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller is the worker's own loop: if it ended, nothing would look for work, and no one would report it."""
    took: list[str] = []
    threads = asked_of(took.append, at_once=2)

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", start)
        for name in "ab":
            threads.ask(name)
    assert not took
    threads.ask("c")
    until(lambda: sorted(took) == ["a", "b", "c"], what="all are taken")
