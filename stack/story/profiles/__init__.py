"""Small programs that generate the stories' files: the same bytes every time, true to the story's facts.

Every file is a reconstruction of what someone measured, never the measurement itself, and its title says so. `python -m
stack.story.profiles gossip FOLDER` writes them for inspection, or for `manage.py profile`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path

STORIES = ("gossip", "poll", "pause", "writer", "keepalive")


def names(story: str) -> list[str]:
    """List the files of a story."""
    return list(_makers(story))


def make(story: str, name: str) -> bytes:
    """Generate one file of a story."""
    return _makers(story)[name]()


def write(story: str, folder: Path) -> list[Path]:
    """Write all files of a story into a folder and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / name for name in names(story)]
    for path in written:
        path.write_bytes(make(story, path.name))
    return written


def _makers(story: str) -> Mapping[str, Callable[[], bytes]]:
    makers: Mapping[str, Callable[[], bytes]] = importlib.import_module(f"{__name__}.{story}").FILES
    return makers
