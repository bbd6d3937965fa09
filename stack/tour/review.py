"""The review of the story: each of its sentences is said of entries that are on the timeline, in their words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from stack.outside import Records, Visitor
from stack.tour.checks import Checks

SENTENCE: Final = re.compile(r"^- (?P<text>.*) \((?P<sources>\[\d+\]\(.*)\)$")
SOURCE: Final = re.compile(r"\[(\d+)\]\([^)]*#e\1\)")
SECTIONS: Final = ("Summary", "What happened", "Decisions", "Evidence", "Who was pulled in", "Pages")


def on_the_timeline(checks: Checks, records: Records, codename: str, *, reader: Visitor) -> None:
    """Check every sentence of the exported review against the rows."""
    text = reader.get(f"/incidents/{codename}/review.md").source
    missing = [one for one in SECTIONS if f"\n## {one}\n" not in text]
    checks.so("the review has its sections", not missing, instead=f"without {missing}")
    entries = {one["n"]: one for one in records.events(codename)}
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    words = {n: (one["text"], str(one["data"].get("says", ""))) for n, one in entries.items()}
    wrong = [line for line in lines if not _is_said(line, words)]
    checks.so(f"all {len(lines)} sentences of the review are on the timeline", lines and not wrong, instead=wrong)


def _is_said(line: str, entries: Mapping[int, tuple[str, str]]) -> bool:
    """Return whether a sentence names entries that there are, and holds the words of the only one it names."""
    found = SENTENCE.match(line)
    numbers = [int(n) for n in SOURCE.findall(found["sources"])] if found else []
    if found is None or not numbers or not entries.keys() >= set(numbers):
        return False
    words = [_bare(one) for one in entries[numbers[0]] if one]
    return len(numbers) > 1 or not words or any(one in _bare(found["text"]) for one in words)


def _bare(text: str) -> str:
    """Return a text without what Markdown adds, and in lower case as a sentence may begin with it."""
    return " ".join(re.sub(r"[\\*`]", "", text).split()).casefold()
