"""Threads that never do work whose caller was told that it failed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


class NoThread(Exception):
    """The system has no thread to spare, and none is there that could do it later."""


class PatientThreads(ThreadPoolExecutor):
    """A pool in which work waits for the threads there are if the system has no further one to spare.

    Python's own pool raises an error then, and keeps the work: the caller is told that it failed, and a thread that
    becomes free does it all the same.
    """

    def submit(self, fn: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Result]:
        """Have it done soon. Raises ``NoThread``; then it is not done."""
        return super().submit(fn, *args, **kwargs)

    def _adjust_thread_count(self) -> None:
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                self._work_queue.get_nowait()  # the only one: no earlier work was accepted without a thread
                raise NoThread from None
