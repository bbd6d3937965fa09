"""Stories are validated before anything starts, and are consistent."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.env import ROOT
from stack.errors import StackError
from stack.story import asked, profiles, written
from stack.story.steps import TAKEN


def test_five_stories_are_written_and_have_files() -> None:
    assert written.names() == sorted(profiles.STORIES)


@pytest.mark.parametrize("name", written.names())
def test_steps_name_only_what_came_before(name: str) -> None:
    known: set[str] = set()
    claims: set[str] = set()
    for step in written.read(name).steps:
        given = step.given
        used = {given.get("in"), given.get("control") if step.kind == "compare" else None, *given.get("with", ())}
        assert {*used, *given.get("for", ()), *given.get("against", ())} - {None} <= known, step
        assert given.get("claim", "") in {"", *claims}
        if step.kind in {"evidence", "link"}:
            known.add(given["as"])
        if step.kind == "claim":
            claims.add(given["as"])


def test_every_kind_of_step_can_be_taken() -> None:
    assert written.KEYS.keys() == TAKEN.keys()


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("sing: {by: ada}", "x, chapter 1, step 1: nobody knows how to 'sing'"),
        ("type: {by: ada}", "x, chapter 1, step 1: type is missing or does not take text"),
        ("write: {by: ada, text: hi, loud: yes}", "x, chapter 1, step 1: write is missing or does not take loud"),
    ],
)
def test_a_step_that_nobody_understands_is_named(step: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x/story.yaml").write_text(f"title: A\nsays: ''\nchapters:\n  - title: B\n    steps:\n      - {step}\n")
    with pytest.raises(StackError, match=says):
        written.read("x", folder=tmp_path)


def test_a_story_that_nobody_wrote_is_refused_with_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORY", "whodunnit")
    with pytest.raises(StackError, match=r"no story 'whodunnit': STORY is one of gossip, .*, all, again"):
        asked()


@pytest.mark.parametrize(("said", "played"), [("", []), ("again", []), ("pause", ["pause"]), ("all", written.names())])
def test_story_says_what_is_played(said: str, played: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORY", said)
    assert asked() == played


def test_the_readme_names_every_story() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in readme or f"STORY={name}`" in readme for name in written.names())
