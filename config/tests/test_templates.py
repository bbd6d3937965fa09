"""How templates are written: lines that fit a screen, in words that a native speaker would use."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from config.env import ROOT

WIDTH = 120
TEMPLATES = ROOT / "templates"
SANDBOX = ROOT / "integrations" / "sandbox" / "page" / "templates"
READ_ALOUD = {"alt", "aria-label", "aria-roledescription", "content", "label", "placeholder", "title"}
TRANSLATED = {
    "anew": "again",
    "leave it": "Cancel",
    "not begun": "not started",
    "rang": "paged",
    "rings": "pages",
    "rung": "paged",
    "whoever": "the person who …, or a name",
    "whom": "who",
}
OURS = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}")
SAID_IN_A_TAG = re.compile(r'"([^"]*)"')
WORDS = re.compile(rf"\b({'|'.join(TRANSLATED)})\b", re.IGNORECASE)


def templates(*folders: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(path for folder in folders for path in folder.rglob("*.html")):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


class Read(HTMLParser):
    """Collect what people read on a page: its text, and the attributes that are shown or spoken."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [value for name, value in attrs if name in READ_ALOUD and value]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(source: str) -> list[str]:
    page = Read()
    page.feed(OURS.sub(" ", source))
    page.close()
    return page.texts + [said for tag in OURS.findall(source) for said in SAID_IN_A_TAG.findall(tag)]


def test_lines_of_templates_fit_a_screen() -> None:
    long = [
        f"{name}:{at} has {len(line)} characters"
        for name, source in templates(TEMPLATES)
        for at, line in enumerate(source.splitlines(), 1)
        if len(line) > WIDTH
    ]
    assert not long, f"Break these lines, {WIDTH} characters at most:\n" + "\n".join(long)


def test_templates_use_the_words_that_people_use() -> None:
    found = [
        f"{name}: “{word}” in “{' '.join(text.split())[:80]}”; write “{TRANSLATED[word.lower()]}”"
        for name, source in templates(TEMPLATES, SANDBOX)
        for text in read(source)
        for word in WORDS.findall(text)
    ]
    assert not found, "These read as if they were translated:\n" + "\n".join(found)


def test_every_word_is_found_where_people_read_it_and_nowhere_else() -> None:
    for word in TRANSLATED:
        said = f'<p>{word}</p><a aria-label="{word}" href="#">x</a>{{% with said="{word}" %}}{{% endwith %}}'
        assert sum(bool(WORDS.search(text)) for text in read(said)) == 3
    assert not any(WORDS.search(text) for text in read('<p id="rung" class="rings">{{ line.rings }}</p>'))


def test_there_are_templates_to_look_at() -> None:
    assert Path(TEMPLATES, "base.html").is_file()
    assert Path(SANDBOX, "choose.html").is_file()
