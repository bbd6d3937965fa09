"""A worker whose system has no further thread to spare does what it is told about with the threads it has."""

from __future__ import annotations

import threading

import pytest

from config.messages import CONFIGURATION
from config.process.task_pool import TaskThreads


def test_workers_use_it() -> None:
    assert CONFIGURATION["worker_pool"] == f"{TaskThreads.__module__}:{TaskThreads.__name__}"


def test_tasks_wait_for_the_threads_there_are_and_are_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    both = threading.Semaphore(0)

    def do(n: int) -> None:
        done.append(n)
        both.release()

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pool = TaskThreads(4)
    pool.start()
    try:
        with monkeypatch.context() as full:
            full.setattr(threading.Thread, "start", start)
            for n in (1, 2, 3):
                pool.apply_async(do, (n,))
            assert all(both.acquire(timeout=60) for _ in range(3))
    finally:
        pool.stop()
    assert done == [1, 2, 3]
