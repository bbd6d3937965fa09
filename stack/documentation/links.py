"""Links in a built site: to other pages, places in them, and files. None may be dead or load from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, by tag and attribute; other links are only followed.
FETCHED: Final = {("img", "src"), ("script", "src"), ("source", "srcset"), ("link", "href"), ("iframe", "src")}
FOLLOWED: Final = {("a", "href")}
ELSEWHERE: Final = "{page} fetches {address} from elsewhere"
MISSING: Final = "{page} names {address}, which is not there"


class BuiltPage(HTMLParser):
    """The links of one page, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.named: list[tuple[str, bool]] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect links and ids."""
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif value and (tag, name) in FETCHED | FOLLOWED:
                self.named.append((value, (tag, name) in FETCHED))


@cache
def read(path: Path) -> BuiltPage:
    """Read one page."""
    page = BuiltPage()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def dead(site: Path) -> Iterator[str]:
    """Yield a sentence for each dead link, and for each file that would be loaded from elsewhere."""
    for path in sorted(site.rglob("*.html")):
        for address, fetched in read(path).named:
            if says := _wrong(address, path=path, fetched=fetched):
                yield says.format(page=path.relative_to(site), address=address)


def _wrong(address: str, *, path: Path, fetched: bool) -> str:
    parts = urlsplit(address)
    if parts.scheme == "data":
        return ""
    if parts.scheme or parts.netloc:
        return ELSEWHERE if fetched else ""
    there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not there.is_file():
        return MISSING
    place = unquote(parts.fragment)
    return MISSING if place and there.suffix == ".html" and place not in read(there).places else ""
