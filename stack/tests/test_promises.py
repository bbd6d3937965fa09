"""Every promise in the documents about privacy, security and on-call names an existing test that checks it.

A promise is marked with a footnote, ``[^name]``, whose definition lists ``path/to/test_file.py::test_name``; a bare
``::name`` is in the file named before it. The files are parsed, not imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from config.env import ROOT
from stack.tests import syntax

# Beginnings of passages that promise nothing: how-to, what we do not promise, and mere introductions.
PROMISES_NOTHING = {
    "SECURITY.md": (
        "- people who have read it have read it",
        "- a file that was downloaded",
        "- Slack and PagerDuty keep",
        "- Firekind doesn't encrypt",
        "Only the newest version",
        "Use the repository's private",
    ),
    "docs/private.md": (
        "> If this incident exists",
        "An address, a command or a button without a row",
    ),
    "docs/threats.md": (
        "Who attacks, what they would get",
        "What is worth having",
        "- **Anyone who is root on the machine**",
        "- **Slack and PagerDuty** hold",
        "- **Someone inside who photographs",
        "- **A flood that fills the network**",
    ),
    "docs/oncall.md": (
        "Firekind pages by type, knows",
        "All of it is answered from what was last read",
        "`PAGERDUTY_API_KEY` is a REST API key",
    ),
}
MARK = re.compile(r"\[\^([\w-]+)\](?!:)")
DEFINED = re.compile(r"^\[\^([\w-]+)\]: (.+)$", re.MULTILINE)
NAMED = re.compile(r"`([^`]+)`")
ITEM = re.compile(r"^\s*(?:[-*] |\d+\. |\|)")

documents = pytest.mark.parametrize("name", PROMISES_NOTHING)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def footnotes(name: str) -> dict[str, str]:
    return dict(DEFINED.findall(text(name)))


def held_by(listed: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each file that a footnote names, with the class and function in it if it names them."""
    path = ""
    for one in NAMED.findall(listed):
        here, *names = one.split("::")
        path = here or path
        yield path, tuple(names)


@cache
def names_in(path: str) -> frozenset[tuple[str, ...]]:
    """Return what a test file defines: functions, classes, and the functions of each class."""
    tree = syntax.tree(ROOT / path)
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    top = [one for one in tree.body if isinstance(one, named)]
    within = {(one.name, sub.name) for one in top for sub in one.body if isinstance(sub, named)}
    return frozenset({(one.name,) for one in top} | within)


def blocks(name: str) -> Iterator[str]:
    """Yield paragraphs, list items and table rows; a mark in a table's head applies to all of its rows."""
    body = re.sub(r"^```.*?^```$", "", DEFINED.sub("", text(name)), flags=re.MULTILINE | re.DOTALL)
    for part in re.split(r"\n\s*\n", body):
        lines = [line for line in part.strip().splitlines() if not line.startswith("#")]
        if lines and lines[0].startswith("|"):
            yield from () if MARK.search(lines[0]) else lines[2:]
        elif any(ITEM.match(line) for line in lines):
            yield from lines
        elif lines:
            yield " ".join(lines)


@documents
def test_what_promises_something_names_what_holds_it(name: str) -> None:
    bare = [one for one in blocks(name) if not MARK.search(one)]
    assert [one for one in bare if not one.startswith(PROMISES_NOTHING[name])] == []
    assert [one for one in PROMISES_NOTHING[name] if not any(line.startswith(one) for line in bare)] == []


@documents
def test_marks_and_footnotes_are_the_same(name: str) -> None:
    listed = [mark for mark, _ in DEFINED.findall(text(name))]
    assert len(listed) == len(set(listed))
    assert set(MARK.findall(text(name))) == set(listed)


@documents
def test_every_test_that_is_named_exists(name: str) -> None:
    for mark, listed in footnotes(name).items():
        found = list(held_by(listed))
        assert found, f"{mark} names no test"
        for path, names in found:
            assert re.fullmatch(r"(?:.*/)?test_\w+\.py", path), f"{mark}: {path} is no test file"
            assert (ROOT / path).is_file(), f"{mark}: there is no {path}"
            assert not names or names in names_in(path), f"{mark}: there is no {'::'.join((path, *names))}"
            assert not names or names[-1].startswith(("test_", "Test")), f"{mark}: {names[-1]} is no test"


def test_a_name_alone_is_in_the_file_before_it() -> None:
    assert list(held_by("`a/test_b.py::test_c`, `::test_d`, `test_e.py`")) == [
        ("a/test_b.py", ("test_c",)),
        ("a/test_b.py", ("test_d",)),
        ("test_e.py", ()),
    ]
