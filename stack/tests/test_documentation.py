"""The documentation site: dead and external links are found, and README names every page."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from config.env import ROOT
from stack.checks import documents
from stack.documentation import building, links

HERE = '<h1 id="top">Page</h1><a href="other.html#place">x</a>'
ENTRY = re.compile(r"\s*([-*+]|\d+[.)])\s")
LEADS = {
    "a page": ('<a href="other.html">', ""),
    "a place in it": ('<a href="other.html#place">', ""),
    "a place here": ('<a href="#top">', ""),
    "a file beside": ('<img src="one%20picture.png">', ""),
    "elsewhere, to follow": ('<a href="https://example.com/x">', ""),
    "within": ('<img src="data:image/png;base64,AAAA">', ""),
    "no page": ('<a href="gone.html">', "gone.html, which is not there"),
    "no place": ('<a href="other.html#gone">', "other.html#gone, which is not there"),
    "no place here": ('<a href="#gone">', "#gone, which is not there"),
    "no picture": ('<source srcset="gone.webp">', "gone.webp, which is not there"),
    "a font from elsewhere": ('<link href="https://example.com/font.css">', "from elsewhere"),
    "a script from elsewhere": ('<script src="//example.com/x.js"></script>', "from elsewhere"),
}


@pytest.mark.parametrize(("markup", "said"), LEADS.values(), ids=LEADS)
def test_what_leads_nowhere_or_elsewhere_is_said(markup: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "one picture.png").touch()
    (tmp_path / "other.html").write_text('<p id="place">')
    (tmp_path / "page.html").write_text(HERE + markup)
    found = list(links.dead(tmp_path))
    assert len(found) == bool(said)
    assert all(said in one and one.startswith("page.html") for one in found)


def test_every_page_is_named_once_in_readme() -> None:
    named = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Documentation")[2]
    for page in (*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")):
        if page.name != "README.md":
            assert named.count(f"| [{page.relative_to(ROOT)}](") == 1, f"README does not list {page.name}"


def test_no_table_is_part_of_the_list_above_it() -> None:
    """Directly below a list item it would belong to that, and its bars would be shown literally."""
    inside = [
        f"{page.relative_to(ROOT)}:{at}"
        for page in (*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"))
        for at, (above, line) in enumerate(pairwise(page.read_text(encoding="utf-8").splitlines()), 2)
        if line.startswith("|") and ENTRY.match(above)
    ]
    assert not inside, f"Leave a line empty above these tables: {', '.join(inside)}"


def test_a_check_without_its_tools_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "installed", lambda: False)
    assert "make docs" in documents.built({}).skipped
