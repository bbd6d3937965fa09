"""Read parts of a file in parallel, and return them in order. Pure."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import closing, contextmanager
from itertools import islice
from typing import TypeVar

Part = TypeVar("Part")
Read = TypeVar("Read")

THREADS = min(2, os.cpu_count() or 1)
# How many parts are read ahead, which bounds the memory they take.
AHEAD = 2 * THREADS


@contextmanager
def at_once(read: Callable[[Part], Read], parts: Sequence[Part]) -> Iterator[Iterator[Read]]:
    """Yield the result of ``read`` for each part, in order; on threads if there are many.

    An error is raised when its part's turn comes, so the first fault of a file is the one reported.
    """
    if len(parts) <= AHEAD:
        yield map(read, parts)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(THREADS) as threads, closing(_taken(threads, read, parts)) as taken:
        yield taken


def _taken(threads: Executor, read: Callable[[Part], Read], parts: Sequence[Part]) -> Generator[Read, None, None]:
    rest = iter(parts)
    waiting: deque[Future[Read]] = deque(threads.submit(read, part) for part in islice(rest, AHEAD))
    try:
        while waiting:
            taken = waiting.popleft().result()
            waiting.extend(threads.submit(read, part) for part in islice(rest, 1))
            yield taken
    finally:
        for one in waiting:
            one.cancel()
