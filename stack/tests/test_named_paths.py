"""A file that a document names exists, except in a decision that another has replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.env import ROOT

PATH = re.compile(r"`([a-z_]+(?:/[\w.-]+)+)/?`")
REPLACED = re.compile(r"^\*Replaced", re.MULTILINE)
NOT_OURS = {".data", ".pytest_cache", ".venv", "staticfiles"}
MADE = {"dist", "staticfiles"}  # made by a command, so its content may not exist yet


def test_every_path_that_a_document_names_exists() -> None:
    documents = [one for one in ROOT.rglob("*.md") if not NOT_OURS & set(one.relative_to(ROOT).parts)]
    assert len(documents) > 50
    assert not [f"{one.relative_to(ROOT)}: {path}" for one in documents for path in missing(one.read_text("utf-8"))]


def missing(text: str) -> Iterator[str]:
    """Yield the paths below our folders that a document names and that do not exist."""
    for path in () if REPLACED.search(text) else PATH.findall(text):
        top = path.partition("/")[0]
        if top not in MADE and (ROOT / top).is_dir() and not (ROOT / path).exists():
            yield path
