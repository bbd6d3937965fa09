"""Stories as written in fixtures/stories: titles, words, and steps that people take one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from config.env import ROOT
from stack.errors import StackError

FOLDER = ROOT / "fixtures" / "stories"

# The required and optional arguments of each kind of step; `stack.story.steps` says what it does.
KEYS = {
    "declare": ("by where text", ""),
    "type": ("by text", ""),
    "write": ("by text", "pinned"),
    "join": ("who", ""),
    "evidence": ("as by file title", "source seconds phase variant control unit"),
    "link": ("as by url title", ""),
    "find": ("by in text", ""),
    "compare": ("by control with", "sample"),
    "claim": ("as by text", ""),
    "seen": ("by", ""),
    "judge": ("claim by verdict text", "for against"),
}


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One thing that someone does."""

    kind: str
    given: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Chapter:
    """Steps that belong together, under a title."""

    title: str
    says: str
    steps: tuple[StoryStep, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """A whole story."""

    name: str
    title: str
    says: str
    chapters: tuple[Chapter, ...]

    @property
    def steps(self) -> Iterator[StoryStep]:
        """All steps in order."""
        return (step for chapter in self.chapters for step in chapter.steps)


def names() -> list[str]:
    """List the written stories."""
    return sorted(path.parent.name for path in FOLDER.glob("*/story.yaml"))


def read(name: str, *, folder: Path = FOLDER) -> Story:
    """Read a story. Raises StackError naming the chapter and the step that cannot be understood."""
    with (folder / name / "story.yaml").open(encoding="utf-8") as file:
        body = yaml.safe_load(file)
    chapters = tuple(_chapter(one, where=f"{name}, chapter {n}") for n, one in enumerate(body["chapters"], start=1))
    return Story(name, body["title"], body["says"], chapters)


def _chapter(body: Mapping[str, Any], *, where: str) -> Chapter:
    steps = tuple(_step(one, where=f"{where}, step {n}") for n, one in enumerate(body["steps"], start=1))
    return Chapter(body["title"], body.get("says", ""), steps)


def _step(body: Mapping[str, Mapping[str, Any]], *, where: str) -> StoryStep:
    [(kind, given)] = body.items()
    if kind not in KEYS:
        raise StackError(f"{where}: nobody knows how to {kind!r}.")
    asked, more = (set(keys.split()) for keys in KEYS[kind])
    if wrong := (asked - given.keys()) | (given.keys() - asked - more):
        raise StackError(f"{where}: {kind} is missing or does not take {', '.join(sorted(wrong))}.")
    return StoryStep(kind, given)
