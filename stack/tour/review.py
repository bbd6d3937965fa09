"""The story's review: each of its sentences is about entries on the timeline, in their words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from stack.outside import Records, Visitor
from stack.tour.checks import Checks

SENTENCE: Final = re.compile(r"^- (?P<text>.*) \((?P<sources>\[\d+\]\(.*)\)$")
SOURCE: Final = re.compile(r"\[(\d+)\]\([^)]*#e\1\)")
ALWAYS: Final = ("Summary", "What happened", "Evidence", "Who was pulled in")
WORDED: Final = ("says", "claim")  # what an entry is worded by, in addition to its text
SECTIONS: Final = (*ALWAYS, "Decisions", "Pages")


def on_the_timeline(
    checks: Checks, records: Records, codename: str, *, reader: Visitor, sections: Collection[str] = SECTIONS
) -> str:
    """Check every sentence of the exported review against the rows, and return the review."""
    text = reader.get(f"/incidents/{codename}/review.md").source
    missing = [one for one in sections if f"\n## {one}\n" not in text]
    checks.so("the review has its sections", not missing, instead=f"without {missing}")
    entries = {one["n"]: one for one in records.events(codename)}
    lines = list(_sentences(text))
    words = {n: (one["text"], *(str(one["data"].get(key, "")) for key in WORDED)) for n, one in entries.items()}
    wrong = [line for label, line in lines if not _is_said(line, words, label)]
    checks.so(f"all {len(lines)} sentences of the review are on the timeline", lines and not wrong, instead=wrong)
    return text


def holds(checks: Checks, what: str, review: str, said: Collection[str]) -> None:
    """Check that a review repeats each of these texts."""
    bare = _bare(review)
    missing = [one for one in said if _bare(one) not in bare]
    checks.so(f"it {what}: {len(said)}", not missing, instead=missing)


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Yield each sentence after the label of its passage, which may hold a hypothesis or a measurement's title."""
    label = ""
    for line in text.splitlines():
        label = line if line.startswith("#") else label
        if line.startswith("- "):
            yield label, line


def _is_said(line: str, entries: Mapping[int, tuple[str, ...]], label: str) -> bool:
    """Return whether a sentence names existing entries, and it or its label has the words of a single one."""
    found = SENTENCE.match(line)
    numbers = [int(n) for n in SOURCE.findall(found["sources"])] if found else []
    if found is None or not numbers or not entries.keys() >= set(numbers):
        return False
    words = [_bare(one) for one in entries[numbers[0]] if one]
    return len(numbers) > 1 or not words or any(one in _bare(f"{label} {found['text']}") for one in words)


def _bare(text: str) -> str:
    """Return a text without Markdown, and in lower case because a sentence may begin with it."""
    return " ".join(re.sub(r"[\\*`]", "", text).split()).casefold()
