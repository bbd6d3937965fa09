"""Parts of a file that are read beside one another, and taken in order. Pure."""

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
# How many parts are read before they are taken, which bounds what they hold meanwhile.
AHEAD = 2 * THREADS


@contextmanager
def at_once(read: Callable[[Part], Read], parts: Sequence[Part]) -> Iterator[Iterator[Read]]:
    """Give what ``read`` makes of each part, in their order; on threads where there are many.

    What it raises is raised when that part is taken, so the first fault of a file is the one that is told.
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
