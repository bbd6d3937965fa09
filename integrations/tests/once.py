"""Build something once per module: each test gets a copy of the outside state, and a savepoint for the rows."""

from __future__ import annotations

import copy
import copyreg
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final, TypeVar

from django.db import transaction
from pytest_django import DjangoDbBlocker

Built = TypeVar("Built")
LOCKS: Final = (threading.Lock, threading.RLock)


@contextmanager
def laid(blocker: DjangoDbBlocker, build: Callable[[], AbstractContextManager[Built]]) -> Iterator[Built]:
    """Build something for the length of the block; the database then rolls it back.

    The transaction stays open, so that each test begins and ends inside it.
    """
    whole = transaction.atomic()
    with blocker.unblock():
        whole.__enter__()
        try:
            with build() as built:
                pass
        except BaseException:
            _undo(whole)
            raise
    try:
        yield built
    finally:
        with blocker.unblock():
            _undo(whole)


def copied(built: Built) -> Built:
    """Return an untouched copy of what was built, with locks of its own."""
    for lock in LOCKS:
        copyreg.pickle(type(lock()), lambda _, lock=lock: (lock, ()))  # type: ignore[misc]  # a new one for each copy
    try:
        return copy.deepcopy(built)
    finally:
        for lock in LOCKS:
            del copyreg.dispatch_table[type(lock())]


def _undo(whole: transaction.Atomic) -> None:
    transaction.set_rollback(True)
    whole.__exit__(None, None, None)
