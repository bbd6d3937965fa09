"""A scene built once for a module: each test gets a copy of what stands outside, and a savepoint of the rows."""

from __future__ import annotations

import copy
import copyreg
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from django.db import transaction
from pytest_django import DjangoDbBlocker

from integrations.pagerduty.tests.straight import pager_on
from integrations.slack.adapter import current
from integrations.tests.outsiders import scene as building
from integrations.tests.outsiders.scene import Scene
from workflows import ports

Made = TypeVar("Made")
Laid = tuple[Scene, Made]
LOCKS: Final = (threading.Lock, threading.RLock)


@contextmanager
def laid(blocker: DjangoDbBlocker, lay: Callable[[Scene], Made]) -> Iterator[Laid[Made]]:
    """Build a scene, and lay something out in it, for as long as the block lasts; the database forgets it after that.

    The transaction stays open, so that what a test does begins and ends within it.
    """
    whole = transaction.atomic()
    with blocker.unblock():
        whole.__enter__()
        try:
            with building.scene() as made:
                found = lay(made)
        except BaseException:
            _undo(whole)
            raise
    try:
        yield made, found
    finally:
        with blocker.unblock():
            _undo(whole)


@contextmanager
def copied(of: Laid[Made]) -> Iterator[Laid[Made]]:
    """Give a copy of a scene, behind its doors for as long as the block lasts."""
    for lock in LOCKS:
        copyreg.pickle(type(lock()), lambda _, lock=lock: (lock, ()))  # type: ignore[misc]  # a new one for each copy
    try:
        scene, found = copy.deepcopy(of)
    finally:
        for lock in LOCKS:
            del copyreg.dispatch_table[type(lock())]
    scene.duty.pager = pager_on(scene.duty.account)  # PagerDuty's own client cannot be copied
    with ports.using(chat=scene.house.chat, pager=scene.duty.pager), current.using(building.chat_of(scene.door)):
        yield scene, found


def _undo(whole: transaction.Atomic) -> None:
    transaction.set_rollback(True)
    whole.__exit__(None, None, None)
