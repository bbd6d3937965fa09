"""A scene with something laid out in it, built once per module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pytest_django import DjangoDbBlocker

from integrations.pagerduty.tests.straight import pager_on
from integrations.slack.adapter import current
from integrations.tests import once
from integrations.tests.outsiders import scene as building
from integrations.tests.outsiders.scene import Scene
from workflows import ports

Made = TypeVar("Made")
Laid = tuple[Scene, Made]


@contextmanager
def laid(blocker: DjangoDbBlocker, lay: Callable[[Scene], Made]) -> Iterator[Laid[Made]]:
    """Build a scene and lay something out in it, for the length of the block."""

    @contextmanager
    def build() -> Iterator[Laid[Made]]:
        with building.scene() as made:
            yield made, lay(made)

    with once.laid(blocker, build) as found:
        yield found


@contextmanager
def copied(of: Laid[Made]) -> Iterator[Laid[Made]]:
    """Return a copy of a scene, behind its doors for the length of the block."""
    scene, found = once.copied(of)
    scene.duty.pager = pager_on(scene.duty.account)  # PagerDuty's own client cannot be copied
    with ports.using(chat=scene.house.chat, pager=scene.duty.pager), current.using(building.chat_of(scene.door)):
        yield scene, found
