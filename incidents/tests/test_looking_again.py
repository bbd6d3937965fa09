"""A page that refreshes itself reports once if no one answers, and is notified of what others do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from django.conf import settings

WRITTEN: Final = re.compile(r"\{[{%#].*?[}%#]\}", re.DOTALL)  # template tags, variables and comments
TAG: Final = re.compile(r"<[a-z]+\s[^<>]*hx-trigger=[^<>]*>")
ON_THE_INCIDENTS_PAGE: Final = {"earlier.html", "sifted.html"}  # which is notified by its stream


def asking() -> list[tuple[str, str]]:
    """Return each template element that makes requests by itself, with the template's name."""
    folder = Path(settings.BASE_DIR) / "templates"
    return [(path.name, tag) for path in sorted(folder.rglob("*.html")) for tag in TAG.findall(_html(path))]


def _html(path: Path) -> str:
    return WRITTEN.sub("", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "tag"), asking())
def test_what_is_asked_for_regularly_is_a_poll_and_what_listens_is_asked_for_regularly(name: str, tag: str) -> None:
    is_regular = "every " in tag
    assert not is_regular or "data-poll" in tag, "else each time that nobody answers is told as something a person did"
    assert is_regular or "firekind:changed" not in tag or name in ON_THE_INCIDENTS_PAGE, "no stream tells this page"
