"""Outdated pictures are reported, with the command to run; changes that cannot affect a picture are ignored."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from config.env import ROOT
from stack.documentation import stale_pictures

CHANGES = {".html": "\n<p>More</p>\n", ".css": "\n.more { color: red; }\n", ".py": "\nMORE = 1\n"}
UNSEEN = {".html": "\n{# why #}\n\n", ".css": "\n/* why */\n@media print { .more { color: red; } }\n"}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Copy what pictures show, and record that they were taken."""
    for name in stale_pictures.PAGES:
        for path in stale_pictures.files(name):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, tmp_path / path)
    (tmp_path / stale_pictures.KEPT).parent.mkdir(parents=True)
    stale_pictures.keep(tuple(stale_pictures.PAGES), root=tmp_path)
    return tmp_path


def test_whatever_a_picture_shows_makes_it_stale_and_nothing_else_does(house: Path) -> None:
    assert not list(stale_pictures.stale(root=house))
    shown = {path: name for name in stale_pictures.PAGES for path in stale_pictures.files(name, root=house)}
    assert {Path(path).suffix for path in shown} >= {*CHANGES}
    for path in shown:
        was = (house / path).read_text(encoding="utf-8")
        (house / path).write_text(was + UNSEEN.get(Path(path).suffix, "\n"), encoding="utf-8")
        assert not list(stale_pictures.stale(root=house)), path
        (house / path).write_text(was + CHANGES.get(Path(path).suffix, "\nmore\n"), encoding="utf-8")
        said = list(stale_pictures.stale(root=house))
        assert said, path
        assert all(path in one and "make pictures ARGS=" in one for one in said), said
        (house / path).write_text(was, encoding="utf-8")


def test_pages_take_in_what_is_theirs() -> None:
    shown = set(stale_pictures.files("retype"))
    assert {"templates/base.html", "templates/workflows/_lines.html", "static/firekind/frame.css"} <= shown
    assert not any("oncall_week" in path or "week.css" in path for path in shown)
