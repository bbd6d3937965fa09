"""Sentences are plain English, on the screen and in the source: some words only a translation would use."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from config.env import ROOT
from stack.tests import syntax

APPS = ("audit", "config", "evidence", "incidents", "insights", "integrations", "reviews", "stack", "workflows")
UNSEEN = {"tests", "migrations"}
SQL = re.compile(r"\b(INSERT INTO|SELECT|UPDATE|CREATE)\b")  # names of columns stay as they are
STILTED = re.compile(r"\b(whoever|whom|anew|rung|rings)\b", re.IGNORECASE)
STILTED_IN_SOURCE = re.compile(r"\b(whoever|whom|anew)\b(?!`)", re.IGNORECASE)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NAMES = re.compile(r"\[\^[^\]]*\](: .*)?|\]\([^)]*\)")  # of footnotes and of files
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/*.md")


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
    """Yield each string of a module with more than one word, unless it is a docstring or SQL, with its line."""
    tree = syntax.tree(path)
    unread = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unread:
            is_words = " " in node.value.strip() and not SQL.search(node.value)
            yield from [(node.lineno, node.value)] if is_words else []


def test_nothing_that_colleagues_read_sounds_translated() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.strip()!r}"
        for path, said in explained()
        for line, text in said
        if STILTED_IN_SOURCE.search(text)
    ]
    assert not found, "Say it as a native speaker would (a name, “who”, “again”):\n" + "\n".join(found)


def explained() -> Iterator[tuple[Path, Iterator[tuple[int, str]]]]:
    """Yield each module and page of the documentation with its lines of prose."""
    for app in (*APPS, "tests"):
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path, prose(path)
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            yield path, enumerate(NAMES.sub("", path.read_text()).splitlines(), 1)


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments and docstrings of a module, each with its first line."""
    source = path.read_text()
    for node in ast.walk(syntax.tree(path)):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
