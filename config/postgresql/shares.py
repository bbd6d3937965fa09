"""Who may have how many of a process's connections, so that no kinds of work together can take all of them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Final

OTHERS: Final = ""  # threads that are of no kind


class Shares:
    """Divides ``most`` connections among kinds of work.

    Each kind can always have as many as it ``keeps``, whatever the others do. The rest goes to those who need it first.
    """

    def __init__(self, most: int, keeps: Mapping[str, int]) -> None:
        self._keeps = {OTHERS: 1, **keeps}
        self._spare = most - sum(self._keeps.values())
        assert self._spare >= 0, "more connections are kept than there are"
        self._taken: Counter[str] = Counter()
        self._changed = threading.Condition()

    def take(self, kind: str, *, within_s: float) -> bool:
        """Wait until a kind may have one more connection, at most for so long; return whether it may."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._has_room(kind), within_s):
                return False
            self._taken[kind] += 1
            return True

    def give_back(self, kind: str) -> None:
        """Let others have a connection of this kind's."""
        with self._changed:
            self._taken[kind] -= 1
            self._changed.notify_all()

    def _has_room(self, kind: str) -> bool:
        if self._taken[kind] < self._keeps.get(kind, 0):
            return True
        return sum(max(0, count - self._keeps.get(one, 0)) for one, count in self._taken.items()) < self._spare


class _Thread(threading.local):
    kind = OTHERS


_thread: Final = _Thread()
_shares: list[Shares] = []


def divide(shares: Shares | None) -> None:
    """Have this process's connections divided from now on, or no longer; to be called before any is in use."""
    _shares[:] = [shares] if shares else []


def divided() -> Shares | None:
    """Return how this process's connections are divided; None if they are not."""
    return _shares[0] if _shares else None


def is_of(kind: str) -> None:
    """Note which kind of work this thread does."""
    _thread.kind = kind


def kind_here() -> str:
    """Return which kind of work this thread does."""
    return _thread.kind
