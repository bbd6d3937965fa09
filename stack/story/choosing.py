"""Which story is asked for, by STORY."""

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
    """Give the stories of evidence that are asked for: none means the short one. Raises StackError on other names."""
    name, known = os.environ.get("STORY", ""), written.names()
    if name in {"", AGAIN}:
        return []
    if name not in {*known, ALL}:
        raise StackError(f"There is no story {name!r}: STORY is one of {', '.join([*known, ALL, AGAIN])}.")
    return known if name == ALL else [name]


def short_again() -> bool:
    """Return whether the short story is to be played although it was."""
    return os.environ.get("STORY") == AGAIN


def scenes(story: written.Story) -> list[Scene]:
    """Make scenes of the chapters of a story; what one of them names, the next ones know."""
    names = Bindings(story.name)
    return [
        Scene(f"{story.name}-{n}", one.title, one.says, partial(_through, names, one.steps))
        for n, one in enumerate(story.chapters, start=1)
    ]


def _through(names: Bindings, steps: tuple[written.StoryStep, ...], stage: Stage) -> None:
    for step in steps:
        take(step, stage=stage, names=names)
