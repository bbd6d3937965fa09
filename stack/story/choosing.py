"""Which story STORY asks for."""

from __future__ import annotations

import os
from functools import partial

from stack.errors import StackError
from stack.story import written
from stack.story.scenes import Scene
from stack.story.stage import Stage
from stack.story.steps import Bindings, take

AGAIN, ALL = "again", "all"


def asked() -> list[str]:
    """Return the requested evidence stories; empty means the short story. Raises StackError on other names."""
    name, known = os.environ.get("STORY", ""), written.names()
    if name in {"", AGAIN}:
        return []
    if name not in {*known, ALL}:
        raise StackError(f"There is no story {name!r}: STORY is one of {', '.join([*known, ALL, AGAIN])}.")
    return known if name == ALL else [name]


def short_again() -> bool:
    """Return whether the short story should be played although it already was."""
    return os.environ.get("STORY") == AGAIN


def scenes(story: written.Story) -> list[Scene]:
    """Make scenes from the chapters of a story; names given in one are known in the following ones."""
    names = Bindings(story.name)
    return [
        Scene(f"{story.name}-{n}", one.title, one.says, partial(_through, names, one.steps))
        for n, one in enumerate(story.chapters, start=1)
    ]


def _through(names: Bindings, steps: tuple[written.StoryStep, ...], stage: Stage) -> None:
    for step in steps:
        take(step, stage=stage, names=names)
