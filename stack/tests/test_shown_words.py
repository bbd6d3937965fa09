"""Words that people read are plain English: some words occur only in translations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from config.env import ROOT

APPS = ("audit", "config", "evidence", "incidents", "insights", "integrations", "reviews", "stack", "workflows")
UNSEEN = {"tests", "migrations"}
SQL = re.compile(r"\b(INSERT INTO|SELECT|UPDATE|CREATE)\b")  # names of columns stay as they are
STILTED = re.compile(r"\b(whoever|whom|anew|rung|rings)\b", re.IGNORECASE)


def test_nothing_that_people_read_sounds_translated() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {match[0]!r} in {text!r}"
        for app in APPS
        for path in sorted((ROOT / app).rglob("*.py"))
        if not UNSEEN & set(path.relative_to(ROOT).parts)
        for line, text in shown(path)
        if (match := STILTED.search(text))
    ]
    assert not found, "Say it as a native speaker would (a name, “who”, “again”, “paged”):\n" + "\n".join(found)


def shown(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each string in a module with more than one word that is not a docstring or SQL, with its line."""
    tree = ast.parse(path.read_text())
    unread = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unread:
            is_words = " " in node.value.strip() and not SQL.search(node.value)
            yield from [(node.lineno, node.value)] if is_words else []
