from __future__ import annotations

import threading

from workflows.effects.keyed_executor import Aside


def test_what_is_asked_for_meanwhile_is_done_once_more_and_never_at_once() -> None:
    done: list[int] = []
    go, began, ended = threading.Event(), threading.Event(), threading.Semaphore(0)

    def do(key: int) -> None:
        began.set()
        assert go.wait(10)
        done.append(key)
        ended.release()

    aside = Aside(do, at_once=4)
    aside.ask(1)
    assert began.wait(10)
    for _ in range(5):
        aside.ask(1)
    assert not done
    go.set()
    assert all(ended.acquire(timeout=10) for _ in range(2))
    aside._pool.shutdown()
    assert done == [1, 1]


def test_others_are_done_side_by_side() -> None:
    both = threading.Barrier(2, timeout=10)

    def meet(_: int) -> None:
        both.wait()

    aside = Aside(meet, at_once=2)
    aside.ask(1)
    aside.ask(2)
    aside._pool.shutdown()
    assert both.n_waiting == 0
    assert not both.broken
